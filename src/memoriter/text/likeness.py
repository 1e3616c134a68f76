"""How a new text relates to an older one: a copy of it, or the same statement with another value.

Two texts state the same with another value if their words are equal in order but for one stretch,
the value: "The SSH port is 22" and "The SSH port is 49222". What is alike must say what it is
about: it begins with the same word that matters, and where both have a verb such as `is`, the
stretch stands behind it, so that another subject is no other value. Where one word alone says what
both are about ("The meeting is at 3pm"), the values must be of one kind: numbers and times, days,
months, colours, or states such as on and off. A negation that only one of the two has counts as
well. Only what has one value at a time is surely another value (`text.one_value`), and only where
the whole of both texts is alike: a record that says more must not go with one clause of it. One who
is allergic to nuts may be allergic to shellfish too, and a project uses more than one thing: there
the new text may replace the older one. The rule reads English; of other languages it finds copies
and values in the same place of a sentence. Texts of several clauses are compared clause by clause,
and words that only announce a change ("new", "switched to") do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import dropwhile, product
from typing import Final, Literal, NamedTuple

from memoriter.core.fold import fold
from memoriter.text.changes import Closeness, change_of
from memoriter.text.copies import ComparedText, are_copies, compared_text
from memoriter.text.one_value import (
    CHANGES,
    KINDS,
    NEGATIONS,
    NUMBER,
    ValueDifference,
    is_one_value,
)
from memoriter.text.stops import ENGLISH_STOPS, word_table

Likening = Literal["copy", "other value", "may replace"]
_LONGEST: Final = 80
"""Longer texts are compared as copies only: they say more than one thing."""
_READ: Final = 8_000
"""So many characters of a text are read for statements in it; more are compared as copies only."""
_WHOLE: Final = 1_600
"""So many characters of a text are compared as one clause: more have more words than `_LONGEST`."""
_FILLED: Final = 400
"""So many characters of fillers and white space may make a copy longer."""
_LEAST: Final = 2
"""So many words that matter must be alike; one is enough for values of one kind."""
_VALUE: Final = 6
"""A value has at most so many words."""
_WORD: Final = re.compile(r"[^\s\"'(),;!?]+(?:'\w+)?")
_VERBS: Final = word_table("is are was were be uses use has have costs prefers remains stays")
_SIGNS: Final = {":": "is", "=": "is", "->": "is", "are": "is", "was": "is", "were": "is"}
_CLAUSE: Final = re.compile(r"[.;,]\s+|\s[-–—]\s|\n+")
_CLAUSES: Final = 6
"""So many clauses of a text are compared."""
_ADDED: Final = ENGLISH_STOPS | CHANGES


class Likeness(NamedTuple):
    """How two texts relate, and by which words."""

    relation: Likening
    shared: tuple[str, ...]
    """The words that matter and that both have."""
    here: str = ""
    """What only the new text says."""
    there: str = ""
    """What only the older one says."""
    attribute: str = "value"
    """What differs: a kind of value, or `statement`."""


def likeness_of(new: str, old: str, closeness: Closeness | None = None) -> Likeness | None:
    """How a new text relates to an older one; None if it neither copies nor replaces it.

    With a closeness, what the texts are about is compared too (`text.changes`), not only wording.

    >>> likeness_of("Prod SSH port is 49222", "The prod SSH port is 22")[:4]
    ('other value', ('prod', 'ssh', 'port'), '49222', '22')
    >>> likeness_of("Prod SSH port is 22", "Staging SSH port is 22")
    """
    if _may_be_copies(new, old) and are_copies(_compared(new), compared_text(old)):
        return Likeness("copy", tuple(word for word in _words(new[:_READ]) if _matters(word)))
    most = max(len(new), len(old))
    whole = _other_value(_words(new), _words(old), (new, old)) if most <= _WHOLE else None
    new, old = new[:_READ], old[:_READ]
    pairs = product(_clauses_of_new(new), _clauses(old))
    likes = (_other_value(one, two) for one, two in pairs)
    like = whole or next((each for each in likes if each is not None), None)
    if like is not None or closeness is None:
        return like
    change = change_of(new, old, closeness)
    if change is None:
        return None
    return Likeness("may replace", change.shared, change.here, change.there, change.attribute)


@lru_cache(maxsize=4)
def _compared(new: str) -> ComparedText:
    """A new text, which is compared with many."""
    return compared_text(new)


@lru_cache(maxsize=4)
def _clauses_of_new(new: str) -> list[list[str]]:
    """The same as `_clauses`."""
    return _clauses(new)


def _clauses(text: str) -> list[list[str]]:
    """The words of the first clauses of a text; none of one that is too long to be compared."""
    return [_words(each) for each in _CLAUSE.split(text)[:_CLAUSES] if len(each) <= _WHOLE]


def _may_be_copies(new: str, old: str) -> bool:
    """Whether two texts are about as long: copies share nearly all of their words."""
    short, long = sorted((len(new), len(old)))
    return long <= 2 * short + _FILLED


def _other_value(
    one: Sequence[str], two: Sequence[str], texts: tuple[str, str] | None = None
) -> Likeness | None:
    """The likeness of two clauses that differ in a value; None if they do not.

    It is sure only of whole `texts`: the new one and the older one.
    """
    if not one or not two or max(len(one), len(two)) > _LONGEST or not _same_subject(one, two):
        return None
    codes = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    shared = [w for tag, a, b, _, _ in codes if tag == "equal" for w in one[a:b] if _matters(w)]
    stretches = [(one[a:b], two[c:d], a) for tag, a, b, c, d in codes if tag != "equal"]
    counted = [each for each in stretches if _is_counted(*each[:2])]
    if not shared or len(counted) != 1:
        return None
    here, there, at = counted[0]
    behind = _behind_verb(one, two, at) and not _says_otherwise(one[:at], here, there)
    if not _is_value(here, there) or not behind:
        return None
    if len(shared) < _LEAST and not (_has_verb(one, two) and _of_one_kind(here, there)):
        return None
    rest = [len([w for w in words if _matters(w)]) - len(shared) for words in (one, two)]
    if max(rest) > len(shared):  # more differs than is alike
        return None
    others = (each for each in stretches if each is not counted[0])
    beside = [word for left, right, _ in others for word in (*left, *right)]
    difference = ValueDifference(one[:at], here, there, beside)
    sure = texts is not None and is_one_value(*texts, difference)
    return Likeness(
        "other value" if sure else "may replace", tuple(shared), " ".join(here), " ".join(there)
    )


def _words(text: str) -> list[str]:
    """The words of a text, folded; `:` and `=` stand alone."""
    spaced = re.sub(r"(?<=\w)[:=](?=\s)|(?<=\w)=(?=\w)", r" \g<0> ", text.strip())
    spoken = [fold(word).rstrip(".…") or word for word in _WORD.findall(spaced)]
    kept = (_SIGNS.get(word, word) for word in dropwhile(CHANGES.__contains__, spoken))
    return [word for word in kept if word not in ("the", "a", "an", "to")]


def _matters(word: str) -> bool:
    empty = word in ENGLISH_STOPS or word in _VERBS or word in NEGATIONS
    return not empty and any(map(str.isalnum, word))


def _is_counted(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a stretch is a difference: it says something, or it is `on` here and `off` there."""
    return not _is_empty(here) or not _is_empty(there) or _of_one_kind(here, there)


def _of_one_kind(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a thing has either of two values, not both."""
    values = [[word for word in words if word not in CHANGES] for words in (here, there)]
    if [len(each) for each in values] != [1, 1]:
        return False
    (left,), (right,) = values
    numbers = NUMBER.fullmatch(left) and NUMBER.fullmatch(right)
    return bool(numbers) or any(left in kind and right in kind for kind in KINDS)


def _is_empty(words: Sequence[str]) -> bool:
    """Whether a stretch says nothing of its own: words such as `now`."""
    return all(word in _ADDED and word not in NEGATIONS for word in words)


def _same_subject(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether both begin with the same word that matters."""
    firsts = [next((word for word in words if _matters(word)), None) for words in (one, two)]
    return firsts[0] is not None and firsts[0] == firsts[1]


def _is_value(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a stretch is a value: both have one that is short, or one is a negation."""
    if not here or not there:
        return any(word in NEGATIONS for word in (*here, *there))
    named = all(any(map(str.isalnum, "".join(words))) for words in (here, there))
    return named and max(len(here), len(there)) <= _VALUE


def _behind_verb(one: Sequence[str], two: Sequence[str], at: int) -> bool:
    """Whether a stretch stands behind the verb, where both texts have one."""
    first = next((n for n, word in enumerate(one) if word in _VERBS), 0)
    return not _has_verb(one, two) or at > first


def _says_otherwise(before: Sequence[str], here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether stretches right behind the subject are verbs of their own: "Ann asked for the list".

    One word that matters in each, or a negation, is a value: "Ann drinks tea", "Ann never drinks".
    """
    matter = [[word for word in words if _matters(word)] for words in (before, here, there)]
    return len(matter[0]) == 1 and not _VERBS & set(before) and min(map(len, matter[1:])) > 1


def _has_verb(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether both texts have a verb such as `is`."""
    return all(any(word in _VERBS for word in words) for words in (one, two))
