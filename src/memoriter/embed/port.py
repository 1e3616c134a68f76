"""What an embedder is: texts in, one vector each out. The only effect of a write or a query.

And what a table of kin is: words in, their nearest words out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

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


class NearWord(NamedTuple):
    """The nearest tokens of a token, itself first, and their cosines on the grid."""

    tokens: NDArray[np.int64]
    cosines: NDArray[np.float64]


class Kindred(Protocol):
    """A table of words where each knows its nearest. Equal fingerprints mean equal answers."""

    @property
    def fingerprint(self) -> str:
        """Names the table, the rules of its tokens and the nearest words."""
        ...

    def tokens(self, text: str) -> list[int]:
        """The words of a text as numbers below 65,536, in order."""
        ...

    def word(self, token: int) -> str:
        """How a word, or a piece of one, is written."""
        ...

    def norm(self, token: int) -> float:
        """How much a word says by itself."""
        ...

    def nearest(self, token: int) -> NearWord:
        """The words nearest to one."""
        ...
