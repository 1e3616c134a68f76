"""Times: int64 microseconds since 1970, UTC. Intervals are half-open.

A naive datetime is refused, because nobody can say which moment it is. A bare date is its midnight
in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from memoriter.core.errors import BadRecord, InputError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO: Final = timedelta(microseconds=1)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
MIN_TIME: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICRO
MAX_TIME: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICRO
TimeLike = int | str | date | datetime
"""What a caller may give for a time."""


def micros(value: object, field: str, error: type[InputError] = BadRecord) -> int:
    """The time as microseconds UTC: an aware datetime, a date, ISO 8601 text, or an int already.

    >>> micros("2026-10-01", "as_of")
    1790812800000000
    >>> micros("1970-01-01T01:00:00+01:00", "as_of")
    0
    """
    if isinstance(value, bool):
        raise error(f"{field}: {value!r} is not a time", hint=_HINT, field=field)
    if isinstance(value, int):
        return _in_range(value, field, error)
    if isinstance(value, str):
        value = _parse(value, field, error)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise error(
                f"{field}: {value.isoformat()} has no time zone",
                hint="say which moment is meant: add an offset such as +00:00, or use a bare date",
                field=field,
            )
        return _in_range((value - _EPOCH) // _MICRO, field, error)
    if isinstance(value, date):
        return (datetime(value.year, value.month, value.day, tzinfo=UTC) - _EPOCH) // _MICRO
    raise error(f"{field}: {type(value).__name__} is not a time", hint=_HINT, field=field)


_HINT: Final = "give ISO 8601 text, an aware datetime, a date, or microseconds since 1970 (UTC)"


def _in_range(value: int, field: str, error: type[InputError]) -> int:
    if not MIN_TIME <= value <= MAX_TIME:
        raise error(f"{field}: lies outside the years 1 to 9999", hint=_HINT, field=field)
    return value


def _parse(text: str, field: str, error: type[InputError]) -> datetime | date:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else datetime.fromisoformat(text)
    except ValueError:
        raise error(f"{field}: {text!r} is not a time", hint=_HINT, field=field) from None


def iso(value: int) -> str:
    """The time as ISO 8601 text in UTC.

    >>> iso(0)
    '1970-01-01T00:00:00Z'
    """
    moment = _EPOCH + timedelta(microseconds=value)
    return moment.isoformat().replace("+00:00", "Z")
