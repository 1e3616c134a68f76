"""Finds the time that a question names, as a span: one time, or a range of two. English, UTC.

`text.time_rules` reads one time ("yesterday", "in May 2025"). A range names where it begins and
where it ends: "between 2 and 4 November", "from Monday to Wednesday", "March to May 2025". The
`moment` lane and boost call `moment_of`. Nothing raises: a text without a time, or with one that is
no date, gives None.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.calendar_spans import ONE_DAY, TimeSpan
from memoriter.text.time_rules import may_name_a_time, read_time
from memoriter.text.time_words import FEASTS, MONTHS, SEASONS, WEEKDAYS

_READ: Final = 2_000
_MICRO: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """A span of time that a text names, in microseconds since 1970; `until` is exclusive."""

    text: str
    """The words that name it."""
    since: int
    until: int


@lru_cache(maxsize=16)  # plan, lane and embedding of one search ask the same
def moment_of(text: str, now: int) -> Moment | None:
    """The time that a text names, relative to `now`; None if it names none.

    >>> day = 86_400_000_000
    >>> moment_of("what did we do yesterday?", 10 * day + 5) == ("yesterday", 9 * day, 10 * day)
    True
    >>> moment_of("what was between 2 and 4 January 1970?", 10 * day)
    Moment(text='between 2 and 4 january 1970', since=86400000000, until=345600000000)
    """
    lower = text[:_READ].lower().replace("’", "'")  # a longer text is no question
    if not may_name_a_time(lower):
        return None
    try:
        here = _EPOCH + now * _MICRO
        named = _range(lower, here) or read_time(lower, here)
    except (ValueError, OverflowError):  # 31 February, or a year before 1
        return None
    if named is None:
        return None
    words, (since, until) = named
    return Moment(words, (since - _EPOCH) // _MICRO, (until - _EPOCH) // _MICRO)


# -- ranges ----------------------------------------------------------------------------------------


def _either(names: tuple[str, ...]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_MONTH: Final = rf"(?:{_either(tuple(MONTHS))})\b\.?"
_YEAR: Final = r"(?:19|20)\d\d(?![-./:]?\d)"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_END: Final = (
    rf"(?:(?:the\s+)?{_DAY}(?:\s+(?:of\s+)?{_MONTH})?|{_MONTH}(?:\s+{_DAY}\b)?"
    rf"|(?:{_either(tuple(WEEKDAYS))})|(?:early|mid|late)[\s-]+{_MONTH}"
    rf"|(?:{_either((*SEASONS, *FEASTS, 'easter'))})|yesterday|today|now)"
    rf"(?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|{_YEAR}|\d{{4}}-\d\d-\d\d"
)
"""A time that may begin or end a range."""
_RANGE: Final = lazy_pattern(
    rf"\b(?:between\s+(?P<a>{_END})\s+and\s+(?P<b>{_END})"
    rf"|from\s+(?P<c>{_END})\s*(?:to|until|till|through|-|–|—)\s*(?P<d>{_END})"
    rf"|(?P<e>(?:{_DAY}|{_MONTH}|{_MONTH}\s+{_DAY}|{_DAY}\s+{_MONTH}))"
    rf"(?:\s*[-–—]\s*|\s+(?:to|until|till|through)\s+)(?P<f>{_END}))(?!\w)"
)
_IS_DAY: Final = lazy_pattern(rf"(?:the\s+)?({_DAY})")
_HAS_MONTH: Final = lazy_pattern(rf"\b{_MONTH}")
_HAS_YEAR: Final = lazy_pattern(rf"\b{_YEAR}")
_IS_WEEKDAY: Final = frozenset(WEEKDAYS)


def _range(text: str, here: datetime) -> tuple[str, TimeSpan] | None:
    """The first range that a text names, from the begin of one time to the end of the other."""
    for hit in _RANGE.finditer(text):
        first = hit["a"] or hit["c"] or hit["e"]
        last = hit["b"] or hit["d"] or hit["f"]
        ends = _completed(first, last)
        begin, end = (_one_end(each, here) for each in ends) if ends else (None, None)
        if begin is None or end is None:
            continue
        since = _before(begin[0], end[0], ends[0] if ends else "")
        if since is not None:
            return hit[0].strip(), (since, end[1])
    return None


def _completed(first: str, last: str) -> tuple[str, str] | None:
    """Both ends with the month and year that stand at one of them; None for mere numbers.

    >>> _completed("2", "4 november 2025"), _completed("november 2", "4"), _completed("2", "4")
    (('2 november 2025', '4 november 2025'), ('november 2', '4 november'), None)
    """
    month = _HAS_MONTH.search(last) or _HAS_MONTH.search(first)
    years = [_HAS_YEAR.search(each) for each in (first, last)]
    if day := _IS_DAY.fullmatch(first):
        if month is None:
            return None
        first = f"{day[1]} {month[0]}"
    if (day := _IS_DAY.fullmatch(last)) or (day := _day_and_year(last)):
        if month is None:
            return None
        last = f"{day[1]} {month[0]}{f' {years[1][0]}' if years[1] else ''}"
    if years[1] and not years[0] and _HAS_MONTH.search(first):
        first = f"{first} {years[1][0]}"
    return first, last


def _day_and_year(text: str) -> re.Match[str] | None:
    return re.fullmatch(rf"({_DAY}),?\s+{_YEAR}", text)


def _one_end(words: str, here: datetime) -> TimeSpan | None:
    """The time that one end of a range names; months and weekdays need a word before them."""
    if words == "now":
        return here, here + timedelta(microseconds=1)
    for lead in ("", "on ", "in ", "at "):
        if named := read_time(lead + words, here):
            return named[1]
    return None


def _before(begin: datetime, end: datetime, words: str) -> datetime | None:
    """Where the range begins: a week or a year back, if its end would come first; None if never.

    "From Friday to Monday" ends on the latest Monday, and the latest Friday may come after it.
    """
    if begin <= end:
        return begin
    if words in _IS_WEEKDAY:
        return begin - 7 * ONE_DAY if begin - 7 * ONE_DAY <= end else None
    if _HAS_YEAR.search(words):
        return None
    year_back = begin.replace(year=begin.year - 1)
    return year_back if year_back <= end else None
