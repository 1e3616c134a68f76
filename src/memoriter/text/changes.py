"""Whether a new text may replace an older one that it does not repeat word by word.

"Recycling goes out on Wednesday" and "Here the recycling is collected on Monday" are about one
thing and name another day. Texts are compared clause by clause: two clauses are about one thing if
both begin with the same word that matters, or if most of what the shorter one says is in the other.
Then either a value of the same kind differs (a day, a time, a date, a price, a number of the same
things), or the new text announces a change ("now", "no longer", "from July"). Words such as "moved"
and "cancelled" name themselves what changes: "cancelled the gym" is about the gym. A shared name is
not enough: people do more than one thing. The rule reads English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from typing import Final, NamedTuple

from memoriter.core.fold import fold
from memoriter.core.lazy_dataclass import dataclass
from memoriter.text.background import background_idf
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.stops import ENGLISH_STOPS, without_contractions, word_table
from memoriter.text.time_words import MONTHS, WEEKDAYS

_READ: Final = 1_000
"""So many characters of a text are read: a longer one says more than one thing."""
_CLAUSE: Final = re.compile(r"[.;!?:]\s+|,\s+|\s[-–—]\s|\n+")
_CLAUSES: Final = 8
_HEAD: Final = 2
"""So many words that matter begin a clause: what it is about."""
_COMMON: Final = 3.0
"""A word of a lower idf says nothing about the subject."""
_TOPIC: Final = 3.0
"""The words that two memories are about have at least so much idf above the common."""
_BEHIND: Final = "number behind "
_RARE: Final = 9.0
"""A capitalised word that begins a clause is taken for a name from this idf on."""
_MOST: Final = 0.5
_SOME: Final = 0.2
_ANALYZER: Final = DefaultAnalyzer()
_WORD: Final = re.compile(r"[£$€]?\d(?:[\d.,:]*\d)?%?|\w[\w'’.-]*\w|\w")
_COUNTS: Final = word_table(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty hundred dozen first second third
    fourth last other every next once twice
    """
)
_NUMBER: Final = re.compile(r"[£$€]?\d(?:[\d.,:]*\d)?%?")
_KINDS: Final = (
    ("percentage", re.compile(r".*%")),
    ("time", re.compile(r"\d?\d:\d\d")),
    ("year", re.compile(r"(?:19|20)\d\d")),
)
_MONEY: Final = word_table("euro eur dollar usd pound gbp")
_CUE: Final = re.compile(
    r"\b(?:new|now|moved|moves|switched|changed|raised|lowered|upgraded|downgraded|replaced"
    r"|replaces|renamed|renewed|renews|cancelled|canceled|stopped|dropped|instead|no longer|no more"
    r"|any ?more|any longer|takes over|took over|dead|gone|as of|at last|extended|delayed|postponed"
    rf"|from (?:now|next|\d|{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)
_OBJECT: Final = word_table(
    """
    moved moves switched changed raised lowered upgraded downgraded replaced replaces renamed
    renewed cancelled canceled stopped dropped instead
    """
)
"""What follows one of these is what changes."""
_LINKS: Final = word_table("the our my his her their of using")
_EARLY: Final = 3
"""It is among the first words of its clause."""
_ENDED: Final = word_table("dead gone closed over")
_RATES: Final = word_table("per month monthly week weekly day daily hour minute second year yearly")
_CHANGE: Final = word_table(
    """
    new now move switch chang rais lower upgrad downgrad replac renam renew cancel stop drop instead
    longer more anymor dead gone extend delay postpon still again alreadi current today
    """
)
"""Stems that announce a change and are no subject."""


class StatedChange(NamedTuple):
    """What a new text and an older one are both about, and what of it differs."""

    shared: tuple[str, ...]
    """The words that matter and that both have."""
    here: str
    """The value in the new text, or the words that announce the change."""
    there: str
    """The value in the older one; empty if none was found."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a clause says, apart."""

    topics: dict[str, str]
    """Stem → word, of the words that matter, in their order."""
    capitals: frozenset[str]
    """Those stems whose word has a capital, like a name."""
    names: frozenset[str]
    """Those of them that are one: they do not only begin a clause."""
    values: dict[str, str]
    """Kind of a value → the values, as they are written."""
    cue: str
    """The words that announce a change; empty if there are none."""
    objects: frozenset[str]
    """The stems of what changes by a word such as `moved`."""

    @property
    def head(self) -> set[str]:
        return set(list(self.topics)[:_HEAD])


def change_of(new: str, old: str) -> StatedChange | None:
    """What a new text may change of an older one; None if nothing.

    >>> change_of("Here recycling is collected Mondays", "Recycling goes out Wednesday nights")
    StatedChange(shared=('recycling',), here='Mondays', there='Wednesday')
    >>> change_of("Ann drinks tea now", "Ann lives in Hull")
    """
    olds = _clauses(old)
    known = {each for clause in olds for values in clause.values.values() for each in _each(values)}
    changes = (_change(one, two, known) for one, two in product(_clauses(new), olds))
    return next((each for each in changes if each is not None), None)


def _change(one: _Clause, two: _Clause, known: set[str]) -> StatedChange | None:
    both = {stem for stem in one.topics if stem in two.topics}
    if not both or _other_subject(one, two):
        return None
    words = tuple(word for stem, word in one.topics.items() if stem in both)
    things = both - _names(one, two, both)
    least = min(_weight(one.topics), _weight(two.topics))
    part = _weight(both) / least if least > 0.0 else 0.0
    head = bool(one.head & two.head)
    near = part >= _MOST or (head and part >= _SOME)
    matter = _weight(things) >= _TOPIC
    kinds = (kind for kind in one.values if kind in two.values)
    kind = next((each for each in kinds if known.isdisjoint(_each(one.values[each]))), None)
    if kind is not None and near and (matter or kind.startswith(_BEHIND)):
        return StatedChange(words, one.values[kind], two.values[kind])
    moved = _weight(one.objects & both) >= _TOPIC
    if moved or (one.cue and matter and head and part >= _MOST):
        return StatedChange(words, one.cue, "")
    return None


def _names(one: _Clause, two: _Clause, both: set[str]) -> set[str]:
    """Shared stems that both write as a name."""
    sure = one.names | two.names
    return {
        stem
        for stem in both & one.capitals & two.capitals
        if stem in sure or background_idf(stem) >= _RARE
    }


def _each(values: str) -> set[str]:
    """The values of a kind, days without their plural."""
    return {fold(value).removesuffix("s") for value in values.split(", ")}


def _weight(stems: Iterable[str]) -> float:
    return sum(background_idf(stem) - _COMMON for stem in stems)


def _other_subject(one: _Clause, two: _Clause) -> bool:
    """Whether both begin with a name, and not with the same one."""
    rare = {stem for stem in one.head | two.head if background_idf(stem) >= _RARE}
    left = one.head & (one.names | (one.capitals & rare))
    right = two.head & (two.names | (two.capitals & rare))
    return bool(left and right and not left & right)


def _clauses(text: str) -> list[_Clause]:
    parts = [part for part in _CLAUSE.split(text[:_READ]) if part.strip()][:_CLAUSES]
    return [_clause(part) for part in parts]


def _clause(text: str) -> _Clause:
    cue = _CUE.search(text)
    words = _WORD.findall(without_contractions(text))
    values: dict[str, str] = {}
    topics: dict[str, str] = {}
    capitals, names, objects = set[str](), set[str](), set[str]()
    unit = -1
    for at, word in enumerate(words):
        kind = _kind(words, at)
        if kind is not None:
            values[kind] = f"{values[kind]}, {word}" if kind in values else word
            unit = at + 1
            continue
        stem = _stem(word)
        if stem is None or (at == unit and not word[0].isupper()) or _is_rate(words, at):
            continue
        topics.setdefault(stem, word)
        if _is_capital(word):
            capitals.add(stem)
            if at or _is_capital("".join(words[at + 1 : at + 2])):
                names.add(stem)
        if _changes(words, at):
            objects.add(stem)
    return _Clause(
        topics,
        frozenset(capitals),
        frozenset(names),
        values,
        cue[0] if cue else "",
        frozenset(objects),
    )


def _stem(word: str) -> str | None:
    """The stem of a word that can be a subject; None if it cannot."""
    low = fold(word)
    if low in ENGLISH_STOPS or low in _COUNTS or low in _RATES or not any(map(str.isalpha, low)):
        return None
    stem = _ANALYZER.tokenize(word).terms[0]
    return stem if stem not in _CHANGE and background_idf(stem) > _COMMON else None


def _is_rate(words: list[str], at: int) -> bool:
    return at > 0 and fold(words[at - 1]) == "per"


def _is_capital(word: str) -> bool:
    return word.isalpha() and word.istitle()


def _changes(words: list[str], at: int) -> bool:
    """Whether a word such as `cancelled` stands before this one, or `is dead` behind it."""
    before = [fold(word) for word in words[:at]]
    while before and before[-1] in _LINKS:
        before.pop()
    after = [fold(word) for word in words[at + 1 : at + 3]]
    ended = len(after) == 2 and after[0] in ("is", "are", "was") and after[1] in _ENDED  # noqa: PLR2004  # verb, word
    return ended or (0 < len(before) <= _EARLY and before[-1] in _OBJECT)


def _kind(words: list[str], at: int) -> str | None:
    """The kind of the value at a place, with what is counted; None if it is no value."""
    word, low = words[at], fold(words[at])
    if low.removesuffix("s") in WEEKDAYS:
        return "day"
    if low in MONTHS and word[0].isupper():
        return "month"
    counted = _unit(fold(words[at + 1])) if at + 1 < len(words) else ""
    if low in _COUNTS:
        return f"number of {counted}" if counted else None
    return _kind_of_number(words, at, counted) if _NUMBER.fullmatch(low) else None


def _kind_of_number(words: list[str], at: int, counted: str) -> str | None:
    """The kind of a number in digits; `counted` is the thing behind it."""
    number = words[at]
    if number[0] in "£$€" or counted in _MONEY:
        return "price"
    shaped = next((kind for kind, shape in _KINDS if shape.fullmatch(number)), None)
    if shaped is not None:
        return shaped
    if counted and not (at and _is_capital(words[at - 1])):
        return f"number of {counted}"
    before = [fold(each) for each in words[max(0, at - 2) : at]]
    while before and before[-1] in ("to", "is", "at"):
        before.pop()
    return f"{_BEHIND}{_unit(before[-1])}" if before and _unit(before[-1]) else None


def _unit(word: str) -> str:
    """The stem of a thing that is counted; empty if the word is none."""
    if not word.isalpha() or word in ENGLISH_STOPS or word in MONTHS or word in WEEKDAYS:
        return ""
    return _ANALYZER.tokenize(word).terms[0]
