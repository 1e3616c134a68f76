"""Spans of the calendar as pairs of datetimes in UTC: a day, a week, a quarter, Easter.

`moments` finds which one a question names. Weeks begin on Monday. A date that does not exist raises
ValueError, one outside of the calendar OverflowError.
"""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta
from typing import Final

from memoriter.text.time_words import DAYPARTS, FEASTS

TimeSpan = tuple[datetime, datetime]
"""The first instant, and the instant after the last."""
ONE_DAY: Final = timedelta(days=1)
OPEN: Final = timedelta(days=365)
"""How far "before May" reaches back, and "after May" ahead if May is still to come."""


def midnight(time: datetime) -> datetime:
    """The beginning of a day."""
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def day_at(since: datetime) -> TimeSpan:
    """The day that begins then."""
    return since, since + ONE_DAY


def months_from(year: int, month: int, length: int = 1) -> TimeSpan:
    """Whole months; a month below 1 or above 12 is one of another year.

    >>> [time.isoformat()[:10] for time in months_from(2026, 0, 3)]
    ['2025-12-01', '2026-03-01']
    """
    first, last = (
        datetime(year + (at - 1) // 12, (at - 1) % 12 + 1, 1, tzinfo=UTC)
        for at in (month, month + length)
    )
    return first, last


def period(unit: str, step: int, today: datetime) -> TimeSpan:
    """The calendar week, weekend, month, quarter or year of today (0) or so many away."""
    monday = today + (7 * step - today.weekday()) * ONE_DAY
    match unit:
        case "week":
            return monday, monday + 7 * ONE_DAY
        case "weekend":
            return monday + 5 * ONE_DAY, monday + 7 * ONE_DAY
        case "month":
            return months_from(today.year, today.month + step)
        case "quarter":
            return months_from(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * step, 3)
        case _:
            return months_from(today.year + step, 1, 12)


def units_away(unit: str, least: int, most: int, here: datetime) -> TimeSpan:
    """So many units from here, which are before it if negative.

    An hour or a day is that one, a week the seven days around that day, a month or year the whole.
    """
    today, (near, far) = midnight(here), sorted((least, most))
    match unit:
        case "hour":
            sharp = here.replace(minute=0, second=0, microsecond=0)
            return sharp + timedelta(hours=near), sharp + timedelta(hours=far + 1)
        case "day":
            return today + near * ONE_DAY, today + (far + 1) * ONE_DAY
        case "week":
            return today + (7 * near - 3) * ONE_DAY, today + (7 * far + 4) * ONE_DAY
        case "month":
            return months_from(today.year, today.month + near, far - near + 1)
        case _:
            return months_from(today.year + near, 1, 12 * (far - near + 1))


def latest_year(month: int, day: int, here: datetime) -> int:
    """The year of the latest such date that is not in the future."""
    for year in range(here.year, here.year - 9, -1):  # 29 February may be eight years ago
        exists = (month, day) != (2, 29) or calendar.isleap(year)
        if exists and (year, month, day) <= (here.year, here.month, here.day):
            return year
    raise ValueError("there is no such date")


def part_of_day(span: TimeSpan, part: str) -> TimeSpan:
    """The hours of a part of a day; a span that is no day stays as it is."""
    since, until = span
    if until - since != ONE_DAY:
        return span
    begin, end = DAYPARTS[part]
    return since + timedelta(hours=begin), since + timedelta(hours=end)


def part_of_span(span: TimeSpan, part: str) -> TimeSpan:
    """The `first half`, the `last week`, or the third that is `early`, `mid` or `late`.

    >>> [time.day for time in part_of_span(months_from(2026, 3), "mid")]
    [11, 22]
    """
    since, until = span
    which, _, size = part.partition(" ")
    length = {"half": (until - since) / 2, "week": 7 * ONE_DAY}.get(size, (until - since) / 3)
    length = timedelta(days=length.days)
    if not length or length > until - since:
        return span
    if which in ("mid", "middle"):
        return since + length, until - length
    if which in ("late", "end", "last"):
        return until - length, until
    since += {"second": 1, "third": 2, "fourth": 3}.get(which, 0) * length
    return since, since + length


def beside(span: TimeSpan, unit: str, least: int, most: int) -> TimeSpan:
    """The day before a span (-1), two weeks after it (2)."""
    before = most < 0
    edge = span[0] if before else span[1] - ONE_DAY
    if unit == "week" and least == most and abs(most) == 1:  # a single week touches the span
        return (span[0] - 7 * ONE_DAY, span[0]) if before else (span[1], span[1] + 7 * ONE_DAY)
    return units_away(unit, least, most, edge)


def open_span(span: TimeSpan, side: str, here: datetime) -> TimeSpan:
    """Everything `since`, `after` or `before` a span: up to today, or a year."""
    tomorrow = midnight(here) + ONE_DAY
    if side == "since":
        return span[0], max(tomorrow, span[1])
    if side == "before":
        return span[0] - OPEN, span[0]
    return span[1], tomorrow if span[1] < tomorrow else span[1] + OPEN


def feast(name: str, year: int) -> TimeSpan:
    """A feast of a year; Easter is from Good Friday to Monday."""
    if name == "easter":
        since, days = _easter(year) - 2 * ONE_DAY, 4
    else:
        month, day, days = FEASTS[name]
        since = datetime(year, month, day, tzinfo=UTC)
    return since, since + days * ONE_DAY


def _easter(year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar (the anonymous algorithm; Meeus, chapter 8)."""
    century, rest = divmod(year, 100)
    moon = year % 19
    shift = century - century // 4 - (century - (century + 8) // 25 + 1) // 3
    epact = (19 * moon + shift + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (moon + 11 * epact + 22 * week) // 451
    month, day = divmod(epact + week - 7 * late + 114, 31)
    return datetime(year, month, day + 1, tzinfo=UTC)
