"""Computes vectors that are owed, in the background and a few at a time.

Many records are written without waiting for a model (`write.prepare`), and owe their vectors. A
process that stays pays for them: its searches go on meanwhile. One that runs a single command
leaves them to the next one that stays, or to `maintain`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from memoriter.index.background import Background

Pay = Callable[[int], tuple[int, int]]
"""Computes so many owed vectors at most; returns how many, and how many are still owed."""
AFTER_S: Final = 1.0
"""A process that ends sooner after its last write computes none."""
PORTION: Final = 16
"""How many records are embedded in one call, which `close` waits for."""


class Filling:
    """Pays the vectors that tenants owe to one space. Safe to use from several threads."""

    def __init__(self) -> None:
        self._pay: dict[str, tuple[Pay, Callable[[], None]]] = {}
        """By tenant, of those that a process that stays has opened; and what follows on it."""
        self._background = Background(self._fill)

    def begin(self, tenant: str, pay: Pay, filled: Callable[[], None], *, owes: bool) -> None:
        """Compute from now on what a tenant owes, and what it owes already.

        `filled` is called when nothing more can be paid.
        """
        self._pay[tenant] = pay, filled
        if owes:
            self.ask(tenant)

    def ask(self, tenant: str) -> None:
        """Have what a tenant owes by now computed, soon."""
        if tenant in self._pay:
            self._background.ask(tenant, AFTER_S)

    def _fill(self, tenant: str) -> None:
        if self._background.closed:
            return
        paid = self._background.attempt(partial(self._paid, tenant))
        if paid:
            self._background.ask(tenant)
        else:
            self._pay[tenant][1]()

    def _paid(self, tenant: str) -> bool:
        """Pay a part; whether anything was paid."""
        return self._pay[tenant][0](PORTION)[0] > 0

    def close(self, seconds: float) -> None:
        """Begin no further part."""
        if self._pay:
            self._background.close(seconds)
