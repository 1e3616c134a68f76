"""Canonical JSON, digests and checksums: one byte string per value, on every machine.

Canonical JSON: UTF-8, keys sorted by code point, no white space, shortest round-trip floats, no
NaN or infinity, no escapes but those JSON requires. Digests are SHA-256 over a tag and the data;
the tag names what is digested, so that a digest of one kind never equals one of another kind.
"""

from __future__ import annotations

import hashlib
import json
import struct
from json.encoder import encode_basestring
from typing import Any, Final, cast

SUM_BYTES: Final = 8
"""Length of the checksum of a derived row: the first bytes of its SHA-256."""

_STRINGS: Final = frozenset({str})
_LENGTH: Final = struct.Struct("<Q").pack
_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: object) -> bytes:
    r"""The canonical JSON of a value.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\xc3\xa9","b":1}'
    """
    # Objects of a few fields are most of what is encoded: the encoder takes three times as long.
    if type(value) is dict:
        fields = cast("dict[Any, object]", value)
        if set(map(type, fields)) <= _STRINGS:
            pairs = [f"{encode_basestring(key)}:{_field(fields[key])}" for key in sorted(fields)]
            return f"{{{','.join(pairs)}}}".encode()
    return _ENCODER.encode(value).encode("utf-8")


def _field(value: object) -> str:
    if type(value) is str:
        return encode_basestring(value)
    return str(value) if type(value) is int else _ENCODER.encode(value)


def digest(tag: str, *parts: bytes) -> bytes:
    """SHA-256 of the tag and the parts, each prefixed with its length.

    The prefixes make the encoding injective: ("ab", "c") and ("a", "bc") differ.
    """
    encoded = [tag.encode("ascii"), b"\0"]
    for part in parts:
        encoded.append(_LENGTH(len(part)))
        encoded.append(part)
    return hashlib.sha256(b"".join(encoded)).digest()


def checksum(*parts: bytes | memoryview) -> bytes:
    """The first eight bytes of a SHA-256, to detect damage of a derived row."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.digest()[:SUM_BYTES]
