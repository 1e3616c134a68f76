"""Access to private parts of opened memories, for tests and benchmarks that need them.

A test uses the public API where it can. The private names that remain are used in this file only;
the one exception is the crash laboratory, which replaces private methods to plant a bug.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, cast

import apsw

from memoriter.core.query import Query
from memoriter.index.build import PartArrays
from memoriter.index.segment import Segment
from memoriter.index.tenant import TenantIndex
from memoriter.index.view import View
from memoriter.memory.engine import Engine
from memoriter.memory.facade import Memory
from memoriter.pipeline.recipe import Recipe
from memoriter.store.group_commit import PendingBatch
from memoriter.store.port import Log
from memoriter.testing.fakes import HandClock
from memoriter.write.prepare import WriteContext

# -- of every memory ---------------------------------------------------------------------------


def engine_of(memory: Memory) -> Engine:
    """The log, the index and the models of a memory."""
    return memory._engine


def log_of(memory: Memory) -> Log:
    """The store beneath a memory."""
    return engine_of(memory).log


def index_of(memory: Memory) -> TenantIndex:
    """The index of the memory's tenant."""
    return engine_of(memory).index_cache.index(memory.scope.tenant)


def view_of(memory: Memory, known_at: int | None = None) -> View:
    """What a search reads now, or read at a moment."""
    return engine_of(memory).view(memory.scope.tenant, known_at)


def keeps_texts(segment: Segment) -> bool:
    """Whether a segment keeps the records that it was made of."""
    arrays = segment.arrays
    return isinstance(arrays, PartArrays) and arrays._source is not None


def embedder_of(memory: Memory) -> Any:
    """The embedder that the memory writes and asks with; None if it has none."""
    return engine_of(memory).vectors.embedder


def context_of(memory: Memory) -> WriteContext:
    """What the memory needs in order to write."""
    return memory._writer.context


def reranker_of(memory: Memory) -> Any:
    """The reranker that the memory was opened with; None if it has none."""
    return engine_of(memory).reranker


def query_of(
    memory: Memory, text: str, limit: int | None, options: Mapping[str, Any]
) -> tuple[Query, Recipe]:
    """The query and the recipe that `recall` makes of its arguments."""
    return memory._query(text, limit, cast("Any", options))


def clock_of(memory: Memory) -> HandClock:
    """The clock that a memory was opened with, to move it by hand."""
    clock = engine_of(memory).clock
    assert isinstance(clock, HandClock)
    return clock


# -- of a memory in a file ---------------------------------------------------------------------


def _sqlite(memory: Memory) -> Any:
    return log_of(memory)


def connection_of(memory: Memory) -> apsw.Connection:
    """The connection by which this thread reads."""
    return _sqlite(memory)._reader()


def connections(memory: Memory) -> int:
    """How many connections are open."""
    return len(_sqlite(memory)._open)


def snapshot_of(memory: Memory) -> AbstractContextManager[apsw.Connection]:
    """A transaction that reads, until it is left."""
    return _sqlite(memory)._snapshot()


def commit_together(memory: Memory, jobs: Sequence[PendingBatch]) -> None:
    """Commit jobs in one transaction, as those who wait for the disk together are."""
    _sqlite(memory)._commit_all(jobs)


@contextmanager
def write_transaction(memory: Memory) -> Iterator[apsw.Connection]:
    """A transaction that writes, until it is left; nobody else can write meanwhile."""
    log = _sqlite(memory)
    with log._queue.exclusive(), log._write_transaction() as connection:
        yield connection


def no_writer(memory: Memory) -> AbstractContextManager[None]:
    """Nobody can write until it is left: writers gather in the queue."""
    return _sqlite(memory)._queue.exclusive()


def waiting_writers(memory: Memory) -> int:
    """How many wait in the queue for the next transaction."""
    return len(_sqlite(memory)._queue._waiting)


def counted_groups(memory: Memory) -> list[int]:
    """How many jobs each transaction has from now on; the list grows with every one."""
    queue, sizes = _sqlite(memory)._queue, list[int]()
    write: Callable[[Any], None] = queue._write

    def counted(jobs: Sequence[PendingBatch]) -> None:
        sizes.append(len(jobs))
        write(jobs)

    queue._write = counted
    return sizes


@contextmanager
def every_lock(memory: Memory) -> Iterator[None]:
    """Hold all locks of a memory at once, as an unlucky fork finds them."""
    log, index_cache = _sqlite(memory), engine_of(memory).index_cache
    with ExitStack() as held:
        for lock in (log._mutex, log._queue._gate, log._queue._leading, index_cache._lock):
            held.enter_context(lock)
        yield


# -- of others ---------------------------------------------------------------------------------


def stop_sign(filling: Any) -> threading.Event:
    """Set once somebody has asked a filling to stop."""
    return filling._stop


def routes_of(guarded: Any) -> Sequence[Any]:
    """The routes behind the guards of an application."""
    return guarded._inner.routes


def open_requests(server_state: Any) -> int:
    """How many requests a server works on or lets wait."""
    return server_state.workers._open


def words_left(context: Any) -> list[str]:
    """What a group of click hands on to its commands."""
    return [*context._protected_args, *context.args]
