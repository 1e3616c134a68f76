"""Which records hang on what was found? A bounded walk from each seed, nearest first.

A record reached scores 1/depth, plus what the best kind of edge on its path is worth by depth, plus
a little for every further seed that reaches it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Mask, Ranking, Rows
from memoriter.lanes.missed import too_far
from memoriter.lanes.port import Context, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.lanes.terrain import Linked, Terrain, on_paths
from memoriter.rank.grid import snap
from memoriter.rank.walk import Tree
from memoriter.rank.walks import Forest, Gathered, Reached, Worth, gather, walks

BOOSTS: Final = {
    "continues_from": 0.60, "branches_from": 0.55, "corrects": 0.50, "invalidates": 0.50,
    "supersedes": 0.45, "derived_from": 0.40, "summarizes": 0.20, "caused_by": 0.20,
    "supports": 0.15, "contradicts": 0.15, "related_to": 0.08, "references": 0.06,
}  # fmt: skip
"""What a kind of edge is worth; any other kind nothing."""
LinkWorth = Annotated[float, Field(ge=0.0, le=1000.0)]


class WalkLane(Linked):
    """A breadth-first walk from each seed."""

    about: ClassVar[str] = "records linked to good hits, by a walk from each of them"

    kind: Literal["walk"]
    max_depth: int = option("maximum links from a seed", 2, ge=0, le=100)
    max_visited: int = option(
        "maximum records visited by one walk, its seed included", 128, ge=1, le=100_000
    )
    include_seeds: bool = option("seeds are ranked too, with a score of 0", default=True)
    boosts: dict[str, LinkWorth] = option(
        "worth of the best link on the path, by kind", default_factory=lambda: dict(BOOSTS)
    )
    support: float = option("worth of each further seed", 0.2, ge=0.0, le=1000.0)
    support_most: int = option("maximum further seeds that count", 5, ge=0, le=1000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready: whether there are seeds is decided when other lanes have run."""
        del ctx
        bounds = {"max_depth": self.max_depth, "max_visited": self.max_visited}
        return Ready({**self.walking(), **bounds, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """What the seeds reach, by graph + relation + seed_support."""
        walked = self.walked(ctx)
        reached = walked.reached
        inside = walked.terrain.inside[reached.nodes]
        if not self.include_seeds:
            inside = inside & (reached.depths > 0)
        rows = walked.terrain.graph.rows[reached.nodes[inside]]
        parts = self._engine(reached, inside)
        scores = np.sum(list(parts.values()), axis=0)
        order = ctx.best(scores, rows, self.pool)
        return Ranking(
            rows[order],
            scores[order],
            parts={name: values[order] for name, values in parts.items()},
            noted=walked.noted(),
            memo=walked,
        )

    def walked(self, ctx: Context) -> Walked:
        """One walk from each seed, and what they reached together."""
        terrain = Terrain.of(self, ctx)
        steps, ways = terrain.steps, terrain.ways
        forest = walks(steps, ways, terrain.seeds.tolist(), self.max_depth, self.max_visited)
        edges = terrain.graph.edges
        table = np.array([self.boosts.get(kind, 0.0) for kind in edges.names], np.float64)
        worth = Worth(table, edges.kinds)
        return Walked(terrain, forest, gather(forest, steps, ways, worth), worth)

    def _engine(self, reached: Gathered, inside: Mask) -> dict[str, NDArray[np.float64]]:
        depths, worths = reached.depths[inside].astype(np.float64), reached.worths[inside]
        seeds = reached.seeds[inside].astype(np.float64)
        near = np.maximum(depths, 1.0)
        return {
            "graph": snap(np.where(depths > 0.0, 1.0 / near, 0.0)),
            "relation": snap(worths / near),
            "seed_support": snap(np.minimum(seeds - 1.0, self.support_most) * self.support),
        }

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's three parts, and the path that led to it."""
        del ctx
        walked = cast("Walked", ranking.memo)
        place = {row: at for at, row in enumerate(ranking.rows.tolist())}
        out: list[Explanation] = []
        for row, facts in zip(rows.tolist(), walked.facts(rows), strict=True):
            at = place[row]
            parts = tuple(Explanation(k, float(v[at])) for k, v in ranking.parts.items())
            out.append(Explanation("walk", float(ranking.scores[at]), "sum", parts, facts))
        return out

    def missed(self, ctx: Context, row: int) -> Miss:
        """It is too many links away, or no path leads to it."""
        return too_far(self, ctx, row, limit="max_depth", pool=self.pool)


@dataclass(frozen=True)
class Walked:
    """Walks from some seeds."""

    terrain: Terrain
    forest: Forest
    reached: Gathered
    worth: Worth

    @cached_property
    def trees(self) -> list[Tree]:
        """The walks one by one, in the order of the seeds."""
        return [self.forest.tree(n) for n in range(len(self.forest))]

    def noted(self) -> dict[str, object]:
        """What the plan shows after the walks."""
        return {
            "started": int(self.terrain.seeds.size),
            "edges_read": int(self.forest.read.sum()),
            "visited": self.forest.nodes.size,
            "truncated": bool(self.forest.truncated.any()),
        }

    def facts(self, rows: Rows) -> list[dict[str, object]]:
        """How these rows were reached: distance, seeds, kinds, and the best path."""
        reached = self.reached.of(self.terrain.graph.positions(rows))
        names = self.terrain.names(on_paths([(self.trees[e.tree], e.place) for e in reached]))
        return [
            {
                "distance": each.depth,
                "seed_paths": each.seeds,
                "kinds": self._kinds(each),
                "path": self.terrain.path(self.trees[each.tree], each.place, names, self.worth),
            }
            for each in reached
        ]

    def _kinds(self, each: Reached) -> list[str]:
        """The kinds on all paths, in the order of first sight."""
        seen = (k for tree, at in each.trees for k in self.terrain.kinds(self.trees[tree], at))
        return list(dict.fromkeys(seen))
