"""English words for times: names and counts, and whether a text has or asks for a time.

`moments` reads a question's time with these names. The boost `dated` asks `asks_when` about the
question and `has_time_words` about each record.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.kernel.library import native_library
from memoriter.kernel.marks import FlaggedWords, times_in

NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
VAGUE: Final = {"couple": (1, 3), "few": (2, 5), "several": (3, 8)}
"""Counts that are no number: the least and the most that they may mean."""
MONTHS: Final = {
    **{name.lower(): n for n, name in enumerate(calendar.month_name) if name},
    **{name.lower(): n for n, name in enumerate(calendar.month_abbr) if name},
    "sept": 9,
}
WEEKDAYS: Final = {name.lower(): n for n, name in enumerate(calendar.day_name)}
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each, in the north."""
FEASTS: Final = {
    "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "christmas": (12, 24, 3),
    "boxing day": (12, 26, 1), "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1),
    "new year": (1, 1, 1), "valentine's day": (2, 14, 1), "halloween": (10, 31, 1),
}  # fmt: skip
"""Month, day and length in days; Easter moves."""
DAYPARTS: Final = {
    "morning": (5, 12),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (20, 30),
}
"""From which hour to which, counted from midnight."""

_VERBS: Final = ("may", "march", "mar")
"""Months that are words as well."""
_MONTH: Final = tuple(name for name in MONTHS if name not in _VERBS)
_BEFORE_WORDS: Final = "in of by since until early mid late"
_BEFORE_MONTH: Final = tuple(_BEFORE_WORDS.split())
_NAMED_TIMES: Final = (
    "noon", "midnight", "yesterday", "today", "tomorrow", "tonight", "ago", "weekend", "morning",
    "afternoon", "evening",
)  # fmt: skip
_WHICH_WORDS: Final = "last next this past"
_WHICH: Final = tuple(_WHICH_WORDS.split())
_SPANS: Final = ("night", "week", "month", "year", "summer", "spring", "autumn", "fall", "winter")
_COUNTS: Final = (*NUMBERS, "few", "several")
_UNITS: Final = ("minute", "hour", "day", "week", "month", "year")


def _any_of(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(words)})"


_TIMES: Final = lazy_pattern(
    rf"\b(?:{_any_of(WEEKDAYS)}s?|{_any_of(_MONTH)}"
    rf"|(?:{_any_of(_BEFORE_MONTH)}|\d{{1,2}}(?:st|nd|rd|th)?)[\s-]+{_any_of(_VERBS)}"
    r"|(?:may|march)\s+\d{1,2}"
    r"|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)"
    rf"|\d{{1,2}}:\d\d|\d{{1,2}}\s?(?:am|pm)|o'clock|{_any_of(_NAMED_TIMES)}"
    rf"|{_any_of(_WHICH)}\s+{_any_of(_SPANS)}"
    rf"|(?:\d+|{_any_of(_COUNTS)}|couple\s+of)\s+{_any_of(_UNITS)}s?"
    r")\b"
)
_FLAGS: Final = (
    (*_MONTH, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *_NAMED_TIMES),
    _BEFORE_MONTH,
    _VERBS,
    ("may", "march"),
    _WHICH,
    _SPANS,
    _COUNTS,
    (*_UNITS, *(f"{unit}s" for unit in _UNITS)),
    ("am", "pm"),
    ("o",),
    ("clock",),
    ("couple",),
    ("of",),
)
"""The words of `_TIMES` by what they are: the n-th has the n-th bit of `native/c/marks.c`."""
_DIGIT: Final = lazy_pattern(r"\d")
TIME_PARTS: Final = (
    "day", "year", "week", "month", "hour", "minute", "noon", "night", "morning", "evening", "ago",
    "o'clock", "tomorrow", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct",
    "nov", "dec", "summer", "spring", "autumn", "fall", "winter",
)  # fmt: skip
"""What `_TIMES` matches has a digit or one of these in it."""
_WHEN: Final = lazy_pattern(
    r"\b(?:when|how\s+(?:long|soon|often|recently|old)"
    r"|how\s+many\s+(?:minute|hour|day|week|month|year|night|time)s"
    r"|(?:what|which|whose)\s+(?:time|date|day|weekday|evening|morning|month|season|year)s?)\b"
)
_NAMED: Final = lazy_pattern(r"[^\W_]+")
_READ: Final = 20_000
"""How much of a text is read."""


def has_time_words(text: str) -> bool:
    """Whether a text has a word for a time: a weekday, a month, a date, a clock time, "ago".

    >>> has_time_words("Mondays, 7:30"), has_time_words("we may march on")
    (True, False)
    """
    plain = _plain(text)
    if _DIGIT.search(plain) is None and not any(part in plain for part in TIME_PARTS):
        return False  # most texts, and the whole pattern takes long
    return _TIMES.search(plain) is not None


def texts_with_times(texts: Sequence[str]) -> NDArray[np.bool_]:
    """`has_time_words` of many texts.

    >>> texts_with_times(["We met last week.", "We met."]).tolist()
    [True, False]
    """
    fast = native_library()
    if fast is None:
        return np.fromiter(map(has_time_words, texts), np.bool_, len(texts))
    read = [text[:_READ] if text.isascii() else "" for text in texts]
    out = times_in(fast, read, _flagged())
    for nth, text in enumerate(texts):
        if not text.isascii():
            out[nth] = has_time_words(text)
    return out


@cache
def _flagged() -> FlaggedWords:
    flags: dict[str, int] = {}
    for bit, words in enumerate(_FLAGS):
        for word in words:
            flags[word] = flags.get(word, 0) | 1 << bit
    return FlaggedWords(flags)


def asks_when(text: str) -> bool:
    """Whether a question asks when or how long.

    >>> asks_when("Which day is choir?"), asks_when("Who sings?")
    (True, False)
    """
    return _WHEN.search(_plain(text)) is not None


def _plain(text: str) -> str:
    return text[:_READ].lower().replace("’", "'")


def calendar_words(phrase: str) -> tuple[str, ...]:
    """The words of a date or weekday in a phrase; none if it names neither a month nor a weekday.

    A text that has them all is about that day, whenever it was written. "Last week" in a text is
    another week than in a question, and a year alone says little.

    >>> calendar_words("on 4 may"), calendar_words("last week"), calendar_words("in 2025")
    (('4', 'may'), (), ())
    """
    words = [word.lower() for word in _NAMED.findall(phrase)]
    named = [word for word in words if word in MONTHS or word in WEEKDAYS]
    return tuple(word for word in words if word in named or word.isdigit()) if named else ()
