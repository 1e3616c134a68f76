"""What the lanes `hops` and `cheapest` share: graph distance from seeds.

Seeds come with the call; lanes may add some. Seeds have no score of
their own, even where one reaches another. Equal scores go to the older record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.missed import too_far
from memoriter.lanes.port import Context, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.lanes.terrain import Linked, Terrain, noted, on_paths
from memoriter.rank.walk import Tree

Bare = Annotated[str, Field(pattern=r"^[^\W\d][\w-]{0,127}$")]
"""A name that needs no quotes."""


class Leg(Linked):
    """What both legs have."""

    must_start: ClassVar[bool] = True

    kinds: tuple[Bare, ...] | None = option("link kinds that are followed, by bare names", None)
    direction: Literal["out", "in", "both"] = option(
        "direction in which links are followed",
        "out",
        values={"out": "source to target", "in": "target to source", "both": "both"},
    )
    max_hops: int = option("maximum links from a seed", 2, ge=1, le=100)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready: that it has somewhere to start from was checked before."""
        del ctx
        return Ready({**self.walking(), "max_hops": self.max_hops, "pool": self.pool})

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
        memo = _Reached(terrain, tree, place)
        notes = noted([tree], terrain.seeds)
        return Ranking(rows[order], scores[order], noted=notes, memo=memo)

    def tree(self, terrain: Terrain) -> Tree:
        """The walk."""
        raise NotImplementedError

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's distance or cost, and the path."""
        del ctx
        reached = cast("_Reached", ranking.memo)
        score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        return [
            Explanation(self.kind_name(), score[row], facts=facts)
            for row, facts in zip(rows.tolist(), reached.facts(rows), strict=True)
        ]

    def missed(self, ctx: Context, row: int) -> Miss:
        """It is too many links away, or no path leads to it."""
        return too_far(self, ctx, row, limit="max_hops", pool=self.pool)


@dataclass(frozen=True)
class _Reached:
    terrain: Terrain
    tree: Tree
    place: dict[int, int]
    """Where in the tree a row stands."""

    def facts(self, rows: Rows) -> list[dict[str, object]]:
        places = [self.place[row] for row in rows.tolist()]
        names = self.terrain.names(on_paths([(self.tree, at) for at in places]))
        return [self._facts(at, names) for at in places]

    def _facts(self, at: int, names: dict[int, str]) -> dict[str, object]:
        path = self.terrain.path(self.tree, at, names, None)
        cost, distance = float(self.tree.costs[at]), int(self.tree.depths[at])
        parent = path[-2].get("id")
        return {"distance": distance, "cost": cost, "parent": parent, "path": path}
