"""One opened store behind many tenants: their memories share its indexes, and nothing else."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack

from memoriter.core.errors import Unavailable
from memoriter.core.scope import Scope
from memoriter.memory.engine import Engine
from memoriter.memory.facade import Memory
from memoriter.memory.opening import ground_of, parts_for, parts_of
from memoriter.memory.options import OpenOptions

KEPT: Final = 1024
"""Memories that stay at hand; each is a few names, the indexes are the shelf's."""


class Tenants:
    """Hands out the memory of a tenant. Safe to share between threads."""

    def __init__(self, place: str | Path, **options: Unpack[OpenOptions]) -> None:
        self._ground = ground_of(place, options)
        self._engine: dict[str, Engine] = {}
        """By space: tenants that are embedded alike share a shelf of indexes."""
        self._kept: OrderedDict[str, Memory] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def memory(self, tenant: str) -> Memory:
        """The memory of one tenant."""
        scope = Scope.of(tenant)
        with self._lock:
            if self._closed:
                raise Unavailable("the store is closed", hint="start the server again")
            if tenant not in self._kept:
                self._kept[tenant] = Memory(self._made(tenant), scope)
            self._kept.move_to_end(tenant)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[tenant]

    def _made(self, tenant: str) -> Engine:
        space = self._ground.space(tenant)
        if space not in self._engine:
            self._engine[space] = parts_of(self._ground, tenant, self._ground.embedder(tenant))
        return parts_for(self._engine[space], tenant)

    def close(self) -> None:
        """Let running upkeep finish and close the store; closing twice is fine."""
        with self._lock:
            self._closed = True
            for engine in self._engine.values():
                engine.close()
            self._ground.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
