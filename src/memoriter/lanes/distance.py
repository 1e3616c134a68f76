"""The base of the lanes `hops` and `cheapest`: graph distance from seeds.

Seeds come with the call or from other lanes. Seeds themselves are never ranked, not even if one
reaches another. Of equal scores the older record comes first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, cast

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Ranking, Rows
from memoriter.core.validation import After, wrong_name
from memoriter.lanes.graph_lane import GraphLane, WalkGraph, on_paths, walk_counts
from memoriter.lanes.missed import too_far
from memoriter.lanes.port import Context, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.walk import Tree

_BARE: Final = r"^[^\W\d][\w-]{0,127}$"


def _bare_kind(name: str) -> str:
    # A mark belongs to the letter before it, but `\w` of Python does not know that.
    marks = (unicodedata.category(each).startswith("M") for each in name)
    letters = "".join("a" if mark else each for each, mark in zip(name, marks, strict=True))
    if re.fullmatch(_BARE, letters) is None:
        raise wrong_name(name, _BARE)
    return name


Bare = Annotated[str, After(_bare_kind)]
"""A link kind: a letter, then letters, digits, `_` or `-`."""


class DistanceLane(GraphLane):
    """A lane that scores a record by its distance from the seeds."""

    must_start: ClassVar[bool] = True
    work_limits: ClassVar[Mapping[str, str]] = {"max_hops": "hops"}

    kinds: tuple[Bare, ...] | None = option(
        "kinds of links that are followed; none: all kinds", None
    )
    direction: Literal["out", "in", "both"] = option(
        "direction in which links are followed",
        "out",
        values={
            "out": "from source to target",
            "in": "from target to source",
            "both": "either way",
        },
    )
    max_hops: int = option("how many links a path from a seed has at most", 2, ge=1, le=100)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready: the plan has already checked that there are seeds (`must_start`)."""
        del ctx
        return Ready({**self.walk_options(), "max_hops": self.max_hops, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The records that the seeds reach, nearest or cheapest first."""
        walk_graph = WalkGraph.of(self, ctx)
        tree = self.tree(walk_graph)
        # A node can occur in the tree several times; its first place is its best.
        at = np.sort(np.unique(tree.nodes, return_index=True)[1])
        at = at[(tree.depths[at] > 0) & walk_graph.inside[tree.nodes[at]]]
        rows = walk_graph.graph.rows[tree.nodes[at]]
        scores = 0.0 - tree.costs[at]  # no negative zero
        order = ctx.best(scores, rows, self.pool)
        place = dict(zip(rows.tolist(), at.tolist(), strict=True))
        memo = _Reached(walk_graph, tree, place)
        shows = walk_counts([tree], walk_graph.seeds)
        return Ranking(rows[order], scores[order], shows=shows, memo=memo)

    def tree(self, walk_graph: WalkGraph) -> Tree:
        """The paths from the seeds; a subclass decides in which order they are found."""
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
        """The record is too many links away, or no path leads to it."""
        return too_far(self, ctx, row, limit="max_hops", pool=self.pool)


@dataclass(frozen=True)
class _Reached:
    """A finished walk, kept on the ranking for its evidence."""

    walk_graph: WalkGraph
    tree: Tree
    place: dict[int, int]
    """The place of each row in the tree."""

    def facts(self, rows: Rows) -> list[dict[str, object]]:
        places = [self.place[row] for row in rows.tolist()]
        names = self.walk_graph.names(on_paths([(self.tree, at) for at in places]))
        return [self._facts(at, names) for at in places]

    def _facts(self, at: int, names: dict[int, str]) -> dict[str, object]:
        path = self.walk_graph.path(self.tree, at, names, None)
        cost, distance = float(self.tree.costs[at]), int(self.tree.depths[at])
        parent = path[-2].get("id")
        return {"distance": distance, "cost": cost, "parent": parent, "path": path}
