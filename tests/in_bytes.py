"""An embedder whose vectors are bytes brought to unit length, as those of the packaged model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.port import Side
from memoriter.rank.units import nearest_bytes, units


class ByteEmbedder:
    """Texts that share words have close vectors; one without a word has none.

    With `in_bytes=False` the same vectors are stored as float32.
    """

    name = "bytes"
    fingerprint = "bytes/1"
    timely = True

    def __init__(self, *, in_bytes: bool = True, dimension: int = 64) -> None:
        self.in_bytes = in_bytes
        self.dimension = dimension
        self.failing = False

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        del side
        if self.failing:
            raise ConnectionError("the embedder was told to fail")
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> NDArray[np.float32] | None:
        words = [word for word in text.casefold().split() if word[:1].isalnum()]
        drawn = [hashlib.shake_256(word.encode()).digest(self.dimension) for word in words]
        sums = sum((np.frombuffer(each, np.uint8) - 127.5 for each in drawn), np.zeros(1))
        if not words:
            return None
        return units(nearest_bytes(sums)[np.newaxis].astype(np.float32))[0]
