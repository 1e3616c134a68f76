"""Which records are few hops, or a cheap way, from given ones?

Seeds come with the call; lanes may add some. Seeds have no score of
their own, even where one reaches another. Equal scores go to the older record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.terrain import Linked, Terrain, noted, on_paths
from memoriter.rank.grid import snap
from memoriter.rank.walk import Budget, Tree, cheapest, hops

Bare = Annotated[str, Field(pattern=r"^[^\W\d][\w-]{0,127}$")]
"""A name that needs no quotes."""


class Leg(Linked):
    """What both legs have."""

    kinds: tuple[Bare, ...] | None = None
    """Which kinds of edges are followed, by bare names; None for all."""
    direction: Literal["out", "in", "both"] = "out"
    max_hops: int = Field(default=2, ge=1, le=100)
    must_start: ClassVar[bool] = True

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready: that it has somewhere to start from was checked before."""
        del ctx
        return Ready({**self.shows(), "max_hops": self.max_hops, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """What the seeds reach, nearest or cheapest first."""
        terrain = Terrain.of(self, ctx)
        tree = self.tree(terrain)
        at = np.sort(np.unique(tree.nodes, return_index=True)[1])
        at = at[(tree.depths[at] > 0) & terrain.inside[tree.nodes[at]]]
        rows = terrain.graph.rows[tree.nodes[at]]
        scores = 0.0 - tree.costs[at]  # no negative zero
        order = ctx.best(scores, rows, self.pool)
        place = dict(zip(rows.tolist(), at.tolist(), strict=True))
        told = noted([tree], terrain.seeds)
        memo = _Reached(terrain, tree, place)
        return Ranking(rows[order], scores[order], noted=told, memo=memo)

    def tree(self, terrain: Terrain) -> Tree:
        """The walk."""
        raise NotImplementedError

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's distance or cost, and the path."""
        del ctx
        reached = cast("_Reached", ranking.memo)
        score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        facts = reached.told(rows)
        label = str(getattr(self, "kind", ""))
        return [
            Explanation(label, score[row], facts=told)
            for row, told in zip(rows.tolist(), facts, strict=True)
        ]


class Hops(Leg):
    """The least number of hops from any seed: a score of −distance."""

    kind: Literal["hops"]

    def tree(self, terrain: Terrain) -> Tree:
        """Level by level."""
        return hops(terrain.steps, terrain.ways, terrain.seeds.tolist(), self.max_hops)


class Cheapest(Leg):
    """The cheapest way from any seed, within a budget: a score of −cost."""

    kind: Literal["cheapest"]
    max_nodes: int = Field(ge=1, le=100_000)
    """How many records are visited at most, seeds included."""
    max_cost: float | None = Field(default=None, ge=0.0, le=1e9)
    """The highest cost that still counts."""
    cost: Literal["weight", "hop"] = "weight"
    """What an edge costs: its weight, or 1. An edge of negative weight is not walked."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """As every leg."""
        ready = cast("Ready", super().ready(ctx))
        budget: dict[str, object] = {"cost": self.cost, "max_nodes": self.max_nodes}
        if self.max_cost is not None:
            budget["max_cost"] = self.max_cost
        return Ready({**ready.shows, **budget})

    def tree(self, terrain: Terrain) -> Tree:
        """Cheapest first."""
        budget = Budget(self.max_nodes, self.max_hops, self.max_cost)
        seeds = terrain.seeds.tolist()
        return cheapest(terrain.steps, terrain.ways, seeds, self._costs(terrain), budget)

    def _costs(self, terrain: Terrain) -> NDArray[np.float64]:
        weights = terrain.graph.edges.weights
        return snap(weights) if self.cost == "weight" else np.ones(weights.size)


@dataclass(frozen=True)
class _Reached:
    terrain: Terrain
    tree: Tree
    place: dict[int, int]
    """Where in the tree a row stands."""

    def told(self, rows: Rows) -> list[dict[str, object]]:
        places = [self.place[row] for row in rows.tolist()]
        names = self.terrain.names(on_paths([(self.tree, at) for at in places]))
        return [self._told(at, names) for at in places]

    def _told(self, at: int, names: dict[int, str]) -> dict[str, object]:
        path = self.terrain.path(self.tree, at, names, None)
        cost, distance = float(self.tree.costs[at]), int(self.tree.depths[at])
        told: dict[str, object] = {"distance": distance, "cost": cost, "parent": path[-2].get("id")}
        return {**told, "path": path}
