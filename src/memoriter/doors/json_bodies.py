"""JSON bodies of requests and replies: counted before they are parsed, strict to parse.

A body is counted as bytes, by the commas and brackets outside of its texts: what has too many
values or is nested too deeply costs no more than reading it once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from memoriter.core.errors import InputError, TooLarge
from memoriter.core.strict_json import strict_json

DEPTH: Final = 64
"""How deeply JSON may be nested."""
VALUES: Final = 1_000_000
"""How many values a body may have: about as many as a receipt of four mebibytes."""
OBJECTS: Final = 200_000
"""How many of them may be objects."""
_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse_body(body: bytes, depth: int = DEPTH) -> object:
    """The JSON value of a body; an empty body is an empty object.

    Raises TooLarge if it has too many values, InputError if it is not UTF-8, not JSON, has a key
    twice in one object, or is nested more than `depth` deep. NaN, Infinity and numbers that no
    double can hold are refused, though Python would read them.
    """
    if not body.strip():
        return {}
    _check_counts(body)
    try:
        value = strict_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8", hint="send JSON in UTF-8") from None
    except ValueError as error:
        if "nested" in str(error):
            raise _too_deep(depth) from None
        raise InputError(f"the body is not JSON: {error}", hint="send one JSON value") from None
    # Counting brackets is fast and never too low, so most bodies need no walk through the value.
    if body.count(b"[") + body.count(b"{") > depth and _deeper(value, depth):
        raise _too_deep(depth)
    return value


def _check_counts(body: bytes) -> None:
    """Raise TooLarge if a body has too many values or objects; its texts do not count."""
    if _within(body):
        return
    if not _within(_TEXT.sub(b'"', body)):
        raise TooLarge(
            f"the body has more than {VALUES:,} values or {OBJECTS:,} objects",
            hint="split it into several requests",
        )


def _within(body: bytes) -> bool:
    objects = body.count(b"{")
    return objects <= OBJECTS and body.count(b",") + body.count(b"[") + objects <= VALUES


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
