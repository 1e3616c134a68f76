"""The protocols of an embedder (text → vector) and of a kin table (word → nearest words)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Side = Literal["record", "query"]
"""Whether a text is a record or a query: some models use a different prefix for each."""


class Embedder(Protocol):
    """Turns texts into vectors of one space. Equal fingerprints mean comparable vectors."""

    @property
    def name(self) -> str:
        """The display name."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies the space: weights, tokenizer, pooling, prefixes and template."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for a text with nothing to embed.

        Vectors have unit length and are on the grid (`rank.grid.unit`). Raises when it cannot
        answer; the caller then records a debt (on a write) or skips the lane (in a search).
        """
        ...


class TokenTable(NamedTuple):
    """The tokens of many texts, one text behind the other."""

    tokens: NDArray[np.uint16]
    counts: NDArray[np.int64]
    """How many tokens each text has."""

    @classmethod
    def joined(cls, tables: Sequence[TokenTable]) -> TokenTable:
        """The texts of several tables, one table behind the other."""
        tokens = np.concatenate([each.tokens for each in tables])
        return cls(tokens, np.concatenate([each.counts for each in tables]))

    def taken(self, places: Sequence[int]) -> TokenTable:
        """The tokens of the texts at some places, ascending."""
        kept = np.zeros(self.counts.size, np.bool_)
        kept[places] = True
        return TokenTable(self.tokens[np.repeat(kept, self.counts)], self.counts[kept])


class Deriver(Protocol):
    """Computes vectors from texts whenever the index needs them: they are not stored in the log.

    Only the packaged table is one: it comes with the package and gives the same bits everywhere.
    Vectors of any other embedder are stored, since computing them again may cost money or need a
    model that is gone.
    """

    def token_table(self, texts: Sequence[str]) -> TokenTable:
        """The tokens of texts, in order."""
        ...

    def embed_tokens(self, texts: TokenTable) -> NDArray[np.float32]:
        """A row for the tokens of each text, zero for one with nothing to embed."""
        ...


class NearestTokens(NamedTuple):
    """The nearest tokens of a token, itself first, and their cosines on the grid."""

    tokens: NDArray[np.int64]
    cosines: NDArray[np.float64]


class Kindred(Protocol):
    """A kin table: the nearest words of every word. Equal fingerprints mean equal answers."""

    @property
    def fingerprint(self) -> str:
        """Identifies the table, its tokenizer and the list of nearest words."""
        ...

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, in order, as numbers below 65,536."""
        ...

    def token_table(self, texts: Sequence[str]) -> TokenTable:
        """The same for many texts at once."""
        ...

    def word(self, token: int) -> str:
        """The spelling of a token: a word or a piece of one."""
        ...

    def norm(self, token: int) -> float:
        """The weight of a token by itself, before its document frequency."""
        ...

    def nearest(self, token: int) -> NearestTokens:
        """The nearest tokens of a token, itself first."""
        ...

    def prepare(self, tokens: Sequence[int]) -> None:
        """Called before `norm` and `nearest` of several tokens, which can be measured at once."""
        ...
