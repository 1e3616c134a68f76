"""One spelling of a value as bytes: what is digested, chained, signed and compared.

Canonical JSON: UTF-8, keys sorted by code point, no white space, shortest round-trip floats, no
NaN or infinity, no escapes but those JSON requires. Digests are SHA-256 behind a tag that names
what is digested, so that bytes of one kind can never pass for another.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

SUM_BYTES: Final = 8
"""Length of the checksum beside every derived row: the first bytes of its SHA-256."""

_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: object) -> bytes:
    r"""The canonical JSON of a value.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\xc3\xa9","b":1}'
    """
    return _ENCODER.encode(value).encode("utf-8")


def digest(tag: str, *parts: bytes) -> bytes:
    """SHA-256 of the tag and the parts, each behind its length: no two lists of parts collide."""
    spelled = [tag.encode("ascii"), b"\0"]
    for part in parts:
        spelled += (len(part).to_bytes(8, "little"), part)
    return hashlib.sha256(b"".join(spelled)).digest()


def checksum(*parts: bytes | memoryview) -> bytes:
    """Eight bytes that tell whether a derived row was damaged."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.digest()[:SUM_BYTES]
