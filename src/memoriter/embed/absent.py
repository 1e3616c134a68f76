"""An embedder that cannot be had now: its space is known, and it says why whenever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memoriter.core.errors import MemoriterError
from memoriter.embed.port import Side


class Absent:
    """Stands for a model whose files or packages are gone.

    What is written owes its vector, a question is answered without it, and both say why.
    """

    timely = True
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
        """What it reads of a record, and how many words at a time."""
        self._why = why

    @property
    def dimension(self) -> int:
        """Nobody can say."""
        raise self._why

    def embed(self, texts: Sequence[str], side: Side) -> NoReturn:
        """Why it cannot."""
        del texts, side
        raise self._why
