"""How a new text relates to an older one: a copy of it, or the same statement with another value.

Two texts state the same with another value if their words are equal in order but for one stretch,
the value: "The SSH port is 22" and "The SSH port is 49222". What is alike must say what it is
about: it begins with the same word that matters, and where both have a verb such as `is`, the
stretch stands behind it, so that another subject is no other value. Where one word alone says what
both are about ("The meeting is at 3pm"), the values must be of one kind: numbers and times, days,
months, colours, or states such as on and off. A negation that only one of the two has counts as
well. Only what has one value at a time is surely another value: a number, a day, a state, or what
something *is*. One who is allergic to nuts may be allergic to shellfish too, and a project uses
more than one thing: there the new text may replace the older one. The rule reads English; of other
languages it finds copies and values in the same place of a sentence. Texts of several clauses are
compared clause by clause, and words that only announce a change ("new", "switched to") do not
count.
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
from memoriter.text.stops import ENGLISH_STOPS, word_table
from memoriter.text.time_words import MONTHS, WEEKDAYS

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
_ONE: Final = word_table(
    """
    is be cost costs remain remains stay stays live lives weigh weighs start starts end ends begin
    begins expire expires open opens close closes mean means equal equals
    """
)
"""Verbs of what has one value at a time."""
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
    hobbies hobby languages skills allergies pets children
    """
)
"""Words behind which several values hold at once."""
_MOVES: Final = word_table("moved switched changed renamed replaced upgraded downgraded instead")
_SIGNS: Final = {":": "is", "=": "is", "->": "is", "are": "is", "was": "is", "were": "is"}
_CLAUSE: Final = re.compile(r"[.;,]\s+|\s[-–—]\s|\n+")
_CLAUSES: Final = 6
"""So many clauses of a text are compared."""
_NEGATIONS: Final = word_table("not no never don't doesn't isn't aren't can't cannot won't without")
_NUMBER: Final = re.compile(r"[£$€]?v?\d[\d.,:/-]*[a-z%]{0,3}")
_KINDS: Final = (
    WEEKDAYS.keys() | {f"{day}s" for day in WEEKDAYS},
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
_CHANGE: Final = word_table(
    """
    new changed moved switched upgraded downgraded renamed replaced updated raised lowered set to
    now since still again already just currently today instead
    """
)
_ADDED: Final = ENGLISH_STOPS | _CHANGE


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
    whole = [(_words(new), _words(old))] if most <= _WHOLE else []
    new, old = new[:_READ], old[:_READ]
    pairs = [*whole, *product(_clauses_of_new(new), _clauses(old))]
    compared = [_other_value(one, two) for one, two in pairs]
    likes = [each for each in compared if each is not None]
    like = min(likes, key=lambda each: each.relation != "other value", default=None)
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


def _other_value(one: Sequence[str], two: Sequence[str]) -> Likeness | None:
    """The likeness of two clauses that differ in a value; None if they do not."""
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
    relation = "other value" if _is_sure(one[:at], here, there) else "may replace"
    return Likeness(relation, tuple(shared), " ".join(here), " ".join(there))


def _words(text: str) -> list[str]:
    """The words of a text, folded; `:` and `=` stand alone."""
    spaced = re.sub(r"(?<=\w)[:=](?=\s)|(?<=\w)=(?=\w)", r" \g<0> ", text.strip())
    spoken = [fold(word).rstrip(".…") or word for word in _WORD.findall(spaced)]
    kept = (_SIGNS.get(word, word) for word in dropwhile(_CHANGE.__contains__, spoken))
    return [word for word in kept if word not in ("the", "a", "an", "to")]


def _matters(word: str) -> bool:
    empty = word in ENGLISH_STOPS or word in _VERBS or word in _NEGATIONS
    return not empty and any(map(str.isalnum, word))


def _is_counted(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a stretch is a difference: it says something, or it is `on` here and `off` there."""
    return not _is_empty(here) or not _is_empty(there) or _of_one_kind(here, there)


def _of_one_kind(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a thing has either of two values, not both."""
    values = [[word for word in words if word not in _CHANGE] for words in (here, there)]
    if [len(each) for each in values] != [1, 1]:
        return False
    (left,), (right,) = values
    numbers = _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right)
    return bool(numbers) or any(left in kind and right in kind for kind in _KINDS)


def _is_sure(before: Sequence[str], here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether only one of two values holds at a time; `before` are the words before both."""
    if _is_empty(here) or _is_empty(there):  # a negation that only one has
        return True
    if not _SEVERAL.isdisjoint(before):
        return False
    numbers = all(any(map(_NUMBER.fullmatch, words)) for words in (here, there))
    moves = not _MOVES.isdisjoint(here)
    return numbers or moves or _of_one_kind(here, there) or not _ONE.isdisjoint(before)


def _is_empty(words: Sequence[str]) -> bool:
    """Whether a stretch says nothing of its own: words such as `now`."""
    return all(word in _ADDED and word not in _NEGATIONS for word in words)


def _same_subject(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether both begin with the same word that matters."""
    firsts = [next((word for word in words if _matters(word)), None) for words in (one, two)]
    return firsts[0] is not None and firsts[0] == firsts[1]


def _is_value(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether a stretch is a value: both have one that is short, or one is a negation."""
    if not here or not there:
        return any(word in _NEGATIONS for word in (*here, *there))
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
