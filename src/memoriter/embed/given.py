"""The caller embeds: records and questions come with vectors of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.port import Side


class GivenEmbedder:
    """A space that only the caller can embed into; `remember` and `recall` take the vectors."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.fingerprint

    @property
    def fingerprint(self) -> str:
        """One space per dimension."""
        return f"given:{self.dimension}"

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """No text has a vector here."""
        del side
        return [None] * len(texts)
