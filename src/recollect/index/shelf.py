"""The indexes of one process: one per tenant, loaded on demand, the least used let go first."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.core.clock import Clock
from recollect.core.errors import RecollectError
from recollect.index.tenant import TenantIndex
from recollect.index.upkeep import FLUSH_ROWS, keep_up
from recollect.store.port import Log
from recollect.text.port import Analyzer

_log: Final = logging.getLogger(__name__)
DAY: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How the indexes are kept."""

    folder: Path | None = None
    """Where segments are published; None keeps everything in memory."""
    automatic: bool = True
    flush_rows: int = FLUSH_ROWS
    horizon_days: float = 30.0
    """How long ended versions stay visible to past views."""
    memory_limit: int = 2 * 1024**3
    """Bytes of indexes held at once, roughly."""


class Shelf:
    """Finds the index of a tenant, and keeps the shelf within its limit."""

    def __init__(
        self, log: Log, spaces: tuple[Analyzer, str], upkeep: Upkeep, clock: Clock
    ) -> None:
        self._log = log
        self._spaces = spaces
        self._upkeep = upkeep
        self._clock = clock
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, TenantIndex] = OrderedDict()
        self._written: dict[str, int] = {}
        self._worker: ThreadPoolExecutor | None = None
        self._pending: dict[str, Future[bool]] = {}

    def index(self, tenant: str) -> TenantIndex:
        """The index of a tenant."""
        with self._lock:
            found = self._indexes.pop(tenant, None)
            if found is None:
                found = TenantIndex(self._log, tenant, self._spaces, self._upkeep.folder)
            self._indexes[tenant] = found
            while len(self._indexes) > 1 and self._size() > self._upkeep.memory_limit:
                self._indexes.popitem(last=False)
            return found

    def _size(self) -> int:
        return sum(index.nbytes for index in self._indexes.values())

    def wrote(self, tenant: str, rows: int) -> None:
        """Count what was written; past the threshold, upkeep starts in the background."""
        if self._upkeep.folder is None or not self._upkeep.automatic:
            return
        with self._lock:
            count = self._written.get(tenant, 0) + rows
            self._written[tenant] = count
            running = self._pending.get(tenant)
            if count < self._upkeep.flush_rows or (running and not running.done()):
                return
            self._written[tenant] = 0
            self._worker = self._worker or ThreadPoolExecutor(1, "recollect-upkeep")
            self._pending[tenant] = self._worker.submit(self._quietly, tenant)

    def _quietly(self, tenant: str) -> bool:
        try:
            return self.tidy(tenant)
        except (RecollectError, OSError) as error:
            _log.warning("upkeep failed and will be tried again: %s", error)
            return False

    def tidy(self, tenant: str, flush_rows: int | None = None) -> bool:
        """Publish and merge what is due; whether anything changed."""
        folder = self._upkeep.folder
        if folder is None:
            return False
        horizon = self._clock.now() - int(self._upkeep.horizon_days * DAY)
        floor = self._log.seq_at(tenant, horizon)
        rows = self._upkeep.flush_rows if flush_rows is None else flush_rows
        return keep_up(self.index(tenant), self._log, tenant, folder, (floor, rows))

    def close(self) -> None:
        """Let running upkeep finish."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=True)
        self._indexes.clear()
