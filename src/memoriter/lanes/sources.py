"""The lane `sources`: adds the records that found reflections were made from, with score 0.

The boost of the same name reads them too (`sources_of`) and gives them their score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Mask, Ranking, Rows
from memoriter.core.where import Test
from memoriter.index.filter import passing
from memoriter.lanes.port import Context, Miss, Ready, Seeded, Skipped
from memoriter.lanes.spec import option

SOURCE: Final = ("consolidated_from",)
"""The kind of the edges from a reflection to its sources."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Edges from reflections to their sources, as rows; heaviest first within a reflection."""

    owners: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    wanted: NDArray[np.bool_]
    """Which targets may get a score; the others only count towards the ceiling."""


class SourcesLane(Seeded):
    """The sources of reflections; the boost `sources` gives them their score."""

    about: ClassVar[str] = "records that the reflections among good hits were made from"
    brings: ClassVar[bool] = True

    kind: Literal["sources"]
    pool: int = option("maximum candidates", 1000, ge=1, le=100_000)
    kinds: tuple[str, ...] | None = option("record kinds that may be brought in", None)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready: the reflections are known only when other lanes have run."""
        del ctx
        return Ready({"seeds": list(self.seeds), "seed_count": self.seed_count, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The sources, all with score 0."""
        sources = sources_of(ctx, ctx.seeds, self.kinds)
        rows = np.unique(sources.targets[sources.wanted])
        order = ctx.best(np.zeros(rows.size), rows, self.pool)
        return Ranking(rows[order], np.zeros(order.size))

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """A leaf of 0 for each row: the boost `sources` scores them."""
        del ctx, ranking
        return [Explanation("source of a reflection", 0.0) for _ in rows]

    def missed(self, ctx: Context, row: int) -> Miss:
        """No reflection among the seeds was made from the record."""
        del ctx, row
        return Miss("it is no source of a reflection that was found")


def sources_of(ctx: Context, rows: Rows, kinds: Sequence[str] | None = None) -> Sources:
    """The sources of the reflections among these rows, at the query's time.

    `wanted` marks sources that are in the selection and, if `kinds` is not None, of these kinds.
    """
    graph = ctx.graph
    edges = graph.edges
    owners = graph.positions(rows)
    at = np.flatnonzero(edges.holding(ctx.time, SOURCE) & np.isin(edges.sources, owners))
    at = at[np.lexsort((at, -edges.weights[at], edges.sources[at]))]
    wanted = graph.nodes(_masks(ctx, kinds))[edges.targets[at]]
    return Sources(
        graph.rows[edges.sources[at]], graph.rows[edges.targets[at]], edges.weights[at], wanted
    )


def _masks(ctx: Context, kinds: Sequence[str] | None) -> Sequence[Mask]:
    """The selection, limited to these kinds unless None."""
    masks = ctx.selection.masks
    if kinds is None:
        return masks
    test = Test("kind", "in", tuple(kinds))
    pairs = zip(ctx.view.segments, masks, strict=True)
    return [passing(test, segment, mask, lambda _: []) for segment, mask in pairs]
