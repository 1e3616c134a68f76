"""The lane `walk`: records linked to the seeds, by a bounded breadth-first walk from each seed.

A reached record scores 1/depth + worth of the best link on its path / depth + `support` for every
further seed that reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Mask, Ranking, Rows
from memoriter.core.validation import Bounds
from memoriter.lanes.graph_lane import SeedWalkLane, Walked, WalkGraph
from memoriter.lanes.missed import too_far
from memoriter.lanes.port import Context, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.grid import snap
from memoriter.rank.walks import EdgeWorth, Gathered, gather, walks

BOOSTS: Final = {
    "continues_from": 0.60, "branches_from": 0.55, "corrects": 0.50, "invalidates": 0.50,
    "supersedes": 0.45, "derived_from": 0.40, "summarizes": 0.20, "caused_by": 0.20,
    "supports": 0.15, "contradicts": 0.15, "related_to": 0.08, "references": 0.06,
}  # fmt: skip
"""Default worth of a link by kind; any other kind is worth 0."""
LinkWorth = Annotated[float, Bounds(ge=0.0, le=1000.0)]


class WalkLane(SeedWalkLane):
    """A breadth-first walk from each seed."""

    about: ClassVar[str] = "records linked to good hits, by a walk from each of them"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            **SeedWalkLane.fact_words,
            "graph": "1 / how many links away it is",
            "relation": "worth of the best link on the path / how many links away it is",
            "seed_support": "what further good hits with a path to it are worth",
        }
    )
    work_limits: ClassVar[Mapping[str, str]] = {"max_depth": "hops", "max_visited": "visits"}

    kind: Literal["walk"]
    max_depth: int = option("how many links a path from a seed has at most", 2, ge=0, le=100)
    max_visited: int = option(
        "how many records one walk visits at most, its seed included", 128, ge=1, le=100_000
    )
    include_seeds: bool = option(
        "whether the seeds (the records that the walks start from) are candidates too, with a"
        " score of 0",
        default=True,
    )
    boosts: dict[str, LinkWorth] = option(
        "score of each kind of link (0 for kinds not listed); a record gains the score of the best"
        " link on its path, divided by the path's number of links",
        make=lambda: dict(BOOSTS),
    )
    support: float = option(
        "score that a record gains for each further seed with a path to it; the first seed does"
        " not count",
        0.2,
        ge=0.0,
        le=1000.0,
    )
    support_most: int = option("how many further seeds at most add `support`", 5, ge=0, le=1000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready: the seeds are known only when other lanes have run."""
        del ctx
        bounds = {"max_depth": self.max_depth, "max_visited": self.max_visited}
        return Ready({**self.walk_options(), **bounds, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The records that the seeds reach, by graph + relation + seed_support."""
        walked = self.walked(ctx)
        reached = walked.reached
        inside = walked.walk_graph.inside[reached.nodes]
        if not self.include_seeds:
            inside = inside & (reached.depths > 0)
        rows = walked.walk_graph.graph.rows[reached.nodes[inside]]
        parts = self._score_parts(reached, inside)
        scores = np.sum(list(parts.values()), axis=0)
        order = ctx.best(scores, rows, self.pool)
        return Ranking(
            rows[order],
            scores[order],
            parts={name: values[order] for name, values in parts.items()},
            shows=walked.counts(),
            memo=walked,
        )

    def walked(self, ctx: Context) -> Walked:
        """One walk from each seed, and all records they reached."""
        walk_graph = WalkGraph.of(self, ctx)
        steps, allowed = walk_graph.steps, walk_graph.allowed
        forest = walks(steps, allowed, walk_graph.seeds.tolist(), self.max_depth, self.max_visited)
        edges = walk_graph.graph.edges
        table = np.array([self.boosts.get(kind, 0.0) for kind in edges.names], np.float64)
        worth = EdgeWorth(table, edges.kinds)
        return Walked(walk_graph, forest, gather(forest, steps, allowed, worth), worth)

    def _score_parts(self, reached: Gathered, inside: Mask) -> dict[str, NDArray[np.float64]]:
        depths, worths = reached.depths[inside].astype(np.float64), reached.worths[inside]
        seeds = reached.seeds[inside].astype(np.float64)
        near = np.maximum(depths, 1.0)  # a seed has depth 0
        return {
            "graph": snap(np.where(depths > 0.0, 1.0 / near, 0.0)),
            "relation": snap(worths / near),
            "seed_support": snap(np.minimum(seeds - 1.0, self.support_most) * self.support),
        }

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The three parts of each row's score, and its best path."""
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
        """The record is too many links away, or no path leads to it."""
        return too_far(self, ctx, row, limit="max_depth", pool=self.pool)
