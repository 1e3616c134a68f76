"""What an opened memory is made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memoriter.core.clock import Clock
from memoriter.core.query import Query
from memoriter.core.record import Record
from memoriter.core.shown import named
from memoriter.embed.port import Kindred
from memoriter.index.cache import IndexCache
from memoriter.index.filter import Fetch
from memoriter.index.view import View
from memoriter.lanes.port import Context, Skipped, in_space
from memoriter.memory.spaces import Made, OtherSpaces, name_of, vector_in
from memoriter.rerank.port import Reranker
from memoriter.store.port import Log
from memoriter.store.ram import Ram
from memoriter.text.port import Analyzer
from memoriter.write.prepare import WriteContext

IN_MEMORY: Final = 20_000
"""Up to so many records are read by an analyzer that the store does not keep."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The log, the indexes over it, and what preparing a write or a question needs."""

    log: Log
    index_cache: IndexCache
    write_context: WriteContext
    kin: Kindred | None = None
    reranker: Reranker | None = None
    beside: tuple[OtherSpaces, ...] = ()
    """The spaces that are read beside the one that serves."""
    pid: int = field(default_factory=os.getpid)

    @property
    def place(self) -> str:
        """The name of the store's file in quotes, as a repr shows it."""
        folder = self.index_cache.folder
        if folder is None:
            return "':memory:'" if isinstance(self.log, Ram) else "'(read only)'"
        return named(folder.name.removesuffix(".idx"))

    @property
    def clock(self) -> Clock:
        """Where time enters."""
        return self.write_context.clock

    def view(self, tenant: str, known_at: int | None) -> View:
        """The view of everything committed by now, or known at a past moment."""
        seq = None if known_at is None else self.log.seq_at(tenant, known_at)
        return self.index_cache.view(tenant, seq)

    def read_by(
        self, analyzer: Analyzer, tenant: str, known_at: int | None
    ) -> tuple[View, str | None]:
        """(the view through an analyzer, None), or (through our own, why not through that one).

        An analyzer that the store does not keep is read in memory, if there is not too much.
        """
        own = self.view(tenant, known_at)
        if analyzer.fingerprint == self.write_context.analyzer.fingerprint:
            return own, None
        if own.total > IN_MEMORY and analyzer.fingerprint not in self.log.spaces():
            return own, (
                f"the store has no words of analyzer {analyzer.name}, and {own.total:,} records "
                f"are too many to read them now: `memoriter analyzer add {analyzer.name}`"
            )
        return self.index_cache.view(tenant, own.seq, analyzer), None

    def fetch(self, tenant: str) -> Fetch:
        """Reads record versions of one tenant."""

        def read(rows: Sequence[int]) -> Sequence[Record | None]:
            return self.log.records(tenant, rows)

        return read

    def spaces(self, ctx: Context, *, asking: bool) -> Context:
        """The context with the query in every space that is read; asking embeds it."""
        if self.write_context.embedder is None:
            none = Skipped("this memory has no embedder")
            return replace(ctx, spaces=tuple(replace(each, lacks=none) for each in ctx.spaces))
        query, seq, tenant = ctx.query, ctx.view.seq, ctx.query.scope.tenant
        vector = vector_in(self.write_context, query, ctx.view) if asking else None
        spaces = [in_space(self.write_context.embedder.name, ctx.view, vector)]
        for each in self.beside:
            view = each.index_cache.view(tenant, seq)
            vector = self._aside(each.write_context, query, view) if asking else None
            spaces.append(in_space(name_of(each.write_context), view, vector))
        return replace(ctx, spaces=tuple(spaces))

    def _aside(self, write_context: WriteContext, query: Query, view: View) -> Made:
        """The query in a space beside: a vector of the caller's own belongs to the serving one."""
        if query.given is not None:
            return Skipped("the vector given is of the space that serves", idle=True)
        return vector_in(write_context, query, view)

    def close(self) -> None:
        """Finish upkeep, then let go of the store; upkeep of a forked child is its parent's."""
        if self.pid == os.getpid():
            for index_cache in (self.index_cache, *(each.index_cache for each in self.beside)):
                index_cache.close()
        self.log.close()
