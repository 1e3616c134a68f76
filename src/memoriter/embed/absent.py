"""Stands in for an embedder whose files or packages are missing. `memory.embedding` creates it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memoriter.core.errors import MemoriterError
from memoriter.embed.port import Side


class UnavailableEmbedder:
    """An embedder whose space is known but which raises the same error on every call.

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
