"""The records that reflections were made from; the lane and the boost `sources` read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows
from memoriter.core.where import Test
from memoriter.index.filter import passing
from memoriter.lanes.port import Context

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
