"""The kin of a word: its nearest words in the packaged table, and how near they are.

Which words are nearest is shipped (`static_en/kin.npy`, made by `python -m tools.kin`); how near is
worked out from the table, exactly: the rows are integers, and their scales cancel in a cosine.
"""

from __future__ import annotations

import hashlib
import io
import math
from functools import cached_property, lru_cache
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Corrupt
from memoriter.embed.port import NearWord
from memoriter.embed.static import Static, table
from memoriter.rank.grid import snap

SHA256: Final = "bcd57755884ba1c52cd2a5eafeadd41833d5e80cb4e7d990334a193a072c07c2"
"""Of the list of nearest words."""
NEIGHBOURS: Final = 32
"""Words in the list of each word, itself included."""
_FILE: Final = "kin.npy"
_CACHED: Final = 4_096
"""Words whose cosines are remembered."""


@lru_cache(maxsize=1)
def neighbours() -> NDArray[np.uint16]:
    """For each row of the table its nearest rows: itself, then the others, ties by row."""
    body = resources.files("memoriter.embed").joinpath("static_en", _FILE).read_bytes()
    if hashlib.sha256(body).hexdigest() != SHA256:
        raise Corrupt(f"{_FILE} of the package is damaged", hint="install the package again")
    return np.load(io.BytesIO(body), allow_pickle=False)


def cosines(
    dots: NDArray[np.float64], one: NDArray[np.int64], other: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cosines on the grid from dot products and sums of squares of integer rows.

    A sum of squares is below 2^22, so the product of two is exact; its root, the quotient and the
    rounding to the grid are each correctly rounded, on any machine.
    """
    return snap(dots / np.sqrt((one * other).astype(np.float64)))


class KinTable:
    """Knows the kin of every word of the packaged table; it satisfies `Kindred`, safe to share."""

    def __init__(self, static: Static) -> None:
        self._static = static
        self._near: dict[int, NearWord] = {}
        shaping = canonical([static.fingerprint, SHA256])
        self._fingerprint = "kin-en/1:" + digest("kin-en", shaping).hex()[:16]

    @property
    def fingerprint(self) -> str:
        """Names the table, the rules of its tokens and the list."""
        return self._fingerprint

    def tokens(self, text: str) -> list[int]:
        """The rows of the words of a text, in order."""
        return self._static.tokens(text)

    @cached_property
    def _names(self) -> list[str]:
        return list(table().entries)

    def word(self, token: int) -> str:
        """How a word, or a piece of one (`##ing`), is written."""
        return self._names[token]

    def norm(self, token: int) -> float:
        """The length of its vector: how much it says, as the table has learned."""
        rows, scales, _ = table()
        row = rows[token].astype(np.int64)
        return math.sqrt(int(row @ row)) * float(scales[token])

    def nearest(self, token: int) -> NearWord:
        """Its nearest words, itself first, and their cosines."""
        known = self._near.get(token)
        if known is None:
            if len(self._near) >= _CACHED:
                self._near.clear()
            known = self._near[token] = self._measured(token)
        return known

    def _measured(self, token: int) -> NearWord:
        ids = neighbours()[token].astype(np.int64)
        some = table().rows[ids].astype(np.int64)
        squares = (some * some).sum(axis=1)
        dots = (some @ some[0]).astype(np.float64)
        return NearWord(ids, cosines(dots, squares[:1], squares))
