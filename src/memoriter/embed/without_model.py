"""Embedders that run no model: `given`, and the stand-in for a model that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import MemoriterError
from memoriter.embed.port import Side


class GivenEmbedder:
    """The embedder `given`: its space holds only vectors passed to `remember` and `recall`."""

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


class UnavailableEmbedder:
    """Stands in for an embedder whose files or packages are missing: every call raises the error.

    Writes then leave a debt, and searches skip the lanes that compare vectors; both report why.
    """

    timely = True
    """It cannot hang, so `embed.call` needs no thread."""
    known_dimension = None

    def __init__(
        self,
        name: str,
        fingerprint: str,
        reads: tuple[str, int | None],
        why: MemoriterError,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.template, self.window = reads
        """The template by which a record is rendered for it, and its words per part."""
        self._why = why

    @property
    def dimension(self) -> int:
        """Raises: the dimension is unknown without the model."""
        raise self._why

    def embed(self, texts: Sequence[str], side: Side) -> NoReturn:
        """Raises the reason why the model is missing."""
        del texts, side
        raise self._why
