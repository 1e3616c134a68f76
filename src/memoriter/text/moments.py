"""When does a question ask about? Hints of time, as a span around a moment: English, UTC.

Every function is total: a text without a hint, or with one that makes no date, gives None.
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
    """A span of time that a text names, in microseconds; `until` is not in it."""

    said: str
    since: int
    until: int


def moment_of(text: str, now: int) -> Moment | None:
    """The first hint of a time in a text, seen from `now`.

    >>> day = 86_400_000_000
    >>> moment_of("what did we do yesterday?", 10 * day + 5) == ("yesterday", 9 * day, 10 * day)
    True
    """
    lower = text[:_READ].lower()
    here = _EPOCH + now * _MICRO
    today = here.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        found = _relative(lower, today) or _named(lower, today)
    except (ValueError, OverflowError):
        return None
    if found is None:
        return None
    said, since, until = found
    return Moment(said, _micros(since), _micros(until))


_Span = tuple[str, datetime, datetime]


def _relative(text: str, today: datetime) -> _Span | None:
    day = timedelta(days=1)
    for word, back in (("yesterday", 1), ("today", 0)):
        if re.search(rf"\b{word}\b", text):
            return word, today - back * day, today - (back - 1) * day
    if found := _AGO.search(text):
        count = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1]]
        return found[0], *_ago(count, found[2], today)
    if found := _WEEKDAY.search(text):
        back = (today.weekday() - _DAYS[found[1]]) % 7 or 7
        return found[0], today - back * day, today - (back - 1) * day
    if found := _LAST.search(text):
        return found[0], *_period(found[1], found[2], today)
    return None


def _ago(count: int, unit: str, today: datetime) -> tuple[datetime, datetime]:
    """A day for days, a week around it for weeks, the whole month or year for those."""
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
    """The calendar's last or present one; the past week is the last seven days."""
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


def _named(text: str, today: datetime) -> _Span | None:
    day = timedelta(days=1)
    if found := _ISO.search(text):
        year, month = int(found[1]), int(found[2])
        first = datetime(year, month, int(found[3] or 1), tzinfo=UTC)
        return found[0], first, first + day if found[3] else _month(year, month + 1)
    if found := _DATE.search(text):
        month = _number(found[1] or found[4])
        year = int(found[5]) if found[5] else _latest(month, int(found[2] or found[3]), today)
        first = datetime(year, month, int(found[2] or found[3]), tzinfo=UTC)
        return found[0], first, first + day
    if found := _IN.search(text):
        if found[1] is None:
            return found[0], *_whole_year(int(found[2]))
        first = _month(int(found[2]), _number(found[1]))
        return found[0], first, _month(first.year, first.month + 1)
    if found := _MONTH_ALONE.search(text):
        month = _number(found[1])
        first = _month(_latest(month, 1, today), month)
        return found[0], first, _month(first.year, first.month + 1)
    return None


def _number(name: str) -> int:
    return _MONTHS.get(name) or _SHORT[name]


def _latest(month: int, day: int, today: datetime) -> int:
    """The year of the latest such date that is not in the future."""
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1


def _month(year: int, month: int) -> datetime:
    """The first of a month, counted on beyond the year's ends."""
    return datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1, tzinfo=UTC)


def _whole_year(year: int) -> tuple[datetime, datetime]:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _micros(time: datetime) -> int:
    return (time - _EPOCH) // _MICRO
