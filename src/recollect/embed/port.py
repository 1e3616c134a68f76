"""What an embedder is: texts in, one vector each out. The only effect of a write or a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Side = Literal["record", "query"]
"""Which side a text stands on: some models put another prefix before a question."""


class Embedder(Protocol):
    """Turns texts into vectors of one space. Equal fingerprints mean comparable vectors."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer, pooling, prefixes and template."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, or None where the text holds nothing to embed.

        A vector is of unit length and on the grid (`rank.grid.unit`). It raises when it cannot
        answer; the caller turns that into debt (on a write) or into a skipped lane (in a search).
        """
        ...
