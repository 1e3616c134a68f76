"""What some reflections were made from: the edges of a view that say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from memoriter.core.ranking import Mask, Rows
from memoriter.core.where import Test
from memoriter.index.filter import passing
from memoriter.lanes.port import Context
from memoriter.rank.sources import Sources

SOURCE: Final = ("consolidated_from",)


def sources_of(ctx: Context, rows: Rows, kinds: Sequence[str] | None = None) -> Sources:
    """The sources of the reflections among these rows, at the time asked about.

    Wanted are those that the selection lets be found and, if kinds are named, that are of these.
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
    """The selection, or what of it is of these kinds."""
    masks = ctx.selection.masks
    if kinds is None:
        return masks
    test = Test("kind", "in", tuple(kinds))
    pairs = zip(ctx.reading.segments, masks, strict=True)
    return [passing(test, segment, mask, lambda _: []) for segment, mask in pairs]
