"""The parts of an opened memory that reading needs: log, indexes, models, clock.

Tenants with the same embedder share one engine. Writing needs a `write.prepare.WriteContext` too;
nothing in this module, or in the others that a search passes through, imports `write/`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from memoriter.core.clock import Clock
from memoriter.core.errors import Corrupt, InputError, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import integer, number
from memoriter.core.shown import named
from memoriter.core.work_limit import WorkLimit
from memoriter.embed.port import Kindred
from memoriter.embed.vector_space import VectorSpace
from memoriter.index.cache import CLOSE_S, IndexCache
from memoriter.index.checked import SEGMENT
from memoriter.index.filter import filter_limit
from memoriter.index.read_once import Reader
from memoriter.index.view import View
from memoriter.lanes.port import Context, Skipped, in_space
from memoriter.memory.filling import Filling
from memoriter.memory.spaces import OtherSpace, QueryVector, query_vector
from memoriter.rerank.port import Reranker
from memoriter.store.port import Log
from memoriter.text.port import Analyzer

T = TypeVar("T")


class AnswerHome(Protocol):
    """Where a store keeps what answers were made of."""

    @property
    def kept_s(self) -> float:
        """How long it keeps them, from when they were last kept."""
        ...

    def keep(self, tenant: str, handle: str, body: bytes) -> None:
        """Keep it for a while."""
        ...

    def find(self, tenant: str, handle: str) -> bytes | None:
        """What is kept under a handle."""
        ...


UPKEEP_PART: Final = 0.75
"""How much of the time for closing a store upkeep gets."""
IN_MEMORY: Final = 20_000
"""The most records that are analysed in memory for an analyzer whose words are not stored."""


class AnalyzedView(NamedTuple):
    """A view, and why it is not read through the requested analyzer."""

    view: View
    unread: str | None
    """None if it is read through that analyzer; else the reason, for the plan and the receipt."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The log of a store, the indexes over it, and the models that searches use."""

    log: Log
    index_cache: IndexCache
    analyzer: Analyzer
    """The store's own analyzer, whose words every record has."""
    vectors: VectorSpace
    """The serving space: records are embedded into it, and queries too."""
    clock: Clock
    kin: Kindred | None = None
    reranker: Reranker | None = None
    other_spaces: tuple[OtherSpace, ...] = ()
    """The spaces of further embedders, which are searched too."""
    answers: AnswerHome | None = None
    """Where the store keeps what answers were made of; None if it does not."""
    filling: Filling = field(default_factory=Filling)
    """Computes in the background what writes left owed."""
    filter_steps: int | None = None
    """How many steps a filter may take; None: as many as by default."""
    pid: int = field(default_factory=os.getpid)
    """The process that opened the store."""

    def filter_limit(self, searches: int = 1) -> WorkLimit:
        """The work that the filters of some searches may do."""
        return filter_limit(self.filter_steps, searches)

    @property
    def place(self) -> str:
        """The name of the store's file, or its address, in quotes, for a repr."""
        return named(self.index_cache.place)

    def view(self, tenant: str, known_at: int | None) -> View:
        """The view of everything committed by now, or by a past moment."""
        seq = None if known_at is None else self.log.seq_at(tenant, known_at)
        return self.index_cache.view(tenant, seq)

    def view_through(self, analyzer: Analyzer, tenant: str, known_at: int | None) -> AnalyzedView:
        """The view with the words of an analyzer, or with our own and the reason.

        If the store does not keep the words of that analyzer, a small store is analysed in memory.
        """
        own = self.view(tenant, known_at)
        if analyzer.fingerprint == self.analyzer.fingerprint:
            return AnalyzedView(own, None)
        if own.total > IN_MEMORY and analyzer.fingerprint not in self.log.spaces():
            return AnalyzedView(
                own,
                f"the store has no words of analyzer {analyzer.name}, and {own.total:,} records "
                f"are too many to analyse now: `memoriter analyzer add {analyzer.name}`",
            )
        # The same sequence number as `own`: a commit in between must not change the view.
        return AnalyzedView(self.index_cache.view(tenant, own.seq, analyzer), None)

    def fetch(self, tenant: str) -> Reader:
        """A function that reads record versions of one tenant by row."""
        return Reader(partial(self.log.records, tenant), partial(self.log.sizes, tenant))

    def with_spaces(self, ctx: Context, *, embed: bool) -> Context:
        """The context with every vector space; with `embed`, the query is embedded into each."""
        if self.vectors.embedder is None:
            none = Skipped("this memory has no embedder")
            return replace(ctx, spaces=tuple(replace(each, lacks=none) for each in ctx.spaces))
        query, seq, tenant = ctx.query, ctx.view.seq, ctx.query.scope.tenant
        vector = query_vector(self.vectors, query, ctx.embedded, ctx.view) if embed else None
        spaces = [in_space(self.vectors.embedder.name, ctx.view, vector)]
        for each in self.other_spaces:
            view = each.index_cache.view(tenant, seq)
            vector = _vector_in_other(each, ctx, view) if embed else None
            spaces.append(in_space(each.vectors.embedder_name, view, vector))
        return ctx.changed(spaces=tuple(spaces))

    def wait_for(self, tenant: str, seq: int, timeout: float) -> None:
        """See to it that every read of this process sees an entry that was written elsewhere.

        Where a standby is behind, the primary is asked. Raises Unavailable if none has it in time.
        """
        integer(seq, "seq", 0, 2**62, InputError)
        until = time.monotonic() + number(timeout, "timeout", 0.0, 1e6, InputError)
        while self.log.head(tenant).seq < seq and self.log.catch_up(tenant).seq < seq:
            if time.monotonic() >= until:
                raise Unavailable(
                    f"log entry {seq} of tenant {tenant!r} has not reached this store yet",
                    hint="a standby may be behind its primary: try again, or ask the primary",
                )
            time.sleep(0.01)

    def close(self, wait: float = CLOSE_S) -> None:
        """Close the store within about so many seconds; see `close_together`."""
        close_together((self,), wait)


def close_together(engines: Sequence[Engine], wait: float = CLOSE_S) -> None:
    """Give the upkeep of engines of one store most of so many seconds, then close the store.

    The rest of the time is for the file: its write-ahead log is written back.
    """
    until = time.monotonic() + UPKEEP_PART * wait
    for engine in engines:
        # After a fork the child has a copy of this object, but upkeep threads run in the parent.
        if engine.pid == os.getpid():
            engine.filling.close(until - time.monotonic())
            engine.index_cache.close(until)
            for each in engine.other_spaces:
                each.index_cache.close(until)
    for engine in engines:
        engine.log.close()


def again_if_damaged(work: Callable[[], T]) -> T:
    """What some reading gives; once more if it met a damaged segment, which is then not used."""
    try:
        return work()
    except Corrupt as damage:
        if damage.field != SEGMENT:
            raise
    return work()


def _vector_in_other(space: OtherSpace, ctx: Context, view: View) -> QueryVector:
    """The query's vector in a further space; the caller's own vector is of the serving space."""
    if ctx.query.vector is not None:
        return Skipped("the given vector belongs to the space in use", idle=True)
    return query_vector(space.vectors, ctx.query, ctx.embedded, view)
