"""The lane `cheapest`: records by the cost of the cheapest path from any seed (Dijkstra)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.lanes.distance import DistanceLane
from memoriter.lanes.graph_lane import WalkGraph
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.grid import snap
from memoriter.rank.walk import Tree, WalkBudget, cheapest


class CheapestLane(DistanceLane):
    """The cheapest path from any seed, within a budget; the score is −cost.

    Which of equally cheap records the budget still takes is decided by the `ties` of the recipe.
    """

    about: ClassVar[str] = "records that links lead to from seeds, lowest total cost first"
    work_limits: ClassVar[Mapping[str, str]] = {"max_hops": "hops", "max_nodes": "visits"}

    kind: Literal["cheapest"]
    max_nodes: int = option(
        "how many records are visited at most, seeds included", ge=1, le=100_000
    )
    max_cost: float | None = option(
        "maximum total cost of a path; none: no limit", None, ge=0.0, le=1e9
    )
    cost: Literal["weight", "hop"] = option(
        "cost of following a link; links of negative weight are not followed",
        "weight",
        values={"weight": "the weight of the link", "hop": "1 for every link"},
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready, with the budget for the plan."""
        ready = cast("Ready", super().ready(ctx))
        budget: dict[str, object] = {"cost": self.cost, "max_nodes": self.max_nodes}
        if self.max_cost is not None:
            budget["max_cost"] = self.max_cost
        return Ready({**ready.shows, **budget})

    def tree(self, walk_graph: WalkGraph) -> Tree:
        """The paths found, cheapest first."""
        budget = WalkBudget(self.max_nodes, self.max_hops, self.max_cost)
        seeds = walk_graph.seeds.tolist()
        return cheapest(
            walk_graph.steps,
            walk_graph.allowed,
            seeds=seeds,
            costs=self._costs(walk_graph),
            budget=budget,
            order=walk_graph.order,
        )

    def _costs(self, walk_graph: WalkGraph) -> NDArray[np.float64]:
        weights = walk_graph.graph.edges.weights
        return snap(weights) if self.cost == "weight" else np.ones(weights.size)
