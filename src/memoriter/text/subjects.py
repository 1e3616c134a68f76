"""Whether two clauses say themselves that they are about different persons, things or tasks.

"Ann's appointment" and "Bob's appointment", "Ann eats nuts" and "Bob eats no nuts", "To build the
docs" and "To clean the docs". The rule reads English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from memoriter.core.fold import fold
from memoriter.text.stops import ENGLISH_STOPS, word_table
from memoriter.text.time_words import MONTHS, WEEKDAYS

_OWNER: Final = re.compile(r"\b([A-Z][\w-]*\w)['’]s\b")
_TASK: Final = re.compile(r"To ([a-z]+)\s")
_SUBJECT: Final = re.compile(r"([A-Z][a-z]+)\s([a-z]+)")
"""A first word without an article, and the word behind it."""
_NO_OWNER: Final = (
    ENGLISH_STOPS | WEEKDAYS.keys() | MONTHS.keys() | word_table("today tomorrow there here let")
)
_VERBS: Final = word_table("is was does did has had will can never")
_SIZES: Final = word_table("inch inches mm cm")
_ORDINALS: Final = word_table("first second third fourth fifth sixth")
"""Words that say which one of a row is meant."""
_BEHIND_NAME: Final = re.compile(r"is|was|are|were|has|had|\w{2,}ed")
"""A verb behind a noun and its number: "Episode 4 was about trees"."""
_ALIKE: Final = 4
"""Words that begin with so many of the same letters are one: member, membership."""


def are_apart(one: str, two: str) -> bool:
    """Whether two clauses name other owners, other tasks, or begin with other subjects.

    >>> are_apart("Ann's rent is 400 euros", "Bob's rent is 500 euros")
    True
    >>> are_apart("Rent is 400 euros", "Ann's rent is 500 euros")
    False
    """
    return any(_differ(each(one), each(two), one, two) for each in (_owners, _tasks, _subjects))


def _differ(here: set[str], there: set[str], one: str, two: str) -> bool:
    """Whether both have some, and the text of the other has no word like any of them."""
    pairs = ((here, two), (there, one))
    return all(words and not any(_is_in(word, text) for word in words) for words, text in pairs)


def _is_in(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word[:_ALIKE] if len(word) > _ALIKE else word)}",
                     fold(text)) is not None  # fmt: skip


def _owners(text: str) -> set[str]:
    return {fold(name) for name in _OWNER.findall(text)} - _NO_OWNER


def _tasks(text: str) -> set[str]:
    task = _TASK.match(text)
    return {task[1]} if task else set()


def _subjects(text: str) -> set[str]:
    first = _SUBJECT.match(text)
    if first is None or fold(first[1]) in ENGLISH_STOPS:
        return set()
    verb = first[2] in _VERBS or re.search(r"[^s]s$", first[2]) is not None
    return {fold(first[1])} if verb else set()


def sizes_of(words: Sequence[str]) -> Iterator[str]:
    """The numbers and ordinals that say which one is meant: 20 inches, the first, episode 4."""
    yield from (word for word, unit in pairwise(words) if fold(unit) in _SIZES)
    yield from (fold(word) for word in words if fold(word) in _ORDINALS)
    noun, number, verb = [*words, "", "", ""][:3]
    if noun.isalpha() and number[:1].isdigit() and _BEHIND_NAME.fullmatch(fold(verb)):
        yield number
