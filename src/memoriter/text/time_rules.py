"""Reads one time that a text names ("yesterday", "in May 2025"), as a span. English, UTC.

A rule of `_RULES` reads a time by itself ("March", "last week"). `_refined` then looks at the words
around it: "late March", "the week before Christmas", "since Monday", "yesterday evening". A date
without a year is the latest one. `text.moments` calls `read_time`, for each end of a range too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.calendar_spans import (
    ONE_DAY,
    TimeSpan,
    beside,
    day_at,
    feast,
    latest_year,
    midnight,
    months_from,
    open_span,
    part_of_day,
    part_of_span,
    period,
    units_away,
)
from memoriter.text.time_words import (
    DAYPARTS,
    FEASTS,
    MONTHS,
    NUMBERS,
    SEASONS,
    VAGUE,
    WEEKDAYS,
)

_RECENT: Final = 30
"""How many days "recently" reaches back."""
_UNITS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
"""Days of a unit, where a span is counted up to today."""
_STEPS: Final = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def read_time(text: str, here: datetime) -> tuple[str, TimeSpan] | None:
    """The words of a text in small letters that name one time, and the time; None if none do.

    Raises ValueError or OverflowError for a time that is no date, such as 31 February.
    """
    for pattern, span_of in _RULES:
        if hit := pattern.search(text):
            return _refined(text, hit, span_of(hit, here), here)
    return None


_TIME_PARTS: Final = lazy_pattern(
    r"\d|day|night|morning|noon|evening|tomorrow|now|hour|week|month|quarter|year|ago|last|latest"
    r"|past|previous|next|recent|newest|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|spring|summer|autumn|fall|winter|christmas|valentine|halloween|easter"
)
"""Every time and every range that is read here or in `text.moments` has one of these in it."""


def may_name_a_time(text: str) -> bool:
    """Whether a text in small letters may name a time; False spares the rules, which are many.

    >>> may_name_a_time("which port for ssh?"), may_name_a_time("the port of last week")
    (False, True)
    """
    return _TIME_PARTS.search(text) is not None


# -- patterns --------------------------------------------------------------------------------------


def _one_of(names: Iterable[str], group: str) -> str:
    """A group of names; the longest first, since the first that fits is taken."""
    return rf"(?P<{group}>{'|'.join(sorted(names, key=len, reverse=True))})"


_COUNT: Final = (
    rf"(?:(?:an?\s+)?{_one_of(VAGUE, 'vague')}(?:\s+of)?"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)}))"
)
_UNIT: Final = r"(?P<unit>hour|day|week|month|year)"
_WHICH: Final = r"(?P<which>last|this|next)"
_DAY: Final = _one_of(WEEKDAYS, "day")
_MONTH: Final = rf"{_one_of(MONTHS, 'month')}\b\.?"
_SEASON: Final = _one_of(SEASONS, "season")
_FEAST: Final = _one_of((*FEASTS, "easter"), "feast")
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![-./:]?\d)"
_OF_YEAR: Final = rf",?\s+(?:of\s+)?{_YEAR}"
_LEAD: Final = r"in|during|since|by|until|till|before|after|from|around"
"""After these, "may" and "march" are months."""

_AFTER: Final = lazy_pattern(rf"(?:'s)?\s+(?:in\s+the\s+|at\s+)?{_one_of(DAYPARTS, 'part')}\b")
_PART: Final = lazy_pattern(
    r"\b(?:(?P<part>early|mid|late)|(?:the\s+)?(?P<edge>beginning|start|middle|end|weekend"
    rf"|(?:first|second|last)\s+half|(?:first|second|third|fourth|last)\s+week|{'|'.join(DAYPARTS)})\s+of)(?:\s+the)?[\s-]+$"
)
_SIDE: Final = lazy_pattern(
    rf"\b(?:(?:the|{_COUNT})\s+(?P<unit>day|night|week|month|year)s?\s+)?"
    r"(?P<side>before|after|since)\s+(?P<between>(?:[\w'-]+\s+){0,4})$"
)
_LITTLE: Final = frozenset({"in", "on", "at", "the", "of", "during", "last", "this", "next"})
"""Words between "since" and a time that change nothing."""
_AHEAD: Final = lazy_pattern(r"\b(?:will|won't|shall|going\s+to|upcoming)\b|'ll\b")
"""With these a date without a year is the next one."""


def _refined(text: str, hit: re.Match[str], span: TimeSpan, here: datetime) -> tuple[str, TimeSpan]:
    """The words that name a time and the time, changed by what stands before and after them."""
    first, end = hit.start(), hit.end()
    start = hit.start("time") if "time" in hit.re.groupindex else first
    if part := _AFTER.match(text, end):
        span, end = part_of_day(span, part["part"]), part.end()
    if part := _PART.search(text[:start]):
        name, start = part["part"] or part["edge"], part.start()
        if name == "weekend":
            span = period("weekend", 0, span[0]) if span[1] - span[0] == ONE_DAY else span
        else:
            span = part_of_day(span, name) if name in DAYPARTS else part_of_span(span, name)
    if side := _SIDE.search(text[:start]):
        sign = -1 if side["side"] == "before" else 1
        least, most = _counted(side)
        if side["unit"] is not None:
            unit = side["unit"].replace("night", "day")
            start, span = side.start(), beside(span, unit, sign * least, sign * most)
        elif _LITTLE.issuperset(side["between"].split()):
            start, span = side.start(), open_span(span, side["side"], here)
    return text[min(first, start) : end].strip(), span


def _counted(hit: re.Match[str]) -> tuple[int, int]:
    """The least and the most that a count means; 1 where there is none."""
    if hit["vague"] is not None:
        return VAGUE[hit["vague"]]
    text = hit["count"] or "1"
    count = int(text) if text.isdecimal() else NUMBERS[text]
    return count, count


# -- times counted from today ----------------------------------------------------------------------


def _near(hit: re.Match[str], here: datetime) -> TimeSpan:
    """Today and the days beside it, or a part of one."""
    today = midnight(here)
    if hit[0] == "the other day":
        return today - 7 * ONE_DAY, today
    before_last = hit[0].startswith("the night")
    back = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(hit[0], -2 * before_last)
    day = day_at(today + back * ONE_DAY)
    part = "night" if before_last or hit[0].endswith("night") else hit["part"]
    return day if part is None else part_of_day(day, part)


def _ago(hit: re.Match[str], here: datetime) -> TimeSpan:
    least, most = _counted(hit)
    return units_away(hit["unit"], -least, -most, here)


def _weekends_ago(hit: re.Match[str], here: datetime) -> TimeSpan:
    least, most = _counted(hit)
    today = midnight(here)
    return period("weekend", -most, today)[0], period("weekend", -least, today)[1]


def _rolling(hit: re.Match[str], here: datetime) -> TimeSpan:
    """The past three weeks, up to and with today; the next three, from today on."""
    today, most = midnight(here), _counted(hit)[1]
    unit = hit["unit"] or hit["single"]
    if unit == "hour":
        sharp = here.replace(minute=0, second=0, microsecond=0)
        return sharp - timedelta(hours=most), sharp + timedelta(hours=1)
    far = today + (most if hit["which"] == "next" else -most) * _UNITS[unit] * ONE_DAY
    return min(today, far), max(today, far) + ONE_DAY


def _period(hit: re.Match[str], here: datetime) -> TimeSpan:
    if hit["twice"] is None:
        return period(hit["unit"], _STEPS[hit["which"]], midnight(here))
    return period(hit["again"], -2 if "before" in hit["twice"] else 2, midnight(here))


def _weekend(hit: re.Match[str], here: datetime) -> TimeSpan:
    """The weekend that it is, or the one before today."""
    del hit
    today = midnight(here)
    saturday = today - (today.weekday() - WEEKDAYS["saturday"]) % 7 * ONE_DAY
    return saturday, saturday + 2 * ONE_DAY


def _weekday_of_week(hit: re.Match[str], here: datetime) -> TimeSpan:
    """Monday two weeks ago, Friday of last week: that day of that calendar week."""
    which = hit["which"] or hit["first"]
    weeks = -_counted(hit)[0] if which is None else _STEPS[which]
    monday = period("week", weeks, midnight(here))[0]
    return day_at(monday + WEEKDAYS[hit["day"] or hit["then"]] * ONE_DAY)


def _weekday(hit: re.Match[str], here: datetime) -> TimeSpan:
    """The latest such day before today; with "this" the one of this week, with "next" ahead."""
    today, day = midnight(here), WEEKDAYS[hit["day"]]
    which = hit.groupdict().get("which")
    if which == "this":
        return day_at(today + (day - today.weekday()) * ONE_DAY)
    if which == "next" or (which is None and _AHEAD.search(hit.string)):
        return day_at(today + ((day - today.weekday()) % 7 or 7) * ONE_DAY)
    return day_at(today - ((today.weekday() - day) % 7 or 7) * ONE_DAY)


def _recently(hit: re.Match[str], here: datetime) -> TimeSpan:
    del hit
    tomorrow = midnight(here) + ONE_DAY
    return tomorrow - _RECENT * ONE_DAY, tomorrow


# -- times of the calendar -------------------------------------------------------------------------


def _date(year: int, month: int, day: int) -> TimeSpan:
    return day_at(datetime(year, month, day, tzinfo=UTC))


def _year(hit: re.Match[str], month: int, day: int, here: datetime) -> int:
    """The year that is named, or that of the latest such date; of the next, if it lies ahead."""
    if hit["year"]:
        return int(hit["year"])
    year = latest_year(month, day, here)
    ahead = _AHEAD.search(hit.string) and (year, month, day) != (here.year, here.month, here.day)
    return year + 1 if ahead else year


def _iso(hit: re.Match[str], here: datetime) -> TimeSpan:
    del here
    year, month = int(hit["year"]), int(hit["number"])
    if hit["date"] is None:
        return _date(year, month, 1)[0], months_from(year, month)[1]
    return _date(year, month, int(hit["date"]))


def _slashed(hit: re.Match[str], here: datetime) -> TimeSpan:
    """A date of numbers; a ValueError where either could be the month."""
    month, day = sorted((int(hit["one"]), int(hit["two"])))
    if month != day <= 12:  # noqa: PLR2004  # months of a year
        raise ValueError("the date is ambiguous: either number could be the month")
    return _date(_year(hit, month, day, here), month, day)


def _written(hit: re.Match[str], here: datetime) -> TimeSpan:
    """A date with the name of its month."""
    month, day = MONTHS[hit["month"] or hit["other"]], int(hit["date"] or hit["number"])
    return _date(_year(hit, month, day, here), month, day)


def _day_of_month(hit: re.Match[str], here: datetime) -> TimeSpan:
    """On the 12th: the latest one."""
    day = int(hit["date"])
    month = months_from(here.year, here.month - (day > here.day))[0]
    return _date(month.year, month.month, day)


def _named(hit: re.Match[str], here: datetime) -> TimeSpan:
    """A month, a quarter or a season."""
    groups = hit.groupdict()
    length = 1 if groups.get("month") else 3
    if groups.get("month"):
        month = MONTHS[hit["month"]]
    elif groups.get("season"):
        month = SEASONS[hit["season"]]
    else:
        month = 3 * int(hit["quarter"] or _ORDINALS[hit["word"]]) - 2
    if groups.get("year"):
        return months_from(int(hit["year"]), month, length)
    year = latest_year(month, 1, here)
    running = months_from(year, month, length)[1] > here
    which = groups.get("which") or ("ahead" if _AHEAD.search(hit.string) else None)
    match which:
        case "last" if running:  # asked in March, "last March" is a year ago
            year -= 1
        case "this" if not running:
            year = here.year
        case "ahead" if not running:
            year += 1
        case "next":
            year += 1
        case _:
            pass
    return months_from(year, month, length)


def _named_feast(hit: re.Match[str], here: datetime) -> TimeSpan:
    name, groups = hit["feast"], hit.groupdict()
    which = groups.get("which")
    if groups.get("year"):
        return feast(name, int(hit["year"]))
    begun = feast(name, here.year)[0] <= here
    if which == "this":
        return feast(name, here.year)
    if which == "next":
        return feast(name, here.year + begun)
    return feast(name, here.year - (not begun))


def _named_year(hit: re.Match[str], here: datetime) -> TimeSpan:
    del here
    return months_from(int(hit["year"]), 1, 12)


# -- rules -----------------------------------------------------------------------------------------

_Rule = tuple[str, Callable[[re.Match[str], datetime], TimeSpan]]
_PATTERNS: Final[tuple[_Rule, ...]] = (
    (
        rf"{_DAY},?\s+(?:of\s+)?(?:{_WHICH}\s+week|{_COUNT}\s+weeks?\s+ago)\b"
        rf"|(?P<first>last|this|next)\s+week,?\s+(?:on\s+)?(?P<then>{'|'.join(WEEKDAYS)})\b",
        _weekday_of_week,
    ),
    (
        r"(?:yesterday|today|tomorrow|tonight|last\s+night|the\s+night\s+before\s+last|the\s+other\s+day"
        r"|this\s+(?P<part>morning|afternoon|evening))\b",
        _near,
    ),
    (rf"{_COUNT}\s+{_UNIT}s?\s+ago\b", _ago),
    (rf"{_COUNT}\s+weekends?\s+ago\b", _weekends_ago),
    (
        rf"(?:(?P<which>last|past|previous|next)\s+{_COUNT}\s+{_UNIT}s?"
        r"|(?:past|(?:over|within|during|in)\s+the\s+last)\s+(?P<single>hour|day|week|month|year))"
        r"\b(?!\s+of\b)",
        _rolling,
    ),
    (
        rf"(?P<which>{'|'.join(_STEPS)})\s+(?P<unit>week|weekend|month|quarter|year)\b(?!\s+of\b)"
        r"|the\s+(?P<again>week|weekend|month|quarter|year)\s+(?P<twice>before\s+last|after\s+next)\b",
        _period,
    ),
    (r"(?:(?:over|at|on|during)\s+the|this\s+past)\s+weekend\b(?!\s+of\b)", _weekend),
    (r"(?P<year>(?:19|20)\d\d)[-/](?P<number>\d{1,2})(?:[-/](?P<date>\d{1,2}))?\b", _iso),
    (
        rf"(?:{_MONTH}\s+(?P<date>\d{{1,2}})(?:st|nd|rd|th)?|(?P<number>\d{{1,2}})(?:st|nd|rd|th)?"
        rf"\s+(?:of\s+)?(?P<other>{'|'.join(MONTHS)})\b\.?)(?:{_OF_YEAR})?\b",
        _written,
    ),
    (
        r"(?:on\s+(?=\d{1,2}/\d{1,2}\b)|(?=\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d\d\b))"
        rf"(?P<time>(?P<one>\d{{1,2}})[/.](?P<two>\d{{1,2}})(?:[/.]{_YEAR})?)\b",
        _slashed,
    ),
    (r"on\s+the\s+(?P<date>\d{1,2})(?:st|nd|rd|th)(?=\s*(?:[?.!,;]|$))", _day_of_month),
    (rf"{_MONTH}{_OF_YEAR}", _named),
    (
        r"(?!(?:this|early|late)\s+may\b)"  # "this may be", "too late may mean"
        rf"(?:(?:{_LEAD}|of)\s+(?:(?:early|mid|late)[\s-]+)?|(?:early|mid|late)[\s-]+|{_WHICH}\s+)"
        rf"(?P<time>{_MONTH})(?!\w)",
        _named,
    ),
    (rf"{_SEASON}{_OF_YEAR}", _named),
    (
        r"(?!(?:in|by)\s+(?:spring|fall)\b|by\s+the\s+fall\b)"  # a framework, an accident
        rf"(?:{_WHICH}|(?:in|during|since|by|until)(?:\s+the)?)\s+(?P<time>{_SEASON})\b",
        _named,
    ),
    (
        rf"(?:q(?P<quarter>[1-4])|{_one_of(_ORDINALS, 'word')}\s+quarter)"
        rf"(?:(?:\s+of)?[\s/-]+{_YEAR})?\b",
        _named,
    ),
    (rf"{_FEAST}{_OF_YEAR}", _named_feast),
    (
        r"(?:(?:at|on|over|during|for|before|after|since|until|by|around|of)(?:\s+the)?"
        rf"|{_WHICH})\s+(?P<time>{_FEAST})\b",
        _named_feast,
    ),
    (
        rf"(?:{_LEAD}|throughout|(?:half|year|rest|course|beginning|start|middle|end)\s+of)"
        rf"\s+(?P<time>{_YEAR})",
        _named_year,
    ),
    (rf"(?:on|since|before|after|this\s+past|{_WHICH})\s+(?P<time>{_DAY})\b", _weekday),
    (rf"{_DAY}(?='s\b|\s+(?:{'|'.join(DAYPARTS)})\b)", _weekday),
    (
        # "recently" alone is left out: questions about any year have it.
        r"(?:most\s+recent(?:ly)?|latest|newest)\b|when\b[^?.!]{0,60}?\slast\b",
        _recently,
    ),
)
"""The first that matches decides: what says more comes before what says less."""
_RULES: Final = tuple(
    (lazy_pattern(rf"\b(?:{pattern})"), span_of) for pattern, span_of in _PATTERNS
)
