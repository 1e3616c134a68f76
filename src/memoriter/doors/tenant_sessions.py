"""The desk of every tenant: through whichever door one comes, the late receipts are the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.tenants import Tenants

KEPT: Final = 16
"""TenantSessions that stay at hand; the receipts of one that was let go have to be sent whole."""


class TenantSessions:
    """Hands out the desk of a tenant. Safe to share between threads."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants
        self._kept: OrderedDict[str, TenantSession] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant: str) -> TenantSession:
        """The desk of one tenant."""
        with self._lock:
            if tenant not in self._kept:
                self._kept[tenant] = TenantSession(self.tenants.memory(tenant))
            self._kept.move_to_end(tenant)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[tenant]
