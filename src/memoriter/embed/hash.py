"""The hash embedder `local-text-v1`: feature hashing of words and trigrams into 256 dimensions.

It captures spelling, not meaning: texts that share words or trigrams are near. It needs no table.
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
"""The weights 1 and 0.35 times 40, so that half of each is an integer and sums are exact."""


class Hash:
    """Embeds by hashing; satisfies `Embedder`. Thread-safe.

    >>> near, far, nothing = Hash().embed(["red wine", "wine, red", " "], "record")
    >>> round(float(near @ far), 2), nothing
    (0.93, None)
    """

    name = "hash"
    fingerprint = "local-text-v1"
    dimension = _DIMENSION
    window: int | None = None
    """Words per part of a long text; None: texts are not split."""
    timely = True
    """It cannot hang, so `embed.call` needs no thread."""
    template = "labelled/1"
    """How a record is rendered: tags, concepts and agent data follow the text."""

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for a blank one; `side` makes no difference."""
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
    if not sums.any():  # the features cancelled out; a text that is not blank must have a vector
        sums[0] = 1
    return unit(sums.astype(np.float64))


def _features(text: str) -> Iterator[tuple[bytes, int]]:
    """(feature, weight): each word, and each trigram of the words joined without spaces."""
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
    """(dimension to add the weight to, dimension to subtract half of it from, sign of both)."""
    digest = hashlib.sha256(feature).digest()
    plus = int.from_bytes(digest[:4], "little") % _DIMENSION
    minus = int.from_bytes(digest[4:8], "little") % _DIMENSION
    return plus, minus, -1 if digest[8] % 2 else 1
