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
from memoriter.index.filter import Fetch
from memoriter.index.reading import Reading
from memoriter.index.shelf import Shelf
from memoriter.lanes.port import Context, Skipped, in_space
from memoriter.memory.spaces import Beside, Made, name_of, vector_in
from memoriter.rerank.port import Reranker
from memoriter.store.port import Log
from memoriter.store.ram import Ram
from memoriter.text.port import Analyzer
from memoriter.write.prepare import Workshop

IN_MEMORY: Final = 20_000
"""Up to so many records are read by an analyzer that the store does not keep."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The log, the indexes over it, and what preparing a write or a question needs."""

    log: Log
    shelf: Shelf
    shop: Workshop
    kin: Kindred | None = None
    reranker: Reranker | None = None
    beside: tuple[Beside, ...] = ()
    """The spaces that are read beside the one that serves."""
    pid: int = field(default_factory=os.getpid)

    @property
    def place(self) -> str:
        """The name of the store's file in quotes, as a repr shows it."""
        folder = self.shelf.folder
        if folder is None:
            return "':memory:'" if isinstance(self.log, Ram) else "'(read only)'"
        return named(folder.name.removesuffix(".idx"))

    @property
    def clock(self) -> Clock:
        """Where time enters."""
        return self.shop.clock

    def reading(self, tenant: str, known_at: int | None) -> Reading:
        """The view of everything committed by now, or known at a past moment."""
        seq = None if known_at is None else self.log.seq_at(tenant, known_at)
        return self.shelf.reading(tenant, seq)

    def read_by(
        self, analyzer: Analyzer, tenant: str, known_at: int | None
    ) -> tuple[Reading, str | None]:
        """(the view through an analyzer, None), or (through our own, why not through that one).

        An analyzer that the store does not keep is read in memory, if there is not too much.
        """
        own = self.reading(tenant, known_at)
        if analyzer.fingerprint == self.shop.analyzer.fingerprint:
            return own, None
        if own.total > IN_MEMORY and analyzer.fingerprint not in self.log.spaces():
            return own, (
                f"the store has no words of analyzer {analyzer.name}, and {own.total:,} records "
                f"are too many to read them now: `memoriter analyzer add {analyzer.name}`"
            )
        return self.shelf.reading(tenant, own.seq, analyzer), None

    def fetch(self, tenant: str) -> Fetch:
        """Reads record versions of one tenant."""

        def read(rows: Sequence[int]) -> Sequence[Record | None]:
            return self.log.records(tenant, rows)

        return read

    def spaces(self, ctx: Context, *, asking: bool) -> Context:
        """The context with the query in every space that is read; asking embeds it."""
        if self.shop.embedder is None:
            none = Skipped("this memory has no embedder")
            return replace(ctx, spaces=tuple(replace(each, lacks=none) for each in ctx.spaces))
        query, seq, tenant = ctx.query, ctx.reading.seq, ctx.query.scope.tenant
        vector = vector_in(self.shop, query, ctx.reading) if asking else None
        spaces = [in_space(self.shop.embedder.name, ctx.reading, vector)]
        for each in self.beside:
            view = each.shelf.reading(tenant, seq)
            vector = self._aside(each.shop, query, view) if asking else None
            spaces.append(in_space(name_of(each.shop), view, vector))
        return replace(ctx, spaces=tuple(spaces))

    def _aside(self, shop: Workshop, query: Query, reading: Reading) -> Made:
        """The query in a space beside: a vector of the caller's own belongs to the serving one."""
        if query.given is not None:
            return Skipped("the vector given is of the space that serves", idle=True)
        return vector_in(shop, query, reading)

    def close(self) -> None:
        """Finish upkeep, then let go of the store; upkeep of a forked child is its parent's."""
        if self.pid == os.getpid():
            for shelf in (self.shelf, *(each.shelf for each in self.beside)):
                shelf.close()
        self.log.close()
