"""The entries that this process committed last: its index need not read them back from the file."""

from __future__ import annotations

import threading
from typing import Final

from memoriter.core.record import decode
from memoriter.store.port import Delta
from memoriter.store.sequence import SequencedBatch

_ENTRIES: Final = 64
"""How many entries are kept of a tenant at most."""
_BYTES: Final = 64 * 1024
"""How many bytes the bodies of a commit may have together; larger ones are not kept."""
_TENANTS: Final = 64
"""Of how many tenants entries are kept at most."""


class RecentEntries:
    """Small commits of this process, each kept until it is taken or too old. Thread-safe.

    Nothing is kept of a tenant beyond a forget of this process, or a read of what others wrote.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, list[tuple[int, SequencedBatch]]] = {}
        """By tenant, commits that follow each other: the entry before each, and its rows."""

    def note(self, tenant: str, after: int, new: SequencedBatch) -> None:
        """Keep a commit that has just become durable."""
        upto = new.head.seq
        size = sum(len(each.body) for rows in (new.records, new.vectors) for each in rows)
        with self._lock:
            known = self._kept.pop(tenant, [])
            if new.tombs or upto - after > _ENTRIES or size > _BYTES:
                return
            if known and known[-1][1].head.seq != after:
                known = []
            known = [each for each in known if upto - each[0] <= _ENTRIES]
            if len(self._kept) >= _TENANTS:
                self._kept.clear()
            self._kept[tenant] = [*known, (after, new)]

    def taken(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Delta | None:
        """The entries in (after, upto] as `Log.deltas` gives them, once; None if some are not here.

        Whatever else is here of the tenant is dropped.
        """
        with self._lock:
            known = self._kept.pop(tenant, [])
        begins = [before for before, _ in known]
        if after not in begins or known[-1][1].head.seq != upto:
            return None
        batches = [new for _, new in known[begins.index(after) :]]
        words, space = generations
        return Delta(
            upto,
            [
                decode(row.body, row.row, row.position, row.committed)
                for new in batches
                for row in new.records
            ],
            words={w.row: w.body for new in batches for w in new.words if w.generation == words},
            vectors=[v for new in batches for v in new.vectors if v.generation == space],
            edges=[edge for new in batches for edge in new.edges],
        )

    def drop(self) -> None:
        """Keep nothing: rows were replaced."""
        with self._lock:
            self._kept.clear()
