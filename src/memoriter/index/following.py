"""Reads what other processes wrote before somebody asks: one thread for all tenants of a store.

Every search asks for the end of its log itself, so no answer depends on this thread: it only does
in advance what the next search would have to wait for. A store on a server has one; the tenants
that were asked lately are looked at together, in one query.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary, WeakMethod

from memoriter.core.errors import MemoriterError
from memoriter.index.tenant import TenantIndex

EVERY_S: Final = 0.25
"""How often it looks."""
AGAIN_S: Final = 5.0
"""When it looks again at an index, or at the server, after an error of it, of which the next search
tells its caller."""
LATELY_S: Final = 60.0
"""How long a tenant is followed after it was last asked."""

MOST: Final = 256
"""How many indexes are followed at a time: those that were asked last."""

LogEnds = Callable[[Sequence[str]], Mapping[str, tuple[int, int]]]
"""By tenant: the last entry of its log, and how often segments of it were published."""

Weigh = Callable[[TenantIndex], None]
"""The method of a cache that takes note of an index that has grown."""


class Follower:
    """The thread, which lives only while there are tenants that were asked lately."""

    def __init__(self, ends: LogEnds) -> None:
        self._ends = ends
        self._state = threading.Condition()
        self._used: WeakKeyDictionary[TenantIndex, float] = WeakKeyDictionary()
        """When each index was last asked; those that are dropped leave by themselves."""
        self._weigh: WeakKeyDictionary[TenantIndex, WeakMethod[Weigh]] = WeakKeyDictionary()
        """Where each is cached: the caches of a store share its follower."""
        self._again: WeakKeyDictionary[TenantIndex, float] = WeakKeyDictionary()
        """When those that could not be read are tried again; only the thread uses it."""
        self._thread: threading.Thread | None = None
        self._closed = False

    def used(self, index: TenantIndex, weigh: Weigh) -> None:
        """Follow the tenant of an index for a while; its cache weighs it when it was read."""
        with self._state:
            self._weigh[index] = WeakMethod(weigh)
            self._used[index] = time.monotonic()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._run, name="memoriter-follow", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        pause = EVERY_S
        try:
            while self._rest(pause):
                pause = EVERY_S if self._follow() else AGAIN_S
        finally:
            with self._state:
                if self._thread is threading.current_thread():  # after an unexpected error
                    self._thread = None

    def _rest(self, seconds: float) -> bool:
        """Wait; False, and the thread ends, if the store was closed or nothing was asked lately."""
        with self._state:
            self._state.wait_for(lambda: self._closed, seconds)
            going = not self._closed and bool(self._lately())
            if not going:
                self._thread = None  # in the same breath: who comes now starts another one
            return going

    def _lately(self) -> list[TenantIndex]:
        """The indexes to follow; the caller holds the lock."""
        since = time.monotonic() - LATELY_S
        for index in [index for index, asked in self._used.items() if asked < since]:
            del self._used[index]
        return heapq.nlargest(MOST, self._used, key=self._used.__getitem__)

    def _follow(self) -> bool:
        """Have the indexes read what they lack; False if the server could not be asked."""
        now = time.monotonic()
        with self._state:
            indexes = [each for each in self._lately() if self._again.get(each, now) <= now]
        try:
            tenants = sorted({index.tenant for index in indexes})
            ends: Mapping[str, tuple[int, int]] = self._ends(tenants) if tenants else {}
        except (MemoriterError, OSError):
            return False
        for index in indexes:
            self._read_on(index, ends)
        return True

    def _read_on(self, index: TenantIndex, ends: Mapping[str, tuple[int, int]]) -> None:
        """Have one index read what it lacks; if that fails, it is left alone for a while."""
        try:
            if not self._closed and ends.get(index.tenant, index.end) != index.end:
                index.view()
                if (weigh := self._weigh[index]()) is not None:
                    weigh(index)
        except (MemoriterError, OSError):
            self._again[index] = time.monotonic() + AGAIN_S

    def close(self) -> None:
        """End the thread, soon; what it still reads of a closed store fails. Idempotent."""
        with self._state:
            self._closed = True
            self._state.notify_all()
