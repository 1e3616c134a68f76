"""The desk of every tenant: through whichever door one comes, the late receipts are the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from memoriter.doors.desk import Desk
from memoriter.memory.house import House

KEPT: Final = 16
"""Desks that stay at hand; the receipts of one that was let go have to be sent whole."""


class Desks:
    """Hands out the desk of a tenant. Safe to share between threads."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._kept: OrderedDict[str, Desk] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant: str) -> Desk:
        """The desk of one tenant."""
        with self._lock:
            if tenant not in self._kept:
                self._kept[tenant] = Desk(self.house.memory(tenant))
            self._kept.move_to_end(tenant)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[tenant]
