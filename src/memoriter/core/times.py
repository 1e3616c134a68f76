"""Times: aware `datetime` in Python, ISO 8601 in JSON, int64 microseconds (UTC) inside.

A naive datetime is refused, because its moment is ambiguous. A bare date means midnight UTC. A
duration such as `30d` counts from now: backward, or forward for times that lie in the future
(`expires`, `valid_until`); a sign is explicit: `-2h`, `+2h`. Intervals are half-open.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from memoriter.core.errors import BadRecord, InputError
from memoriter.core.foreign import duration_meant
from memoriter.core.lazy_pattern import lazy_pattern

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)
_DATE: Final = lazy_pattern(r"\d{4}-\d{2}-\d{2}")
_DURATION: Final = lazy_pattern(r"([+-]?)(\d{1,9})(s|m|h|d|w|y)")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
"""Seconds in each unit; a year has 365 days."""
MIN_TIME: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICRO
MAX_TIME: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICRO
TimeLike = str | datetime | date | timedelta | int
"""The types that a caller may pass for a time."""
Now = Callable[[], int]
"""Returns the present in microseconds; called only if a duration has to be resolved."""


def micros(
    value: object,
    field: str,
    error: type[InputError] = BadRecord,
    now: Now | None = None,
    *,
    ahead: bool = False,
) -> int:
    """The time as microseconds UTC.

    Args:
        value: An aware datetime, a date, ISO 8601 text, a duration, or microseconds already.
        field: The name of the input, for errors.
        error: The type of error to raise.
        now: The present, for durations; without it they are refused.
        ahead: Whether a duration without a sign counts forward.

    >>> micros("2026-10-01", "as_of")
    1790812800000000
    >>> micros("1970-01-01T01:00:00+01:00", "as_of")
    0
    >>> micros("2h", "expires", now=lambda: 0, ahead=True)
    7200000000
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value in _SECONDS_OR_MILLIS:
            raise error(
                f"{field}: an integer counts microseconds since 1970, so {value} is in the year"
                f" {to_datetime(value).year}",
                hint=_SECONDS,
                field=field,
            )
        return _in_range(value, field, error)
    if (length := duration(value, ahead=ahead)) is not None:
        if now is None:
            raise error(
                f"{field}: {value} is a duration, but a point in time is required here",
                hint="give a time such as 2024-03-01 or 2024-03-01T09:30+00:00",
                field=field,
            )
        return _in_range(now() + length, field, error)
    when = _parse(value, field, error) if isinstance(value, str) else value
    if isinstance(when, datetime):
        if when.utcoffset() is None:
            raise error(
                f"{field}: {when.isoformat()} has no time zone",
                hint="add an offset such as +00:00, or use a bare date",
                field=field,
            )
        return _in_range(to_micros(when), field, error)
    if isinstance(when, date):
        return to_micros(datetime(when.year, when.month, when.day, tzinfo=UTC))
    hint = _SECONDS if isinstance(when, float) else _HINT
    raise error(f"{field}: expected a time, got {type(when).__name__}", hint=hint, field=field)


_SECONDS_OR_MILLIS: Final = range(10**9, 10**14)
"""As seconds or milliseconds since 1970 these are times of our days; as microseconds they would be
before April 1973, which nobody means."""
_FIRST_MILLIS: Final = 10**11
"""From here on it is taken for milliseconds: as seconds it would lie after the year 5000."""
_SECONDS: Final = "for seconds since 1970 use datetime.fromtimestamp(seconds, timezone.utc)"
_HINT: Final = (
    "give ISO 8601 text, an aware datetime, a date, or a duration: a whole number and one of"
    " s, m (minutes), h, d, w, y, such as 30d or 90m"
)


def duration(value: object, *, ahead: bool) -> int | None:
    """The offset from now in microseconds; None if the value is not a duration.

    >>> duration("30d", ahead=True), duration("2h", ahead=False), duration("2026-10-01", ahead=True)
    (2592000000000, -7200000000, None)
    """
    if isinstance(value, timedelta):
        length = value // _MICRO
        return length if ahead else -length
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    sign, count, unit = match.groups()
    length = int(count) * _UNITS[unit] * 1_000_000
    return length if sign == "+" or (ahead and not sign) else -length


def _in_range(value: int, field: str, error: type[InputError]) -> int:
    if not MIN_TIME <= value <= MAX_TIME:
        raise error(
            f"{field}: the time lies outside the years 1 to 9999",
            hint="give a time within these years", field=field,
        )  # fmt: skip
    return value


def _parse(text: str, field: str, error: type[InputError]) -> datetime | date:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else datetime.fromisoformat(text)
    except ValueError:
        meant = duration_meant(text) or _since_1970(text)
        hint = f'did you mean "{meant}"? {_HINT}' if meant else _HINT
        raise error(f"{field}: {text!r} is not a time", hint=hint, field=field) from None


def _since_1970(text: str) -> str | None:
    """The time that a text means as seconds or milliseconds since 1970; None if it is none."""
    if not (text.isascii() and text.isdigit()) or int(text[:15]) not in _SECONDS_OR_MILLIS:
        return None
    seconds = int(text) if int(text) < _FIRST_MILLIS else int(text) // 1000
    return iso(seconds * 1_000_000)


@lru_cache(maxsize=256)  # the records of a batch share theirs
def to_datetime(value: int) -> datetime:
    """The time as an aware datetime in UTC.

    >>> to_datetime(0)
    datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    return _EPOCH + timedelta(microseconds=value)


def to_micros(value: datetime) -> int:
    """Microseconds since 1970 of an aware datetime: the inverse of `to_datetime`."""
    return (value - _EPOCH) // _MICRO


def iso(value: int | datetime) -> str:
    """The time as ISO 8601 text in UTC.

    >>> iso(0)
    '1970-01-01T00:00:00Z'
    """
    when = to_datetime(value) if isinstance(value, int) else value
    return when.isoformat().replace("+00:00", "Z")
