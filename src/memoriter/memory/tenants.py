"""One opened store for many tenants, as servers need it; tenants share indexes and nothing else."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack

from memoriter.core.errors import Unavailable
from memoriter.core.scope import Scope
from memoriter.memory.engine import Engine, close_together
from memoriter.memory.facade import Memory
from memoriter.memory.opening import begin_filling, open_engine, open_store, write_context_for
from memoriter.memory.options import OpenOptions

KEPT: Final = 1024
"""How many memories stay open. Each is small: the indexes belong to the shared engine."""


class Tenants:
    """Opens the memory of a tenant on demand. Safe to share between threads."""

    def __init__(self, place: str | Path, **options: Unpack[OpenOptions]) -> None:
        self._store = open_store(place, options)
        self._engines: dict[str, Engine] = {}
        """By vector space: tenants with the same embedder share the indexes."""
        self._kept: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def memory(self, tenant: str) -> Memory:
        """The memory of one tenant; raises Unavailable after `close`."""
        scope = Scope.of(tenant)
        with self._lock:
            if self._closed:
                raise Unavailable("the store is closed", hint="start the server again")
            if tenant not in self._kept:
                engine = self._engine(tenant)
                engine.index_cache.resume(tenant)
                context = write_context_for(self._store, engine, tenant)
                begin_filling(self._store, engine, context, scope)
                self._kept[tenant] = Memory(engine, context, scope)
            self._kept.move_to_end(tenant)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[tenant]

    def _engine(self, tenant: str) -> Engine:
        space = self._store.space(tenant)
        if space not in self._engines:
            self._engines[space] = open_engine(self._store, self._store.embedder(tenant))
        return self._engines[space]

    def close(self) -> None:
        """Let running upkeep finish and close the store; closing twice is fine."""
        with self._lock:
            self._closed = True
            close_together(tuple(self._engines.values()))
            self._store.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
