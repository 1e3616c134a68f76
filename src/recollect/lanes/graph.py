"""Which records hang on what was found? A bounded walk from each seed, nearest first.

A record reached scores 1/depth, plus what the best kind of edge on its path is worth by depth, plus
a little for every further seed that reaches it (MentisDB's graph lane).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Ranking, Rows
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.terrain import Linked, Terrain, noted, on_paths
from recollect.rank.grid import snap
from recollect.rank.walk import Reached, Tree, bfs, gather

BOOSTS: Final = {
    "continues_from": 0.60, "branches_from": 0.55, "corrects": 0.50, "invalidates": 0.50,
    "supersedes": 0.45, "derived_from": 0.40, "summarizes": 0.20, "caused_by": 0.20,
    "supports": 0.15, "contradicts": 0.15, "related_to": 0.08, "references": 0.06,
}  # fmt: skip
"""What a kind of edge is worth; any other kind nothing."""
Boost = Annotated[float, Field(ge=0.0, le=1000.0)]


class Walk(Linked):
    """A breadth-first walk from each seed."""

    kind: Literal["walk"]
    max_depth: int = Field(default=2, ge=0, le=100)
    max_visited: int = Field(default=128, ge=1, le=100_000)
    """How many records one walk visits at most, its seed included."""
    include_seeds: bool = True
    """Whether seeds are in the ranking too, with a score of 0."""
    boosts: dict[str, Boost] = Field(default_factory=lambda: dict(BOOSTS))
    support: float = Field(default=0.2, ge=0.0, le=1000.0)
    """What each further seed adds that reaches a record."""
    support_most: int = Field(default=5, ge=0, le=1000)
    """How many further seeds count."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready: whether there are seeds is decided when other lanes have run."""
        del ctx
        bounds = {"max_depth": self.max_depth, "max_visited": self.max_visited}
        return Ready({**self.shows(), **bounds, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """What the seeds reach, by graph + relation + seed_support."""
        walked = self.walked(ctx)
        found = [
            each
            for each in walked.reached
            if walked.terrain.inside[each.node] and (each.depth > 0 or self.include_seeds)
        ]
        rows = walked.terrain.rows(each.node for each in found)
        parts = self._parts(found)
        scores = np.sum(list(parts.values()), axis=0)
        order = ctx.best(scores, rows, self.pool)
        return Ranking(
            rows[order],
            scores[order],
            parts={name: values[order] for name, values in parts.items()},
            noted=noted(walked.trees, walked.terrain.seeds),
            memo=walked,
        )

    def walked(self, ctx: Context) -> Walked:
        """One walk from each seed, and what they reached together."""
        terrain = Terrain.of(self, ctx)
        steps, ways = terrain.steps, terrain.ways
        trees = [
            bfs(steps, ways, seed, self.max_depth, self.max_visited)
            for seed in terrain.seeds.tolist()
        ]
        edges = terrain.graph.edges
        table = np.array([self.boosts.get(kind, 0.0) for kind in edges.names], np.float64)
        worth = table[edges.kinds] if table.size else np.zeros(0)
        return Walked(terrain, trees, gather(trees, steps, ways, worth), worth)

    def _parts(self, found: list[Reached]) -> dict[str, NDArray[np.float64]]:
        depths = np.array([each.depth for each in found], np.float64)
        worths = np.array([each.worth for each in found], np.float64)
        seeds = np.array([each.seeds for each in found], np.float64)
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
        told = walked.told(rows)
        out: list[Explanation] = []
        for row, facts in zip(rows.tolist(), told, strict=True):
            at = place[row]
            parts = tuple(Explanation(k, float(v[at])) for k, v in ranking.parts.items())
            out.append(Explanation("walk", float(ranking.scores[at]), "sum", parts, facts))
        return out


@dataclass(frozen=True)
class Walked:
    """Walks from some seeds."""

    terrain: Terrain
    trees: list[Tree]
    reached: list[Reached]
    worth: NDArray[np.float64]

    def told(self, rows: Rows) -> list[dict[str, object]]:
        """How these rows were reached: distance, seeds, kinds, and the best path."""
        by_node = {each.node: each for each in self.reached}
        found = [by_node[node] for node in self.terrain.graph.positions(rows).tolist()]
        names = self.terrain.names(on_paths([(self.trees[e.tree], e.place) for e in found]))
        return [
            {
                "distance": each.depth,
                "seed_paths": each.seeds,
                "kinds": self._kinds(each),
                "path": self.terrain.path(self.trees[each.tree], each.place, names, self.worth),
            }
            for each in found
        ]

    def _kinds(self, each: Reached) -> list[str]:
        """The kinds on all paths, in the order of first sight."""
        seen = (k for tree, at in each.trees for k in self.terrain.kinds(self.trees[tree], at))
        return list(dict.fromkeys(seen))
