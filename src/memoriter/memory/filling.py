"""Computes vectors that are owed, in the background and a few at a time.

Many records are written without waiting for a model (`write.prepare`), and owe their vectors. A
process that stays pays for them: its searches go on meanwhile. One that runs a single command
leaves them to the next one that stays, or to `maintain`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from memoriter.index.background import Background
from memoriter.write.writer import Writer

AFTER_S: Final = 1.0
"""A process that ends sooner after its last write computes none."""
PORTION: Final = 16
"""How many records are embedded in one call, which `close` waits for."""


class Filling:
    """Pays the vectors that tenants owe to one space. Safe to use from several threads."""

    def __init__(self) -> None:
        self._writers: dict[str, Writer] = {}
        """By tenant, of those that a process that stays has opened."""
        self._background = Background(self._fill)

    def begin(self, tenant: str, writer: Writer) -> None:
        """Compute from now on what a tenant owes; what others left owed, at once."""
        vectors = writer.context.vectors
        if vectors.embeds and not vectors.is_derived:
            self._writers[tenant] = writer
            if writer.owes:
                self.ask(tenant)

    def ask(self, tenant: str) -> None:
        """Have what a tenant owes by now computed, soon."""
        if tenant in self._writers:
            self._background.ask(tenant, AFTER_S)

    def _fill(self, tenant: str) -> None:
        if self._background.closed:
            return
        paid = self._background.attempt(partial(self._paid, tenant))
        if paid:
            self._background.ask(tenant)

    def _paid(self, tenant: str) -> bool:
        """Pay a part; whether anything was paid."""
        return self._writers[tenant].pay(PORTION)[0] > 0

    def close(self, seconds: float) -> None:
        """Begin no further part."""
        if self._writers:
            self._background.close(seconds)
