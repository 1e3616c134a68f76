"""JSON as others write it, read strictly: no key twice in an object, no NaN, no infinity."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

_SHOWN: Final = 40
"""How many characters of a key or a number a message shows."""


class DuplicateKey(ValueError):
    """An object has a key twice: readers differ in which of the two values they take."""


def strict_json(text: str) -> Any:
    """The value of a JSON text; raises ValueError, for nesting that is too deep too.

    >>> strict_json('{"id": 1, "id": 2}')
    Traceback (most recent call last):
    ...
    memoriter.core.strict_json.DuplicateKey: the key "id" comes twice in one object
    >>> strict_json("[1e999]")
    Traceback (most recent call last):
    ...
    ValueError: 1e999 is not a JSON number
    """
    if text.startswith("\ufeff"):  # as `json.loads` says it
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its pairs, for `json.loads(…, object_pairs_hook=unique_keys)`."""
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise DuplicateKey(f"the key {json.dumps(twice[:_SHOWN])} comes twice in one object")
    return out


def no_number(constant: str) -> NoReturn:
    """Raise for NaN and the infinities, for `json.loads(…, parse_constant=no_number)`."""
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    """The number, refused if it overflows a double: JSON may contain 1e999."""
    number = float(text)
    return number if math.isfinite(number) else no_number(text[:_SHOWN])


_DECODER: Final = json.JSONDecoder(
    parse_constant=no_number, parse_float=_finite, object_pairs_hook=unique_keys
)
"""Made once: `json.loads` with these options would make it for each text."""
