"""Where, once more: read straight from its data, on one record at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from memoriter.core.fold import fold
from memoriter.core.record import Record
from memoriter.core.times import micros

_TIMES: Final = ("created", "committed", "occurred", "valid_from", "valid_until", "expires")
_SETS: Final = ("tags", "concepts", "entities", "refs")
_OPERATORS: Final = (
    "eq", "in", "any", "all", "prefix", "exists", "gt", "gte", "lt", "lte",
    "eq_fold", "in_fold", "any_fold", "all_fold", "prefix_fold",
)  # fmt: skip
_ABSENT: Final = object()


def passes(data: object, record: Record) -> bool:
    """Whether a record passes a filter, given as data; the filter is known to be well formed."""
    if data is None:
        return True
    return all(_passes(key, value, record) for key, value in cast("dict[str, Any]", data).items())


def _passes(key: str, value: Any, record: Record) -> bool:
    match key:
        case "all" | "and":
            return all(passes(part, record) for part in value)
        case "any" | "or":
            return any(passes(part, record) for part in value)
        case "not":
            return not passes(value, record)
        case _:
            return _attribute(key, value, record)


def _attribute(name: str, given: Any, record: Record) -> bool:
    value = _read(name, record)
    if not isinstance(given, Mapping):
        return _bare(name, given, value)
    spec = cast("dict[str, Any]", given)
    if name.startswith("metadata") and not all(key in _OPERATORS for key in spec):
        below = ((f"{name}.{key.replace('.', chr(92) + '.')}", each) for key, each in spec.items())
        return all(_attribute(path, each, record) for path, each in below)
    if name == "source":
        return all(_attribute(f"source.{key}", each, record) for key, each in spec.items())
    return all(_test(name, op, wanted, value) for op, wanted in spec.items())


def _bare(name: str, given: Any, value: Any) -> bool:
    """A value or a list of values without an operator: some value is one of these."""
    wanted = cast("list[Any]", given) if isinstance(given, list) else [given]
    several = name in _SETS or name.startswith("metadata.")
    return _test(name, "any" if several else "in", wanted, value)


def _read(attribute: str, record: Record) -> Any:
    """The value of an attribute, or `_ABSENT`."""
    if attribute.startswith("metadata."):
        value: Any = record.metadata
        for key in re.split(r"(?<!\\)\.", attribute)[1:]:
            name = key.replace("\\.", ".")
            if not isinstance(value, dict) or name not in value:
                return _ABSENT
            value = cast("dict[str, Any]", value)[name]
        return value
    if attribute in _SETS:
        return list(getattr(record, attribute)) or _ABSENT
    holder: object = record
    for part in attribute.split("."):
        holder = getattr(holder, part)
    return _ABSENT if holder is None else holder


def _test(attribute: str, op: str, wanted: Any, value: Any) -> bool:
    if op == "exists":
        return (value is not _ABSENT) is wanted
    if value is _ABSENT:
        return False
    if attribute in _TIMES:
        wanted, value = _times(wanted), micros(value, "time")
    word, _, folded = op.partition("_")
    if folded:
        wanted, value = _fold(wanted), _fold(value)
    return _holds(word, wanted, value)


def _holds(word: str, wanted: Any, value: Any) -> bool:
    """Whether a value that is there passes."""
    several = cast("list[Any]", value) if isinstance(value, list) else [value]
    match word:
        case "eq":
            return _equal(wanted, value)
        case "in":
            return any(_equal(each, value) for each in wanted)
        case "any" | "all":
            hits = [any(_equal(each, one) for one in several) for each in wanted]
            return bool(hits) and (any(hits) if word == "any" else all(hits))
        case "prefix":
            texts = (one for one in several if isinstance(one, str))
            return any(one.startswith(wanted) for one in texts)
        case _:
            return _compares(word, value, wanted)


def _times(wanted: Any) -> Any:
    if isinstance(wanted, list | tuple):
        return [micros(each, "time") for each in cast("Sequence[object]", wanted)]
    return micros(cast("object", wanted), "time")


def _fold(value: Any) -> Any:
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, list | tuple):
        return [_fold(each) for each in cast("list[Any]", value)]
    return value


def _equal(a: Any, b: Any) -> bool:
    """Equality without coercion: a number equals a number, nothing else mixes."""
    return _sort(a) == _sort(b) != "other" and a == b


def _sort(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "flag"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return "other"


def _compares(op: str, value: Any, bound: Any) -> bool:
    if _sort(value) != _sort(bound) or _sort(value) not in {"number", "text"}:
        return False
    return {
        "gt": value > bound,
        "gte": value >= bound,
        "lt": value < bound,
        "lte": value <= bound,
    }[op]
