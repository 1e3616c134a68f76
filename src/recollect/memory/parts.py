"""What an opened memory is made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from recollect.core.clock import Clock
from recollect.core.errors import BadQuery
from recollect.core.query import Query
from recollect.core.record import Record
from recollect.embed.port import Kindred
from recollect.index.filter import Fetch
from recollect.index.reading import Reading
from recollect.index.shelf import Shelf
from recollect.lanes.port import Skipped
from recollect.rank.grid import unit
from recollect.rerank.port import Reranker
from recollect.store.port import Log
from recollect.text.port import Analyzer
from recollect.write.prepare import Workshop, embed

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
    pid: int = field(default_factory=os.getpid)

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
                f"are too many to read them now: `recollect analyzer add {analyzer.name}`"
            )
        return self.shelf.reading(tenant, own.seq, analyzer), None

    def fetch(self, tenant: str) -> Fetch:
        """Reads record versions of one tenant."""

        def read(rows: Sequence[int]) -> Sequence[Record | None]:
            return self.log.records(tenant, rows)

        return read

    def vector(self, query: Query) -> NDArray[np.float32] | Skipped:
        """The query's vector: the caller's own, or what the embedder answers."""
        embedder = self.shop.embedder
        if embedder is None:
            return Skipped("this memory has no embedder")
        if query.given == ():
            return Skipped("the vector that comes with the query is empty")
        if query.given is not None:
            if len(query.given) != embedder.dimension:
                raise BadQuery(
                    f"vector: expected {embedder.dimension} numbers, got {len(query.given)}",
                    field="vector",
                )
            return cast("NDArray[np.float32]", unit(np.array(query.given)))
        if not query.text.strip():
            return Skipped("the query has no text")
        (made,) = embed([query.text], "query", embedder)
        if isinstance(made, Exception):
            return Skipped(f"the embedder failed: {made}")
        return (
            Skipped("nothing in the query can be embedded")
            if made is None
            else np.frombuffer(made, "<f4")
        )

    def close(self) -> None:
        """Finish upkeep, then let go of the store; upkeep of a forked child is its parent's."""
        if self.pid == os.getpid():
            self.shelf.close()
        self.log.close()
