"""Whether of two statements that differ in one value only one can hold.

This is what `on_similar="supersede"` may replace, so it is narrow: all words of both texts are the
same but for the value, and the value stands right behind a verb such as `is` or behind `=`. Both
values are of one kind (numbers with the same unit, days, states such as on and off), or both are
names of what a common noun is: "the payment provider is Stripe". Or one of the two texts has a
negation that the other lacks, and nothing else. A number behind a noun ("Patient 12 takes …")
names what the text is about, and what follows `is open on` is one of several; neither is sure. Nor
is a text that asks, doubts, or tells of the past or of one day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from memoriter.core.fold import fold
from memoriter.text.stops import word_table
from memoriter.text.time_words import MONTHS, WEEKDAYS

NUMBER: Final = re.compile(r"([£$€]?v?)\d[\d.,:/-]*([a-z%]{0,3})")
NEGATIONS: Final = word_table("not no never don't doesn't isn't aren't can't cannot won't without")
CHANGES: Final = word_table(
    """
    new changed moved switched upgraded downgraded renamed replaced updated raised lowered set to
    now since still again already just currently today instead
    """
)
"""Words that only announce a change."""
KINDS: Final = (
    WEEKDAYS.keys()
    | {f"{day}s" for day in WEEKDAYS}
    | {"weekend", "weekends", "weekdays", "daily"},
    MONTHS.keys(),
    *map(
        word_table,
        (
            "on off",
            "enabled disabled",
            "open closed shut",
            "up down",
            "online offline",
            "true false",
            "yes no",
            "active inactive paused",
            "passing passed failing failed broken",
            "public private",
            "locked unlocked",
            "allowed forbidden",
            "required optional",
            "valid invalid",
            "full empty",
            "green red yellow amber orange blue black white grey gray brown pink purple",
        ),
    ),
)
"""Words of one kind: of two of them, a thing is one at a time."""
_LINKING: Final = word_table(
    """
    is be cost costs remain remains stay stays live lives weigh weighs start starts end ends begin
    begins expire expires mean means equal equals
    """
)
"""Verbs of what has one value at a time."""
_LIVING: Final = word_table("live lives")
_BEFORE: Final = word_table("at on in by until from")
"""Words that may stand between the verb and the value."""
_SEVERAL: Final = word_table(
    """
    like likes love loves hate hates dislike dislikes enjoy enjoys prefer prefers want wants need
    needs use uses used speak speaks has have had know knows own owns play plays read reads eat eats
    drink drinks learn learns learned visit visits visited bought buy buys sold sell sells met meet
    meets made make makes wrote write writes includes include contains contain supports support
    offers offer owes fixed fixes added adds removed removes reported found tested reviewed merged
    allergic member members fan fond friend friends interested responsible good bad able afraid
    familiar fluent certified trained related similar known capable compatible available busy one
    part among also list note notes log todo todos task tasks idea ideas tags topics bugs links
    hobbies hobby languages skills allergies pets children child son sons daughter daughters kid
    kids brother brothers sister sisters cousin aunt uncle nephew niece pet cat dog colleague
    neighbour neighbor customer client
    partner competitor guest there example
    """
)
"""Words with which several values hold at once."""
_DOING: Final = word_table("do does did")
_UNSURE: Final = re.compile(
    r"\?|\b(?:if|was|were|maybe|perhaps|probably|possibly|might|(?-i:may)|could|should|would"
    r"|had|used to|planned|when|while|until|unless|sometimes|often|usually)\b",
    re.IGNORECASE,
)
"""Words of what is asked, doubted, past or true at times."""
_ITS_OWN: Final = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|next|last|this)\b|^\W*(?:an?|one|some|any|each|every)\s",
    re.IGNORECASE,
)
"""Words of what is said of one day, or of any one of a kind: it does not replace what was said."""
_ONE_OF: Final = re.compile(r"\b(?:is|are|be|remains|stays)\s(?:\w+\s)?an?\s|\bare\b|:\s", re.I)
"""What one of many is ("is a doctor"), what several are, and what stands behind a colon."""
_WORD: Final = re.compile(r"[^\s\"'(),;!?:=]+")


class ValueDifference(NamedTuple):
    """Where two texts differ, in folded words."""

    before: Sequence[str]
    """The words before the value, as the new text has them."""
    here: Sequence[str]
    """The value in the new text."""
    there: Sequence[str]
    """The value in the older one."""
    beside: Sequence[str]
    """What else only one of the two has."""


def is_one_value(new: str, old: str, difference: ValueDifference) -> bool:
    """Whether two texts with this difference state one thing that has one value at a time."""
    before, here, there, beside = difference
    doubted = _UNSURE.search(new) or "?" in old or any(map(_ITS_OWN.search, (new, old)))
    if doubted or not CHANGES.issuperset(beside):
        return False
    values = _without_changes(here), _without_changes(there)
    if not all(values):  # a negation that only one has
        (words,) = [each for each in values if each] or [[]]
        return bool(words) and (NEGATIONS | _DOING).issuperset(words)
    verb = len(before)
    while verb and before[verb - 1] in CHANGES:
        verb -= 1
    placed = verb > 0 and before[verb - 1] in _BEFORE
    verb -= placed
    if not verb or before[verb - 1] not in _LINKING or not _SEVERAL.isdisjoint(before):
        return False
    if _shapes(values[0]) == _shapes(values[1]):
        return True
    if placed and before[verb - 1] not in _LIVING:
        return False
    subject = () if before[verb - 1] in _LIVING else before[verb - 2 : verb - 1]
    return not any(map(_ONE_OF.search, (new, old))) and (
        _are_names(values[0], new) and _are_names(values[1], old) and not _are_names(subject, new)
    )


def _without_changes(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in CHANGES]


def _shapes(words: Sequence[str]) -> list[str]:
    """What kind of value each word is; a word of no kind stands for itself."""
    return [_shape(word) for word in words]


def _shape(word: str) -> str:
    number = NUMBER.fullmatch(word)
    if number is not None:
        return f"{number[1]}#{'m' if number[2] in ('am', 'pm') else number[2]}"
    return next((f"kind {nth}" for nth, kind in enumerate(KINDS) if word in kind), word)


def _are_names(words: Sequence[str], text: str) -> bool:
    """Whether all of some words are written like names: with a capital, or with a digit."""
    written = {fold(each).rstrip(".…"): each for each in _WORD.findall(text)}
    return bool(words) and all(
        any(char.isupper() or char.isdigit() for char in written.get(word, "")) for word in words
    )
