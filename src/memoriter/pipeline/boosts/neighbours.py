"""The boost `neighbours`: linked candidates pass on a share of their scores."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap


class NeighboursBoost(Boost):
    """Σ over linked candidates of edge weight · the best of some columns · decay.

    Edges of any kind count in both directions if they are valid at the query's time.
    """

    about: ClassVar[str] = "linked candidates pass on a share of their scores"

    kind: Literal["neighbours"]
    of: tuple[str, ...] = option(
        "score columns, such as words.scaled; each candidate passes its largest value in these"
        " columns on to the candidates linked to it",
        min_length=1,
    )
    # 1000 · 1000 stays below 2^21, up to which sums on the grid are exact.
    decay: float = option(
        "the value that a candidate passes on is multiplied by this factor and by the weight of"
        " the link",
        0.5,
        ge=0.0,
        le=1000.0,
    )
    most: int = option(
        "how many links of a record count at most; the heaviest links count", 5, ge=1, le=1000
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The sum that each row gets from its neighbours; NaN unless it is above 0."""
        graph = ctx.graph
        nodes = graph.positions(slate.rows)
        within = np.zeros(graph.rows.size, np.bool_)
        within[nodes] = True
        near = graph.neighbours(
            nodes, graph.edges.holding(ctx.time), graph.nodes(ctx.selection.readable), self.most
        )
        base = np.zeros(graph.rows.size)
        base[nodes] = self._base(slate)
        passed_on = snap(near.weights * base[near.others] * self.decay)
        total = np.zeros(graph.rows.size)
        np.add.at(total, near.owners, np.where(within[near.others], passed_on, 0.0))
        values = total[nodes]
        lifted = values > 0.0
        shows = {"edges_read": int(near.edges.size), "reads": near.reads}
        return Boosted(
            np.where(lifted, values, np.nan), shows={**shows, "lifted": int(lifted.sum())}
        )

    def _base(self, slate: Slate) -> np.ndarray:
        known = [slate.columns[name] for name in self.of if name in slate.columns]
        if not known:
            return np.zeros(slate.rows.size)
        return np.nan_to_num(np.stack(known), nan=0.0).max(axis=0)
