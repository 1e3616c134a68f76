"""JSON bodies of requests and replies: strict to parse, compact to write."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NoReturn, cast

from memoriter.core.errors import InputError

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse_body(body: bytes, depth: int) -> object:
    """The JSON value of a body; an empty body is an empty object.

    Raises InputError if it is not UTF-8, not JSON, or nested more than `depth` deep. NaN, Infinity
    and numbers that no double can hold are refused, though Python would read them.
    """
    if not body.strip():
        return {}
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8", hint="send JSON in UTF-8") from None
    except RecursionError:
        raise _too_deep(depth) from None
    except ValueError as error:
        raise InputError(f"the body is not JSON: {error}", hint="send one JSON value") from None
    # Counting brackets is fast and never too low, so most bodies need no walk through the value.
    if body.count(b"[") + body.count(b"{") > depth and _deeper(value, depth):
        raise _too_deep(depth)
    return value


def to_json(value: object) -> bytes:
    """The value as JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes `?`."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _deeper(value: object, depth: int) -> bool:
    """Whether lists and objects are nested more than `depth` deep.

    Level by level and not recursively: the value may be deeper than Python's stack.
    """
    level: list[object] = [value]
    for _ in range(depth):
        level = [inner for each in level for inner in _inside(each)]
    return any(isinstance(each, dict | list) for each in level)


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value).values()
    elif isinstance(value, list):
        yield from cast("list[Any]", value)


def _too_deep(depth: int) -> InputError:
    return InputError(f"the body is nested more than {depth} deep", hint="send a flatter one")


def _finite(text: str) -> float:
    """The number, refused if it overflows a double: JSON may contain 1e999."""
    number = float(text)
    return number if math.isfinite(number) else _refuse(text[:40])


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
