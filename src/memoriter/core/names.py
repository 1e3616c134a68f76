"""Validation of input values: names, texts, numbers, metadata.

Each function returns the normalised value, or raises `error` with the name of the field.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Set
from typing import Any, Final, cast

from memoriter.core.errors import BadRecord, InputError
from memoriter.core.fold import calm

NAME_LIMIT: Final = 128
LABEL_LIMIT: Final = 512
TEXT_LIMIT: Final = 16 * 1024 * 1024
LIST_LIMIT: Final = 1000
METADATA_LIMIT: Final = 64 * 1024
METADATA_DEPTH: Final = 8
EXACT_INT: Final = 2**53
"""The largest integer that a float, and so any JSON reader, holds exactly."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
JsonObject = dict[str, Any]
"""An object of JSON whose values are read without a check of their types."""
Error = type[InputError]


def text(
    value: object, field: str, error: Error = BadRecord, limit: int = TEXT_LIMIT, slack: int = 1
) -> str:
    """Any text that UTF-8 can encode, unchanged; `slack` times the limit passes."""
    if not isinstance(value, str):
        hint = "pass its id: .id" if field == "id" and hasattr(value, "id") else ""
        raise error(f"{field}: expected text, got {type(value).__name__}", hint=hint, field=field)
    if len(value) > slack * limit:
        raise _too_long(len(value), field, error, limit)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as bad:
        raise error(
            f"{field}: has a lone surrogate (half a character) at index {bad.start}",
            hint="the text was decoded wrongly; decode it as UTF-8 or UTF-16",
            field=field,
        ) from None
    return value


def _too_long(length: int, field: str, error: Error, limit: int) -> InputError:
    hint = "split the text into several records" if field == "text" else "shorten it"
    return error(
        f"{field}: has {length:,} characters, at most {limit:,} are allowed", hint=hint, field=field
    )


def name(value: object, field: str, error: Error = BadRecord, limit: int = NAME_LIMIT) -> str:
    """A name: not empty, NFC, no control characters; case and spaces are kept."""
    # The limit before normalising is generous: NFC may shorten a text, but never 16-fold.
    clean = unicodedata.normalize("NFC", calm(text(value, field, error, limit, slack=16)))
    if not clean:
        raise error(f"{field}: must not be empty", field=field)
    if len(clean) > limit:
        raise _too_long(len(clean), field, error, limit)
    if any(unicodedata.category(char) == "Cc" for char in clean):
        raise error(
            f"{field}: {clean!r} has a control character, such as a line break or a tab",
            hint="remove the control character",
            field=field,
        )
    return clean


def names(value: object, field: str, error: Error = BadRecord) -> tuple[str, ...]:
    """One name or a list of names, without repeats and in the order given."""
    if isinstance(value, str):
        return (name(value, field, error, LABEL_LIMIT),)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        got = type(cast("object", value)).__name__
        raise error(f"{field}: expected a text or a list of texts, got {got}", field=field)
    items = listed(cast("Iterable[object]", value))
    if len(items) > LIST_LIMIT:
        raise error(
            f"{field}: has {len(items)} entries, at most {LIST_LIMIT} are allowed", field=field
        )
    clean = (name(item, f"{field}[{at}]", error, LABEL_LIMIT) for at, item in enumerate(items))
    return tuple(dict.fromkeys(clean))


def listed(items: Iterable[object]) -> list[object]:
    """The items as a list; a set is sorted, because its order changes between processes."""
    return sorted(items, key=repr) if isinstance(items, Set) else list(items)


def number(value: object, field: str, low: float, high: float, error: Error = BadRecord) -> float:
    """A finite number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise error(f"{field}: expected a number, got {type(value).__name__}", field=field)
    try:
        clean = float(value)
    except OverflowError:
        text = f"{field}: the number is not between {low:g} and {high:g}"
        raise error(text, field=field) from None
    if not math.isfinite(clean) or not low <= clean <= high:
        raise error(f"{field}: {value!r} is not between {low:g} and {high:g}", field=field)
    return clean


def integer(value: object, field: str, low: int, high: int, error: Error = BadRecord) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise error(f"{field}: expected a whole number, got {type(value).__name__}", field=field)
    if not low <= value <= high:
        shown = str(value) if abs(value) < 10**30 else "the number"
        raise error(f"{field}: {shown} is not between {low} and {high}", field=field)
    return value


def choice(value: object, field: str, allowed: tuple[str, ...], error: Error = BadRecord) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise error(f"{field}: {value!r} is not one of {', '.join(allowed)}", field=field)
    return value


def flag(value: object, field: str, error: Error = BadRecord) -> bool:
    """True or False; 0 and 1 are refused."""
    if not isinstance(value, bool):
        raise error(f"{field}: expected true or false, got {type(value).__name__}", field=field)
    return value


def metadata(value: object, field: str, error: Error = BadRecord) -> dict[str, Json]:
    """A JSON object: at most 64 kB and eight levels deep, no NaN, no ints beyond 2^53."""
    if not isinstance(value, Mapping):
        raise error(
            f"{field}: expected an object, got {type(value).__name__}",
            hint='for example {"topic": "ops"}',
            field=field,
        )
    clean = _json(cast("object", value), field, METADATA_DEPTH, error)
    size = _size(clean)
    if size > METADATA_LIMIT:
        raise error(
            f"{field}: has {size:,} bytes as JSON, at most {METADATA_LIMIT:,} are allowed",
            hint="keep large values elsewhere and store a reference to them",
            field=field,
        )
    return cast("dict[str, Json]", clean)


def _size(value: Json) -> int:
    """An upper bound of the size as JSON, without encoding it."""
    if isinstance(value, dict):
        return 2 + sum(len(key.encode()) + 4 + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + _size(item) for item in value)
    return len(value.encode()) + 2 if isinstance(value, str) else len(repr(value))


def _json(value: object, field: str, depth: int, error: Error) -> Json:
    if isinstance(value, Mapping | list | tuple):
        if depth == 0:
            raise error(
                f"{field}: objects and lists are nested more than {METADATA_DEPTH} levels deep",
                hint="use fewer levels",
                field=field,
            )
        return _nested(cast("object", value), field, depth - 1, error)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, field, error)
    if isinstance(value, int):
        return integer(value, field, -EXACT_INT, EXACT_INT, error)
    if isinstance(value, float):
        if not math.isfinite(value):
            hint = "a number must be finite"
            raise error(f"{field}: {value} is not a JSON number", hint=hint, field=field)
        return value
    raise error(
        f"{field}: a value of the type {type(value).__name__} cannot be stored as JSON",
        hint="use text, numbers, true, false, null, lists and objects with text as keys",
        field=field,
    )


def _nested(value: object, field: str, depth: int, error: Error) -> Json:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        out: dict[str, Json] = {}
        for key, item in pairs:
            clean = text(key, f"{field} key", error, LABEL_LIMIT)
            out[clean] = _json(item, f"{field}.{clean}", depth, error)
        return out
    items = cast("list[object] | tuple[object, ...]", value)
    return [_json(item, f"{field}[{at}]", depth, error) for at, item in enumerate(items)]
