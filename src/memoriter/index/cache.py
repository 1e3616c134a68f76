"""The indexes of one process: one per tenant, loaded on demand, least recently used dropped first.

`memory/` gets every view from here. A long unpublished tail starts upkeep on a background thread.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from memoriter.core.clock import Clock
from memoriter.core.errors import Corrupt, Forbidden, MemoriterError, message_of
from memoriter.index.tenant import IndexSpaces, TenantIndex
from memoriter.index.upkeep import FLUSH_ROWS, keep_up
from memoriter.index.view import View
from memoriter.store.port import Log, Manifest
from memoriter.store.rows import VECTORS
from memoriter.text.port import Analyzer

_log: Final = logging.getLogger(__name__)
DAY: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class UpkeepOptions:
    """Options for keeping indexes, from `memoriter.open`."""

    folder: Path | None = None
    """Where segment files are published; None keeps everything in memory."""
    automatic: bool = True
    flush_rows: int = FLUSH_ROWS
    horizon_days: float = 30.0
    """How long replaced versions stay visible to past views."""
    memory_limit: int = 2 * 1024**3
    """Roughly how many bytes of indexes are held at once."""
    writable: bool = True


class IndexCache:
    """The indexes of all tenants, within a memory limit. Safe to use from several threads."""

    def __init__(self, log: Log, spaces: IndexSpaces, upkeep: UpkeepOptions, clock: Clock) -> None:
        self._log = log
        self._spaces = spaces
        self._upkeep = upkeep
        self._clock = clock
        self._lock = threading.Lock()
        self._indexes: OrderedDict[tuple[str, str, str], TenantIndex] = OrderedDict()
        self._vectorless: dict[tuple[str, str], TenantIndex] = {}
        """Indexes without vectors, for tenants with a damaged vector."""
        self._written: dict[str, int] = {}
        self._worker: ThreadPoolExecutor | None = None
        self._pending: dict[str, Future[bool]] = {}

    def index(self, tenant: str, analyzer: Analyzer | None = None) -> TenantIndex:
        """The index of a tenant, by default under the store's own analyzer."""
        return self._index(
            tenant, replace(self._spaces, analyzer=analyzer or self._spaces.analyzer)
        )

    def _index(self, tenant: str, spaces: IndexSpaces) -> TenantIndex:
        self._log.check()  # before the lock: after a fork it may be held for ever
        key = tenant, spaces.analyzer.fingerprint, spaces.name
        with self._lock:
            index = self._indexes.pop(key, None)
            if index is None:
                folder = self._upkeep.folder if self._keeps(spaces.analyzer) else None
                index = TenantIndex(self._log, tenant, spaces, folder)
            self._indexes[key] = index  # last in the order: most recently used
            while len(self._indexes) > 1 and self._size() > self._upkeep.memory_limit:
                self._indexes.popitem(last=False)
            return index

    def past(self, tenant: str, seq: int, spaces: IndexSpaces) -> View:
        """The view at `seq` in an index of other generations, such as those of a receipt."""
        return self._index(tenant, spaces).view(seq)

    def _keeps(self, analyzer: Analyzer) -> bool:
        """Whether segments are published: for the store's analyzer and those added to it."""
        own = self._spaces.analyzer.fingerprint
        return analyzer.fingerprint == own or analyzer.fingerprint in self._log.spaces()

    def _size(self) -> int:
        return sum(index.nbytes for index in self._indexes.values())

    def view(self, tenant: str, seq: int | None = None, analyzer: Analyzer | None = None) -> View:
        """The view at `seq`, or of everything committed by now.

        If a vector is damaged the view has none, and `View.damage` says why. Raises Expired for a
        view before the horizon, Corrupt for any other damage.
        """
        index = self.index(tenant, analyzer)
        try:
            view = index.view(seq)
        except Corrupt as damage:
            if damage.field != VECTORS:
                raise
            return self._without_vectors(tenant, analyzer, seq, damage)
        if sum(map(len, index.tail)) >= self._upkeep.flush_rows:
            self._start(tenant)
        return view

    def _without_vectors(
        self, tenant: str, analyzer: Analyzer | None, seq: int | None, damage: Corrupt
    ) -> View:
        """The view without vectors, for as long as one of them is damaged."""
        analyzer = analyzer or self._spaces.analyzer
        with self._lock:
            spaces = replace(self._spaces, analyzer=analyzer, vectors="")
            fresh = TenantIndex(self._log, tenant, spaces, None)
            index = self._vectorless.setdefault((tenant, analyzer.fingerprint), fresh)
        _log.warning("%s; answering without vectors", damage.message)
        return index.view(seq).with_damage(f"{damage.message}; {damage.hint}")

    def wrote(self, tenant: str, rows: int) -> None:
        """Count written rows; every `flush_rows` of them, upkeep starts in the background."""
        with self._lock:
            count = self._written.get(tenant, 0) + rows
            self._written[tenant] = count % self._upkeep.flush_rows
        if count >= self._upkeep.flush_rows:
            self._start(tenant)

    def _start(self, tenant: str) -> None:
        """Start upkeep in the background, unless it runs already."""
        if self._upkeep.folder is None or not self._upkeep.automatic:
            return
        with self._lock:
            running = self._pending.get(tenant)
            if running is None or running.done():
                self._worker = self._worker or ThreadPoolExecutor(1, "memoriter-upkeep")
                self._pending[tenant] = self._worker.submit(self._tidy_or_log, tenant)

    def _tidy_or_log(self, tenant: str) -> bool:
        """`tidy` on the background thread, where nobody could handle an error."""
        try:
            return self.tidy(tenant)
        except (MemoriterError, OSError) as error:
            _log.warning("upkeep failed and will be tried again: %s", message_of(error))
            return False

    def tidy(self, tenant: str, flush_rows: int | None = None) -> bool:
        """Publish and merge what is due; returns whether anything changed.

        Raises Forbidden if the store is read-only.
        """
        folder = self._upkeep.folder
        if folder is None:
            return False
        if not self._upkeep.writable:
            raise Forbidden("the store may only be read", hint="open it for writing")
        changed = False
        for index in self._published(tenant):
            changed |= self._tidy_index(index, tenant, folder, flush_rows)
        return changed

    def _published(self, tenant: str) -> list[TenantIndex]:
        """The tenant's indexes that have segment files, the default one first."""
        own = self.index(tenant)
        with self._lock:
            others = [each for key, each in self._indexes.items() if key[0] == tenant]
        return [own] + [
            index
            for index in others
            if index is not own
            and index.folder is not None
            and index.spaces.differs_only_in_analyzer(own.spaces)
        ]

    def _tidy_index(
        self, index: TenantIndex, tenant: str, folder: Path, flush_rows: int | None
    ) -> bool:
        horizon = self._clock.now() - int(self._upkeep.horizon_days * DAY)
        floor = self._log.seq_at(tenant, horizon)
        rows = self._upkeep.flush_rows if flush_rows is None else flush_rows
        return keep_up(index, self._log, folder, floor, rows)

    def drop(self, analyzer: Analyzer) -> None:
        """Drop every index under an analyzer: its words were added or deleted."""
        with self._lock:
            for key in [key for key in self._indexes if key[1] == analyzer.fingerprint]:
                del self._indexes[key]

    def discard(self, tenant: str, index: str) -> bool:
        """Delete the published segments of an index; False if somebody published meanwhile."""
        folder = self._upkeep.folder
        old = self._log.manifest(tenant, index)
        if folder is None or not self._log.publish(tenant, index, old, Manifest()):
            return False
        for ref in old.segments:
            (folder / ref.name).unlink(missing_ok=True)
        with self._lock:
            for key in [key for key, each in self._indexes.items() if each.name == index]:
                if key[0] == tenant:
                    del self._indexes[key]
        return True

    @property
    def folder(self) -> Path | None:
        """Where segment files are published; None if everything is in memory."""
        return self._upkeep.folder

    def close(self) -> None:
        """Wait for running upkeep and drop all indexes. Idempotent."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=True)
        self._indexes.clear()
        self._vectorless.clear()
