"""The kin of a word: its nearest words in the packaged table, with their cosines.

Which words are nearest is shipped (`static_en/kin.npy`, made by `python -m tools.kin`). The cosines
are computed from the table, exactly: its rows are integers, and their scales cancel in a cosine.
The kin lane (`lanes.kin`) expands queries with it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Corrupt
from memoriter.embed.port import NearestTokens, TokenTable
from memoriter.embed.static import Static, mapped_array, table
from memoriter.rank.grid import snap

SHA256: Final = "bcd57755884ba1c52cd2a5eafeadd41833d5e80cb4e7d990334a193a072c07c2"
"""The checksum of `kin.npy`."""
NEIGHBOURS: Final = 32
"""How many nearest words are listed for each word, itself included."""
_FILE: Final = "kin.npy"
_CACHED: Final = 4_096
"""How many words' cosines are cached."""


@lru_cache(maxsize=1)
def neighbours() -> NDArray[np.uint16]:
    """For each row of the table its nearest rows: itself first, ties in row order.

    Raises Corrupt if the packaged file is damaged.
    """
    file = resources.files("memoriter.embed").joinpath("static_en", _FILE)
    with file.open("rb") as body:
        if hashlib.file_digest(cast("Any", body), "sha256").hexdigest() != SHA256:
            raise Corrupt(f"the packaged file {_FILE} is damaged", hint="install memoriter again")
    return mapped_array(file)


def integer_cosines(
    dots: NDArray[np.float64], one: NDArray[np.int64], other: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cosines on the grid from dot products and sums of squares of integer rows.

    A sum of squares is below 2^22, so the product of two is exact in a float64. The root, the
    quotient and the rounding to the grid are correctly rounded by IEEE 754, so every machine gets
    the same bits.
    """
    return snap(dots / np.sqrt((one * other).astype(np.float64)))


class KinTable:
    """The kin of every word of the packaged table; satisfies `Kindred`. Thread-safe."""

    def __init__(self, static: Static) -> None:
        self._static = static
        self._known: dict[int, tuple[float, NearestTokens]] = {}
        identity = canonical([static.fingerprint, SHA256])
        self._fingerprint = "kin-en/1:" + digest("kin-en", identity).hex()[:16]

    @property
    def fingerprint(self) -> str:
        """Identifies the table, its tokenizer and the list of nearest words."""
        return self._fingerprint

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, in order; a token is a row of the table."""
        return self._static.tokens(text)

    def token_table(self, texts: Sequence[str]) -> TokenTable:
        """The same for many texts at once."""
        return self._static.token_table(texts)

    @cached_property
    def _names(self) -> list[str]:
        return list(table().entries)

    def word(self, token: int) -> str:
        """The spelling of a token: a word, or a piece inside a word (`##ing`)."""
        return self._names[token]

    def norm(self, token: int) -> float:
        """The length of a token's vector; the table gives informative words longer vectors."""
        return self._kin(token)[0]

    def nearest(self, token: int) -> NearestTokens:
        """The nearest tokens of a token, itself first, and their cosines."""
        return self._kin(token)[1]

    def prepare(self, tokens: Sequence[int]) -> None:
        """Measure these tokens at once, which is quicker than one after the other."""
        # No lock: a race measures a token twice, with the same result.
        fresh = [token for token in tokens if token not in self._known]
        if fresh:
            if len(self._known) + len(fresh) > _CACHED:
                self._known.clear()
            self._known.update(_measured(fresh))

    def _kin(self, token: int) -> tuple[float, NearestTokens]:
        known = self._known.get(token)
        return _measured([token])[token] if known is None else known


def _measured(tokens: Sequence[int]) -> dict[int, tuple[float, NearestTokens]]:
    """By token its norm and its nearest tokens."""
    rows, scales, _ = table()
    ids = neighbours()[tokens].astype(np.int64)
    # Sums of products of bytes are below 2^23, so float32 holds them in any order of addition.
    vectors = rows[ids].astype(np.float32)
    dots = np.matmul(vectors, vectors[:, 0, :, None])[..., 0].astype(np.float64)
    squares = np.vecdot(vectors, vectors).astype(np.int64)
    cosines = integer_cosines(dots, squares[:, :1], squares)
    own = zip(squares[:, 0].tolist(), scales[tokens].tolist(), strict=True)
    norms = [math.sqrt(square) * scale for square, scale in own]
    return {
        token: (norm, NearestTokens(*both))
        for token, norm, *both in zip(tokens, norms, ids, cosines, strict=True)
    }
