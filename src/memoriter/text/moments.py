"""Finds the time that a question names ("yesterday", "in May 2025"), as a span. English, UTC.

The `moment` lane and boost call `moment_of`. Nothing raises: a text without a time, or with one
that is no date, gives None.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_MONTHS: Final = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
_SHORT: Final = {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name}
_DAYS: Final = {name.lower(): n for n, name in enumerate(calendar.day_name)}
_COUNT: Final = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
_MONTH: Final = rf"({'|'.join([*_MONTHS, *_SHORT])})\b\.?"
_DAY: Final = rf"({'|'.join(_DAYS)})"
_YEAR: Final = r"((?:19|20)\d\d)"

_AGO: Final = re.compile(rf"\b{_COUNT}\s+(day|week|month|year)s?\s+ago\b")
_LAST: Final = re.compile(r"\b(last|past|this)\s+(week|month|year)\b")
_WEEKDAY: Final = re.compile(rf"\blast\s+{_DAY}\b")
_ISO: Final = re.compile(rf"\b{_YEAR}[-/](\d{{1,2}})(?:[-/](\d{{1,2}}))?\b")
_DATE: Final = re.compile(
    rf"\b(?:{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?|(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH})"
    rf"(?:,?\s+{_YEAR})?\b"
)
_IN: Final = re.compile(rf"\b(?:in|during|since|of)\s+(?:{_MONTH}\s*)?,?\s*{_YEAR}\b")
_MONTH_ALONE: Final = re.compile(rf"\b(?:in|during|last)\s+{_MONTH}(?!\w)")
_READ: Final = 2_000
_MICRO: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """A span of time that a text names, in microseconds since 1970; `until` is exclusive."""

    text: str
    """The words that name it."""
    since: int
    until: int


def moment_of(text: str, now: int) -> Moment | None:
    """The first time that a text names, relative to `now`; None if it names none.

    >>> day = 86_400_000_000
    >>> moment_of("what did we do yesterday?", 10 * day + 5) == ("yesterday", 9 * day, 10 * day)
    True
    """
    lower = text[:_READ].lower()  # a longer text is no question
    here = _EPOCH + now * _MICRO
    today = here.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        span = _relative(lower, today) or _absolute(lower, today)
    except (ValueError, OverflowError):  # 31 February, or a year before 1
        return None
    if span is None:
        return None
    words, since, until = span
    return Moment(words, _micros(since), _micros(until))


_Span = tuple[str, datetime, datetime]
"""The words, the first instant, and the instant after the last."""


def _relative(text: str, today: datetime) -> _Span | None:
    """A time counted from today: yesterday, three weeks ago, last Monday, this month."""
    day = timedelta(days=1)
    for word, back in (("yesterday", 1), ("today", 0)):
        if re.search(rf"\b{word}\b", text):
            return word, today - back * day, today - (back - 1) * day
    if hit := _AGO.search(text):
        count = int(hit[1]) if hit[1].isdigit() else _NUMBERS[hit[1]]
        return hit[0], *_ago(count, hit[2], today)
    if hit := _WEEKDAY.search(text):
        back = (today.weekday() - _DAYS[hit[1]]) % 7 or 7  # "last Monday" is never today
        return hit[0], today - back * day, today - (back - 1) * day
    if hit := _LAST.search(text):
        return hit[0], *_period(hit[1], hit[2], today)
    return None


def _ago(count: int, unit: str, today: datetime) -> tuple[datetime, datetime]:
    """The day itself, the seven days around it for weeks, the whole month or year for those."""
    day = timedelta(days=1)
    match unit:
        case "day":
            return today - count * day, today - (count - 1) * day
        case "week":
            middle = today - 7 * count * day
            return middle - 3 * day, middle + 4 * day
        case "month":
            first = _month(today.year, today.month - count)
        case _:
            return _whole_year(today.year - count)
    return first, _month(first.year, first.month + 1)


def _period(which: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    """The previous or the current calendar period; "the past week" is the last seven days."""
    day = timedelta(days=1)
    back = 0 if which == "this" else 1
    match unit:
        case "week" if which == "past":
            return today - 7 * day, today + day
        case "week":
            monday = today - (today.weekday() + 7 * back) * day
            return monday, monday + 7 * day
        case "month":
            first = _month(today.year, today.month - back)
            return first, _month(first.year, first.month + 1)
        case _:
            return _whole_year(today.year - back)


def _absolute(text: str, today: datetime) -> _Span | None:
    """A date, month or year that is named; without a year it is the latest one."""
    day = timedelta(days=1)
    if hit := _ISO.search(text):
        year, month = int(hit[1]), int(hit[2])
        first = datetime(year, month, int(hit[3] or 1), tzinfo=UTC)
        return hit[0], first, first + day if hit[3] else _month(year, month + 1)
    if hit := _DATE.search(text):
        month = _number(hit[1] or hit[4])
        year = int(hit[5]) if hit[5] else _latest(month, int(hit[2] or hit[3]), today)
        first = datetime(year, month, int(hit[2] or hit[3]), tzinfo=UTC)
        return hit[0], first, first + day
    if hit := _IN.search(text):
        if hit[1] is None:
            return hit[0], *_whole_year(int(hit[2]))
        first = _month(int(hit[2]), _number(hit[1]))
        return hit[0], first, _month(first.year, first.month + 1)
    if hit := _MONTH_ALONE.search(text):
        month = _number(hit[1])
        first = _month(_latest(month, 1, today), month)
        return hit[0], first, _month(first.year, first.month + 1)
    return None


def _number(name: str) -> int:
    return _MONTHS.get(name) or _SHORT[name]


def _latest(month: int, day: int, today: datetime) -> int:
    """The year of the latest such date that is not in the future."""
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1


def _month(year: int, month: int) -> datetime:
    """The first of a month; a month below 1 or above 12 is one of another year."""
    return datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1, tzinfo=UTC)


def _whole_year(year: int) -> tuple[datetime, datetime]:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _micros(time: datetime) -> int:
    return (time - _EPOCH) // _MICRO
