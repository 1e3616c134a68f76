"""From bytes to JSON and back, strictly."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NoReturn, cast

from memoriter.core.errors import InputError

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def loaded(body: bytes, depth: int) -> object:
    """The value that the bytes spell; nothing at all is an empty object."""
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
    if body.count(b"[") + body.count(b"{") > depth and _deeper(value, depth):
        raise _too_deep(depth)
    return value


def dumped(value: object) -> bytes:
    """The value as JSON; half a character, which UTF-8 cannot hold, becomes a question mark."""
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _deeper(value: object, depth: int) -> bool:
    """Whether lists and objects lie in each other more than so many times."""
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


def _finite(spelled: str) -> float:
    """A number that is one; what JSON may spell and no double can hold is not."""
    number = float(spelled)
    return number if math.isfinite(number) else _refuse(spelled[:40])


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
