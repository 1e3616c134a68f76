"""May these memories become one reflection? Each gate gives the reason why not, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.record import Record
from memoriter.rank.cluster import cohesion
from memoriter.text.entities import entity_key, names_in
from memoriter.text.keywords import Phrase

DREAMING: Final = "dreaming:"
"""How the channel begins that a reflection says it came by."""
_PERSONA_SHARE: Final = 0.75
_MIN_COSINE: Final = 0.40
_FOREIGN_SHARE: Final = 0.95
_ENTITY_SHARE: Final = 0.60
_PERSONA: Final = (
    "born in 19", "born in 20", "is a ", "is an ", "is the ", "embracing their",
)  # fmt: skip
_SPOKEN: Final = ("[user]", "[assistant]", "[system]")
_WORD: Final = re.compile(r"[\w']+")
_OPPOSED: Final = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, right in (
        (
            "stopped quit abandoned dropped ended",
            "started began made created produced presented",
        ),
        (
            "hate dislike disliked regret regretted annoying",
            "love loved enjoy enjoyed favorite favourite amazing",
        ),
        ("can't couldn't unable incapable failed", "can could able succeeded managed"),
    )
)
_GENERIC_WORDS: Final = """
    these those this that specific various certain some many few several their its other new old
    recent past future
"""
_GENERIC: Final = frozenset(_GENERIC_WORDS.split())


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that are near one another, oldest first, and what tells them from the others."""

    members: tuple[Record, ...]
    vectors: NDArray[np.float32]
    """Their unit vectors, row by row."""
    phrases: tuple[Phrase, ...]


def refusal(group: Group) -> str | None:
    """Why this group must not become a reflection; None when it may."""
    return next((reason for gate, reason in _GATES.items() if gate(group)), None)


def entities_of(record: Record) -> tuple[str, ...]:
    """Whom and what a memory names: as the caller said, else found by rules."""
    return record.entities or names_in(record.text)


def _twins(group: Group) -> bool:
    return len({member.text for member in group.members}) < len(group.members)


def _personas(group: Group) -> bool:
    return _share(group.members, _is_persona) >= _PERSONA_SHARE


def _is_persona(member: Record) -> bool:
    text = member.text.lower()
    return any(phrase in text for phrase in _PERSONA) and not any(mark in text for mark in _SPOKEN)


def _contradiction(group: Group) -> bool:
    said = {
        word
        for member in group.members
        for word in _WORD.findall(member.text.lower().replace("’", "'"))
    }
    return any(said & left and said & right for left, right in _OPPOSED)


def _loose(group: Group) -> bool:
    return cohesion(group.vectors) < _MIN_COSINE


def _own_words(group: Group) -> bool:
    return _share(group.members, _is_foreign) < _FOREIGN_SHARE


def _is_foreign(member: Record) -> bool:
    return not (member.source.channel or "").startswith(DREAMING)


def _strangers(group: Group) -> bool:
    first, *_ = named = [
        {entity_key(name) for name in entities_of(member)} for member in group.members
    ]
    return bool(first) and sum(bool(first & each) for each in named) / len(named) < _ENTITY_SHARE


def _generic(group: Group) -> bool:
    leads = [phrase.split()[0] for phrase, _ in group.phrases]
    return bool(leads) and all(lead in _GENERIC for lead in leads)


def _share(members: Sequence[Record], test: Callable[[Record], bool]) -> float:
    return sum(map(test, members)) / len(members)


_GATES: Final[dict[Callable[[Group], bool], str]] = {
    _twins: "two members say the same",
    _personas: "most members only describe a person",
    _contradiction: "members contradict one another",
    _loose: f"the mean cosine lies below {_MIN_COSINE:g}",
    _own_words: "members were made by reflection",
    _strangers: "too few members share an entity with the first",
    _generic: "every key phrase is generic",
}
"""In the order they are asked."""
