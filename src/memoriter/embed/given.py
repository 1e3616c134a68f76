"""The embedder `given`: the caller passes the vectors of records and queries along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.port import Side


class GivenEmbedder:
    """A space that is filled only with vectors passed to `remember` and `recall`."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    @property
    def name(self) -> str:
        """The display name."""
        return self.fingerprint

    @property
    def fingerprint(self) -> str:
        """Identifies the space by its dimension."""
        return f"given:{self.dimension}"

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """None for every text."""
        del side
        return [None] * len(texts)
