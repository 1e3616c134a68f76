"""The indexes of one process: one per tenant, loaded on demand, least recently used dropped first.

`memory/` gets every view from here. A long unpublished tail, or a forget, starts upkeep on a
background thread.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Final

from memoriter.core.clock import Clock
from memoriter.core.errors import Corrupt, Forbidden, MemoriterError, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.index.background import Background
from memoriter.index.erase import erase
from memoriter.index.following import Follower
from memoriter.index.pace import Pace
from memoriter.index.spaces import IndexSpaces
from memoriter.index.tenant import TenantIndex
from memoriter.index.upkeep import FLUSH_ROWS, UpkeepTask, keep_up, sweep, unread_records
from memoriter.index.view import View
from memoriter.store.port import Log, Manifest
from memoriter.store.rows import VECTORS
from memoriter.store.segments import Segments
from memoriter.text.port import Analyzer

_log: Final = logging.getLogger(__name__)
DAY: Final = 86_400_000_000
ERASE_AFTER_S: Final = 2.0
"""How long upkeep waits after a forget, so that those of a row are erased together."""
ERASE_AGAIN_S: Final = 10.0
"""When it tries again after a reader, or another process, prevented it."""
ERASE_NOW_S: Final = 30.0
"""How long `erase_now` waits for readers, before it raises."""
BEHIND: Final = 4
"""A long load waits for upkeep that is this many times `flush_rows` behind."""
SMALL: Final = 32
"""Segments of so many times `flush_rows` together are small: upkeep on request joins them."""
FEW: Final = 16
"""A write of so many rows at most is read into the index before it returns, if searches use it."""
CLOSE_ROWS: Final = 256
"""A tail of this many rows is published when the store is closed."""
CLOSE_S: Final = 1.0
"""How long closing a store may take, unless the caller says another time."""


@dataclass(frozen=True, slots=True)
class UpkeepOptions:
    """Options for keeping indexes, from `memoriter.open`."""

    segments: Segments | None = None
    """Where segments are published; None if none are."""
    path: Path | None = None
    """The file of the store; None if it has none."""
    place: str = ":memory:"
    """Where the store is, for people: a file name, or an address without its password."""
    automatic: bool = True
    flush_rows: int = FLUSH_ROWS
    horizon_days: float = 30.0
    """How long replaced versions stay visible to past views."""
    memory_limit: int = 2 * 1024**3
    """Roughly how many bytes of indexes are held at once."""
    writable: bool = True
    follower: Follower | None = None
    """Reads in advance what other processes write; None if every search reads it itself."""


class IndexCache:
    """The indexes of all tenants, within a memory limit. Safe to use from several threads."""

    def __init__(self, log: Log, spaces: IndexSpaces, upkeep: UpkeepOptions, clock: Clock) -> None:
        self._log = log
        self._spaces = spaces
        self._upkeep = upkeep
        self._clock = clock
        self._lock = threading.Lock()
        self._indexes: OrderedDict[tuple[str, str, str], TenantIndex] = OrderedDict()
        self._sizes: dict[tuple[str, str, str], int] = {}
        """The bytes of each when it was last weighed; they are summed in `_total`."""
        self._total = 0
        self._vectorless: dict[tuple[str, str], TenantIndex] = {}
        """Indexes without vectors, for tenants with a damaged vector."""
        self._written: dict[str, int] = {}
        self._background = Background(self._keep_up_or_log)
        self._closing = False

    def index(self, tenant: str, analyzer: Analyzer | None = None) -> TenantIndex:
        """The index of a tenant, by default under the store's own analyzer."""
        index = self._index(tenant, self._spaces_with(analyzer))
        self._weigh(index)
        return index

    def _spaces_with(self, analyzer: Analyzer | None) -> IndexSpaces:
        own = analyzer is None or analyzer is self._spaces.analyzer
        return self._spaces if own else replace(self._spaces, analyzer=analyzer)

    def _index(self, tenant: str, spaces: IndexSpaces) -> TenantIndex:
        self._log.check()  # before the lock: after a fork it may be held for ever
        key = _key(tenant, spaces)
        with self._lock:
            index = self._indexes.pop(key, None)
            if index is None:
                home = self._upkeep.segments if self._keeps(spaces.analyzer) else None
                index = TenantIndex(self._log, tenant, spaces, home)
            self._indexes[key] = index  # last in the order: most recently used
        return index

    def _weigh(self, index: TenantIndex) -> None:
        """Count what an index takes by now, and drop the least recently used beyond the limit.

        Only an index that is used or followed can grow, so a recall need not look at the others.
        """
        key = _key(index.tenant, index.spaces)
        with self._lock:
            if self._indexes.get(key) is index:
                size = index.nbytes
                self._total += size - self._sizes.get(key, 0)
                self._sizes[key] = size
            while len(self._indexes) > 1 and self._total > self._upkeep.memory_limit:
                self._remove(next(iter(self._indexes)))

    def _remove(self, key: tuple[str, str, str]) -> None:
        """Drop an index; the caller holds the lock."""
        del self._indexes[key]
        self._total -= self._sizes.pop(key, 0)

    def past(self, tenant: str, seq: int, spaces: IndexSpaces) -> View:
        """The view at `seq` in an index of other generations, such as those of a receipt."""
        index = self._index(tenant, spaces)
        view = index.view(seq)
        self._weigh(index)
        return view

    def _keeps(self, analyzer: Analyzer) -> bool:
        """Whether segments are published: for the store's analyzer and those added to it."""
        own = self._spaces.analyzer.fingerprint
        return analyzer.fingerprint == own or analyzer.fingerprint in self._log.spaces()

    def view(self, tenant: str, seq: int | None = None, analyzer: Analyzer | None = None) -> View:
        """The view at `seq`, or of everything committed by now.

        If a vector is damaged the view has none, and `View.damage` says why. Raises Expired for a
        view before the horizon, Corrupt for any other damage.
        """
        index = self._index(tenant, self._spaces_with(analyzer))
        try:
            view = index.view(seq)
        except Corrupt as damage:
            if damage.field != VECTORS:
                raise
            return self._without_vectors(tenant, analyzer, seq, damage)
        self._weigh(index)  # it may have just been read from the log
        if self._upkeep.follower is not None:
            self._upkeep.follower.used(index, self._weigh)
        # Another process may have ended before it erased what it had forgotten.
        if index.met_tombs() and self._log.unerased(tenant).count:
            self.tidy_soon(tenant)
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
        """Count written rows: many start upkeep, a few are read for the next search (ADR 0097)."""
        with self._lock:
            count = self._written.get(tenant, 0) + rows
            self._written[tenant] = count % self._upkeep.flush_rows
        if count >= self._upkeep.flush_rows:
            self._start(tenant)
        if rows <= FEW and self._upkeep.follower is None:
            for index in self._used(tenant):
                with contextlib.suppress(MemoriterError, OSError):  # the next search tells of it
                    index.read_on()

    def _used(self, tenant: str) -> list[TenantIndex]:
        """The indexes of a tenant, least recently used first."""
        with self._lock:
            return [each for key, each in self._indexes.items() if key[0] == tenant]

    def loaded(self, tenant: str, rows: int) -> None:
        """Count rows of a long load, which waits where upkeep is far behind it."""
        self.wrote(tenant, rows)
        most = BEHIND * max(self._upkeep.flush_rows, FLUSH_ROWS)
        if self._publishes and self._backlog(tenant) > most:
            self._background.finish(tenant)

    @property
    def _publishes(self) -> bool:
        """Whether upkeep runs in the background."""
        upkeep = self._upkeep
        return upkeep.segments is not None and upkeep.automatic and upkeep.writable

    def _start(self, tenant: str, delay: float = 0.0) -> None:
        """Have upkeep done in the background."""
        if self._publishes:
            self._background.ask(tenant, delay)

    def _keep_up_or_log(self, tenant: str) -> None:
        """Upkeep on the background thread, where nobody could handle an error."""
        # At the end, a tail that is not worth a segment yet is published all the same.
        rows = self.worth_publishing if self._closing else None
        with self._lock:  # a tenant that only has something to erase may need another embedder
            used = tenant in self._written or any(key[0] == tenant for key in self._indexes)
        erased = False
        try:
            if used:
                self._background.attempt(lambda: self.tidy(tenant, rows))
            erased = self._background.attempt(lambda: self.erase(tenant))
        finally:
            if not erased:
                self._start(tenant, ERASE_AGAIN_S)

    def tidy_soon(self, tenant: str) -> None:
        """Have forgotten records erased, and late vectors put to their rows, in the background."""
        self._start(tenant, ERASE_AFTER_S)

    def resume(self, tenant: str) -> None:
        """Have erased in the background what earlier processes left to erase.

        Of every tenant, where the store can tell which have something; else of this one.
        """
        with contextlib.suppress(Corrupt):  # a damaged store opens, so that it can be looked at
            if self._upkeep.automatic and self._upkeep.writable:
                for each in self._log.unerased_tenants(tenant):
                    self._start(each)

    def erase(self, tenant: str, *, wait: bool = False) -> bool:
        """Erase what was forgotten from all files; False if that is not possible just now.

        Raises Forbidden if the store is read-only.
        """
        task = self._task(wait=wait)
        return task is None or erase(task, tenant, [x for x in self._used(tenant) if x.home])

    def erase_now(self, tenant: str) -> None:
        """Erase what was forgotten; Unavailable if a reader prevents it for too long."""
        until = time.monotonic() + ERASE_NOW_S
        while not self.erase(tenant, wait=True):
            if time.monotonic() > until:
                raise Unavailable(
                    "the forgotten memories are hidden, but still in the file: another reader"
                    " uses its write-ahead log",
                    hint="nothing needs to be done: upkeep erases them later, and `status`"
                    " counts those that are left",
                )
            time.sleep(0.05)

    def _task(self, *, wait: bool) -> UpkeepTask | None:
        """What upkeep works on; None if nothing is published, Forbidden if it may only be read."""
        home = self._upkeep.segments
        if home is None:
            return None
        if not self._upkeep.writable:
            raise Forbidden(
                "upkeep cannot run: the store was opened for reading only",
                hint="open it without read_only",
            )
        pace = Pace(lambda: self._background.over, lambda: self._background.awaited)
        # Who waits for upkeep gets a compact index; in between, merging so often would cost more.
        small = SMALL * self._upkeep.flush_rows if wait else 0
        return UpkeepTask(self._log, home, pace, wait, small)

    def tidy(self, tenant: str, flush_rows: int | None = None, *, wait: bool = False) -> bool:
        """Publish and merge what is due; returns whether anything changed.

        With `wait`, after what this process has running. Raises Forbidden if the store is
        read-only.
        """
        task, changed = self._task(wait=wait), False
        if wait:
            self._log.check()  # after a fork there is no thread to wait for
            self._background.finish(tenant)
        if task is not None:
            for index in self._published(tenant):
                changed |= self._tidy_index(task, index, flush_rows)
        return changed

    def _published(self, tenant: str) -> list[TenantIndex]:
        """The tenant's indexes that have segment files, the default one first."""
        own = self.index(tenant)
        return [own] + [
            index
            for index in self._used(tenant)
            if index is not own
            and index.home is not None
            and index.spaces.differs_only_in_analyzer(own.spaces)
        ]

    def _tidy_index(self, task: UpkeepTask, index: TenantIndex, flush_rows: int | None) -> bool:
        horizon = self._clock.now() - int(self._upkeep.horizon_days * DAY)
        floor = self._log.seq_at(index.tenant, horizon)
        rows = self._upkeep.flush_rows if flush_rows is None else flush_rows
        return keep_up(task, index, floor, rows)

    def drop(self, analyzer: Analyzer) -> None:
        """Drop every index under an analyzer: its words were added or deleted."""
        with self._lock:
            for key in [key for key in self._indexes if key[1] == analyzer.fingerprint]:
                self._remove(key)

    def discard(self, tenant: str, index: str) -> bool:
        """Delete the published segments of an index; False if somebody published meanwhile."""
        home = self._upkeep.segments
        if home is None:
            return False
        with home.turn(tenant, wait=True):
            old = self._log.manifest(tenant, index)
            if not self._log.publish(tenant, index, old, Manifest()):
                return False
            sweep(self._log, home, tenant)
        with self._lock:
            for key in [key for key, each in self._indexes.items() if each.name == index]:
                if key[0] == tenant:
                    self._remove(key)
        return True

    @property
    def segments(self) -> Segments | None:
        """Where segments are published; None if none are."""
        return self._upkeep.segments

    @property
    def path(self) -> Path | None:
        """The file of the store; None if it has none."""
        return self._upkeep.path

    @property
    def held(self) -> int:
        """Roughly how many bytes of indexes are held."""
        with self._lock:
            return self._total

    @property
    def place(self) -> str:
        """Where the store is, for people."""
        return self._upkeep.place

    @property
    def worth_publishing(self) -> int:
        """How many rows are worth a segment where nobody waits for an answer."""
        return min(CLOSE_ROWS, self._upkeep.flush_rows)

    def _publish_small(self, until: float) -> None:
        """Have published what the next process would have to build again from the log."""
        least = self.worth_publishing
        with self._lock:
            self._closing = True
            written = set(self._written)
            tenants = {
                index.tenant
                for index in self._indexes.values()
                if index.home is not None and sum(map(len, index.tail)) >= least
            }
        for tenant in sorted(tenants | written):
            if time.monotonic() >= until:
                return
            if tenant in tenants or self._backlog(tenant) >= least:
                self._start(tenant)

    def _backlog(self, tenant: str) -> int:
        """About how many records were written since segments of a tenant were last published."""
        with contextlib.suppress(MemoriterError):  # a store that cannot be read still closes
            manifest = self._log.manifest(tenant, self._spaces.name)
            last = manifest.segments[-1].last if manifest.segments else 0
            return unread_records(last, self._log.head(tenant).seq)
        return 0

    def close(self, until: float) -> None:
        """Publish what is worth it, erase what was forgotten, drop all indexes. Idempotent.

        Waits for upkeep until a time of `time.monotonic`; the rest is left to the next process.
        """
        if self._upkeep.follower is not None:
            self._upkeep.follower.close()
        self._publish_small(until)
        self._background.close(until - time.monotonic())
        for kept in (self._written, self._indexes, self._sizes, self._vectorless):
            kept.clear()


def _key(tenant: str, spaces: IndexSpaces) -> tuple[str, str, str]:
    return tenant, spaces.analyzer.fingerprint, spaces.name
