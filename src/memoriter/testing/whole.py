"""A whole tenant in memory, to compare and to check it in tests."""

from __future__ import annotations

from memoriter.store.port import Dump, Log
from memoriter.store.snapshots import in_memory


def whole(log: Log, tenant: str) -> Dump:
    """All rows of a tenant, read in one snapshot."""
    with log.snapshot(tenant) as rows:
        return in_memory(rows)
