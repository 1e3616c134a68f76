"""JSON bodies of requests and replies: counted before they are parsed, strict to parse.

A body is counted as bytes, by its commas and brackets, which takes a thousandth of the time that
parsing takes: a parser lets no other thread run before it has ended. Commas in texts count too,
but not towards the longest list: for that, the texts are taken out first.
"""

from __future__ import annotations

import contextlib
import json
from typing import Final

from pydantic_core import PydanticSerializationError
from pydantic_core import to_json as quick_json

from memoriter.core.errors import InputError, TooLarge
from memoriter.core.strict_json import strict_json

DEPTH: Final = 64
"""How deeply JSON may be nested."""
VALUES: Final = 400_000
"""How many values a body may have: vectors of four mebibytes, or the largest receipts."""
QUESTION_VALUES: Final = 50_000
"""How many values a question may have: its longest parts are a vector and lists of ids."""
LONGEST: Final = 20_000
"""How many plain values a list or an object may have: the longest are columns of receipts."""
_REST: Final = bytes(set(range(256)) - set(b'"[]{},'))
"""All bytes but those of the structure of JSON."""
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_NUMBERS: Final = (b"NaN", b"Infinity")
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse_body(body: bytes, depth: int = DEPTH) -> object:
    """The JSON value of a body; an empty body is an empty object.

    Raises TooLarge if it has too many values, InputError if it is not UTF-8, not JSON, has a key
    twice in one object, or is nested more than `depth` deep. NaN, Infinity and numbers that no
    double can hold are refused, though Python would read them.
    """
    if not body.strip():
        return {}
    ValueCount().add(body)
    structure = _structure(body)
    if b"," * LONGEST in structure:
        raise TooLarge(
            f"a list or an object in the body has more than {LONGEST:,} entries",
            hint="split it into several requests",
        )
    try:
        value = strict_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("the body is not UTF-8", hint="send JSON in UTF-8") from None
    except ValueError as error:
        if "nested" in str(error):
            raise _too_deep(depth) from None
        raise InputError(
            f"the body is not JSON: {error}", hint="send one complete JSON value"
        ) from None
    if _is_deeper(structure, depth):
        raise _too_deep(depth)
    return value


class ValueCount:
    """Counts the values of a body that arrives in parts, and refuses the first one too many."""

    def __init__(self, most: int = VALUES) -> None:
        self._most = most
        self._count = 0

    def add(self, part: bytes) -> None:
        """Count the commas and brackets of the next part; raises TooLarge."""
        self._count += part.count(b",") + part.count(b"[") + part.count(b"{")
        if self._count > self._most:
            raise TooLarge(
                f"the body has more than {self._most:,} values",
                hint="split it into several requests",
            )


def to_json(value: object) -> bytes:
    """The value as JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes `?`.

    Raises ValueError for NaN and Infinity. The encoder of pydantic is quicker than
    Python's, but it refuses a lone surrogate and writes NaN and Infinity.
    """
    with contextlib.suppress(PydanticSerializationError):
        body = quick_json(value)
        if not any(word in body for word in _NO_NUMBERS):  # most often part of a text
            return body
    return _ENCODER.encode(value).encode("utf-8", "replace")


def _structure(body: bytes) -> bytes:
    """The brackets and commas of a body in their order, without those in texts."""
    if b"\\" in body:  # first escaped backslashes: what is left of a row of them escapes a quote
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    kept = body.translate(None, _REST)
    kept = kept.replace(b'""', b"")  # most texts have neither brackets nor commas
    return b"".join(kept.split(b'"')[::2])


def _is_deeper(structure: bytes, depth: int) -> bool:
    """Whether the lists and objects of a valid body are nested more than `depth` deep."""
    brackets = structure.translate(_SQUARE, b",")
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")  # the innermost ones
    return bool(brackets)


def _too_deep(depth: int) -> InputError:
    return InputError(f"the body is nested more than {depth} deep", hint="send a flatter one")
