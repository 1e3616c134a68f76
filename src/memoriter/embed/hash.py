"""The hash embedder `local-text-v1`: words and triples of letters, folded into 256 numbers.

It knows no meanings: texts that share letters are near. It needs no table and knows every word of
every ASCII text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.port import Side
from memoriter.rank.grid import unit

_DIMENSION: Final = 256
_WORDS: Final = re.compile(rb"[a-z0-9]+")
_WORD: Final = 40
_TRIPLE: Final = 14
"""The weights 1 and 0.35 in fortieths, so that halves are whole and every sum is exact."""


class Hash:
    """Embeds by hashing; it satisfies `Embedder` and is safe to share.

    >>> near, far, nothing = Hash().embed(["red wine", "wine, red", " "], "record")
    >>> round(float(near @ far), 2), nothing
    (0.93, None)
    """

    name = "hash"
    fingerprint = "local-text-v1"
    dimension = _DIMENSION
    window: int | None = None
    """Words per part of a long text; None: texts stay whole."""
    timely = True
    """It cannot hang."""
    template = "labelled/1"
    """It reads tags, concepts and what is known of the agent below the text."""

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, or None for a blank one; both sides are alike."""
        del side
        return [_vector(text) for text in texts]


def _vector(text: str) -> NDArray[np.float32] | None:
    if not text.strip():
        return None
    sums = np.zeros(_DIMENSION, np.int64)
    for feature, weight in _features(text):
        plus, minus, sign = _places(feature)
        sums[plus] += weight * sign
        sums[minus] -= weight // 2 * sign
    if not sums.any():
        sums[0] = 1
    return unit(sums.astype(np.float64))


def _features(text: str) -> Iterator[tuple[bytes, int]]:
    """What is hashed, with its weight: words, and triples of letters across the spaces."""
    lower = text.encode("utf-8", "replace").lower()
    words = _WORDS.findall(lower)
    if not words:
        yield text.strip().encode("utf-8", "replace"), _WORD
        return
    for word in words:
        yield word, _WORD
    joined = b"".join(words)
    for at in range(len(joined) - 2):
        yield joined[at : at + 3], _TRIPLE


@lru_cache(maxsize=65_536)
def _places(feature: bytes) -> tuple[int, int, int]:
    """(where the weight is added, where half of it is taken away, the sign of both)."""
    digest = hashlib.sha256(feature).digest()
    plus = int.from_bytes(digest[:4], "little") % _DIMENSION
    minus = int.from_bytes(digest[4:8], "little") % _DIMENSION
    return plus, minus, -1 if digest[8] % 2 else 1
