"""The gates of reflection: checks that reject a cluster of memories, each with a reason.

`write.reflect` applies them, in a fixed order, to every cluster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.record import Record
from memoriter.rank.cluster import cohesion
from memoriter.text.entities import entity_key, names_in
from memoriter.text.keywords import Phrase

DREAMING: Final = "dreaming:"
"""The prefix of the source channel of a reflection."""
_PERSONA_SHARE: Final = 0.75
_MIN_COSINE: Final = 0.40
_ORIGINAL_SHARE: Final = 0.95
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
    """Members of a cluster, by id, and the phrases that distinguish them from the rest."""

    members: tuple[Record, ...]
    vectors: NDArray[np.float32]
    """Their unit vectors, row by row."""
    phrases: tuple[Phrase, ...]


def refusal(group: Group) -> str | None:
    """The reason to reject a cluster; None if it passes every gate."""
    return next((reason for gate, reason in _GATES.items() if gate(group)), None)


def entities_of(record: Record) -> tuple[str, ...]:
    """The entities of a memory: the caller's, else those that the rules extract."""
    return record.entities or names_in(record.text)


def _duplicates(group: Group) -> bool:
    return len({member.text for member in group.members}) < len(group.members)


def _personas(group: Group) -> bool:
    return _share(group.members, _is_persona) >= _PERSONA_SHARE


def _is_persona(member: Record) -> bool:
    text = member.text.lower()
    return any(phrase in text for phrase in _PERSONA) and not any(mark in text for mark in _SPOKEN)


def _contradiction(group: Group) -> bool:
    words = {
        word
        for member in group.members
        for word in _WORD.findall(member.text.lower().replace("’", "'"))
    }
    return any(words & left and words & right for left, right in _OPPOSED)


def _loose(group: Group) -> bool:
    return cohesion(group.vectors) < _MIN_COSINE


def _from_reflections(group: Group) -> bool:
    return _share(group.members, _is_original) < _ORIGINAL_SHARE


def _is_original(member: Record) -> bool:
    return not (member.source.channel or "").startswith(DREAMING)


def _unrelated(group: Group) -> bool:
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
    _duplicates: "two members say the same",
    _personas: "most members only describe a person",
    _contradiction: "members contradict one another",
    _loose: f"the mean cosine lies below {_MIN_COSINE:g}",
    _from_reflections: "members were made by reflection",
    _unrelated: "too few members share an entity with the first",
    _generic: "every key phrase is generic",
}
"""In the order in which they are applied: the first that rejects gives the reason."""
