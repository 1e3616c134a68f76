"""Times in filters: durations that a caller gives, and times as people read them.

`memory.build_query` and `memory.browsing` call `dated` before `where.parse_where`; `why.obstacle`
shows a filter with `shown_data`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.errors import BadFilter
from memoriter.core.times import Now, duration, iso, micros

AHEAD: Final = frozenset({"expires", "valid_until"})
"""Times that lie ahead, as a rule: a duration counts forward there, as when they are written."""


class Dated(str):
    """A time as ISO 8601 text that was given as a duration; error messages show the duration."""

    __slots__ = ("given",)

    def __new__(cls, moment: int, given: object) -> Dated:
        """The text of a moment, and what the caller wrote for it."""
        self = super().__new__(cls, iso(moment))
        self.given = str(given)
        return self


def shown_data(data: Mapping[str, object]) -> object:
    """A filter as `where.to_data` gives it, for people: with times as ISO 8601 text."""
    return _with_iso(data, is_time=False)


def _with_iso(data: object, *, is_time: bool) -> object:
    if isinstance(data, Mapping):
        mapping = cast("Mapping[str, object]", data)
        return {
            key: _with_iso(value, is_time=is_time or ATTRIBUTES.get(key) == "time")
            for key, value in mapping.items()
        }
    if isinstance(data, list):
        return [_with_iso(each, is_time=is_time) for each in cast("list[object]", data)]
    return iso(data) if is_time and isinstance(data, int) and not isinstance(data, bool) else data


def dated(data: object, now: Now) -> object:
    """The filter with every duration replaced by a time, counted from now."""
    if isinstance(data, Mapping):
        mapping = cast("Mapping[object, object]", data)
        return {
            key: _moments(value, now, ahead=key in AHEAD)
            if ATTRIBUTES.get(str(key)) == "time"
            else dated(value, now)
            for key, value in mapping.items()
        }
    if isinstance(data, list | tuple):
        return [dated(each, now) for each in cast("Sequence[object]", data)]
    return data


def _moments(value: object, now: Now, *, ahead: bool, compared: bool = False) -> object:
    if isinstance(value, Mapping):
        mapping = cast("Mapping[object, object]", value)
        return {
            key: _moments(each, now, ahead=ahead, compared=True) for key, each in mapping.items()
        }
    if isinstance(value, list | tuple):
        return [
            _moments(each, now, ahead=ahead, compared=compared)
            for each in cast("Sequence[object]", value)
        ]
    if duration(value, ahead=ahead) is None:
        return value
    if not compared:
        raise BadFilter(
            f"where: the duration {value} needs an operator, because alone it means one exact"
            " moment",
            hint=f'write {{"gte": "{value}"}} for "since then", {{"lt": "{value}"}} for "before"',
            field="where",
        )
    moment = micros(value, "where", BadFilter, now, ahead=ahead)
    return Dated(moment, value) if isinstance(value, str) else iso(moment)
