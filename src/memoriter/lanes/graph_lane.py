"""What the lanes that follow links share (`walk`, `hops`, `cheapest`).

`GraphLane` has their common options; `WalkGraph` is the part of the graph that a query may walk,
and describes paths for the evidence.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.picture import HIDDEN, link_chain
from memoriter.core.ranking import Mask, Rows
from memoriter.index.graph import Graph
from memoriter.index.ids import ids_of
from memoriter.index.view import View
from memoriter.lanes.port import Context, LaneFigures, Seeded
from memoriter.lanes.spec import option
from memoriter.rank.top import Keys, top
from memoriter.rank.walk import Adjacency, Nodes, StepFilter, Tree, hops_of, parallel
from memoriter.rank.walks import EdgeWorth, Forest, Gathered, Reached
from memoriter.text.figures import NodeText
from memoriter.text.safe import one_line

LinkPath = Sequence[Mapping[str, object]]
"""A seed, then each hop: id, kind, direction and weight."""


class GraphLane(Seeded):
    """A lane that follows links from seeds."""

    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "distance": "how many links away it is",
            "parent": "the memory before it on the path",
            "cost": "the cost of the path",
            "path": "the links that lead to it",
            "seed_paths": "how many good hits have a path to it",
            "kinds": "the kinds of links on these paths",
        }
    )

    pool: int = option("how many candidates the lane returns at most", 1000, ge=1, le=100_000)
    kinds: tuple[str, ...] | None = option(
        "kinds of links that are followed; none: all kinds", None
    )
    direction: Literal["out", "in", "both"] = option(
        "direction in which links are followed",
        "both",
        values={
            "out": "from source to target",
            "in": "from target to source",
            "both": "either way",
        },
    )
    through: Literal["selection", "scope"] = option(
        "which records a path may lead through",
        "selection",
        values={
            "selection": "only records that this search may return",
            "scope": "every record that the caller may read",
        },
    )

    def walk_options(self) -> dict[str, object]:
        """The common options as the plan prints them."""
        out: dict[str, object] = {"seeds": list(self.seeds) or ["given"]}
        if self.seeds:
            out["seed_count"] = self.seed_count
        out |= {"direction": self.direction, "through": self.through}
        return out if self.kinds is None else {**out, "kinds": list(self.kinds)}

    def node_text(self, node: Explanation) -> NodeText:
        """The facts of a node; its path comes last, on one line."""
        facts = dict(node.facts)
        path = cast("LinkPath | None", facts.pop("path", None))
        text = super().node_text(replace(node, facts=facts))
        parts = [text.detail, "" if path is None else path_text(path)]
        return text._replace(detail=" · ".join(filter(None, parts)))

    def picture(self, node: Explanation) -> Mapping[str, object]:
        """The path of links that leads to the record; a record out of scope has no id."""
        path = cast("LinkPath | None", node.facts.get("path"))
        return link_chain(
            "The links that lead from a good hit to this memory.",
            ((cast("str | None", hop.get("id")), _link_text(hop)) for hop in path or ()),
        )

    def figures(self, why: Explanation) -> LaneFigures:
        """The length of the path, and the record before this one on it."""
        facts = cast("Mapping[str, Any]", why.facts)
        return LaneFigures(why.value, parent=facts.get("parent"), depth=facts["distance"])


class SeedWalkLane(GraphLane):
    """A lane that walks from each seed by itself; bundles list what each seed reaches."""

    @abstractmethod
    def walked(self, ctx: Context) -> Walked:
        """One walk from each seed, and all records they reached."""


@dataclass(frozen=True)
class WalkGraph:
    """The graph of a view as one query may walk it."""

    view: View
    graph: Graph
    """The edges of the view, or those recorded up to the queried time."""
    allowed: StepFilter
    inside: Mask
    """Which nodes are in the selection."""
    seeds: Nodes
    keys: Keys
    """How the recipe breaks ties."""

    @classmethod
    def of(cls, lane: GraphLane, ctx: Context) -> WalkGraph:
        """The edges valid at the query's time, and the nodes that the lane may pass."""
        graph = ctx.graph
        inside = graph.nodes(ctx.selection.masks)
        # With `scope` a path may cross records that the filter excludes, never unreadable ones.
        passed = inside if lane.through == "selection" else graph.nodes(ctx.selection.readable)
        allowed = StepFilter(
            graph.edges.holding(ctx.time, lane.kinds),
            passed,
            along=lane.direction != "in",
            against=lane.direction != "out",
        )
        return cls(
            ctx.view,
            graph,
            allowed=allowed,
            inside=inside,
            seeds=graph.positions(ctx.seeds),
            keys=ctx.keys,
        )

    @property
    def steps(self) -> Adjacency:
        """The adjacency lists."""
        return self.graph.adjacency

    def order(self, nodes: Nodes) -> NDArray[np.intp]:
        """The places of these nodes in the order of the recipe's ties."""
        return top(np.zeros(nodes.size), self.graph.rows[nodes], nodes.size, self.keys)

    @cached_property
    def starts(self) -> frozenset[int]:
        """The seeds as a set."""
        return frozenset(self.seeds.tolist())

    def rows(self, nodes: Iterable[int]) -> Rows:
        """The rows at these nodes."""
        return self.graph.rows[np.fromiter(nodes, np.int64)]

    def names(self, nodes: Iterable[int]) -> dict[int, str]:
        """The ids of the nodes that may be shown: those in the selection, and seeds.

        A path may pass records that the caller can read but the filter excludes: they stay hidden.
        """
        shown = [node for node in set(nodes) if self.inside[node] or node in self.starts]
        return dict(zip(shown, ids_of(self.view, self.rows(shown)), strict=True))

    def kinds(self, tree: Tree, place: int) -> list[str]:
        """The kinds of all edges on the path to a place, parallel ones included."""
        edges = [
            edge
            for _, _, step in hops_of(tree, place)
            for edge in parallel(self.steps, self.allowed, step).tolist()
        ]
        return list(dict.fromkeys(self.kind(edge) for edge in edges))

    def kind(self, edge: int) -> str:
        """The kind of an edge."""
        return self.graph.edges.names[int(self.graph.edges.kinds[edge])]

    def path(
        self, tree: Tree, place: int, names: dict[int, str], worth: EdgeWorth | None
    ) -> list[dict[str, object]]:
        """The path to a place: its seed, then each hop with kind, direction and weight.

        A record outside the selection is marked as hidden and has no id. Of parallel edges the one
        with the largest worth is shown; without `worth`, the one of the step.
        """
        hops = hops_of(tree, place)
        start = hops[0][0] if hops else int(tree.nodes[place])
        return [_named(start, names), *(self._hop(to, step, names, worth) for _, to, step in hops)]

    def _hop(
        self, to: int, step: int, names: dict[int, str], worth: EdgeWorth | None
    ) -> dict[str, object]:
        edge = int(self.steps.edge[step])
        if worth is not None:
            parallels = parallel(self.steps, self.allowed, step)
            edge = int(parallels[np.argmax(worth.of(parallels))])
        direction = "out" if self.steps.forward[step] else "in"
        weight = float(self.graph.edges.weights[edge])
        link = {"kind": self.kind(edge), "direction": direction, "weight": weight}
        return {**_named(to, names), **link}


@dataclass(frozen=True)
class Walked:
    """Finished walks, one from each seed."""

    walk_graph: WalkGraph
    forest: Forest
    reached: Gathered
    worth: EdgeWorth

    @cached_property
    def trees(self) -> list[Tree]:
        """The walks one by one, in the order of the seeds."""
        return [self.forest.tree(n) for n in range(len(self.forest))]

    def counts(self) -> dict[str, object]:
        """Counts of the walks, shown by the plan."""
        return {
            "started": int(self.walk_graph.seeds.size),
            "edges_read": int(self.forest.read.sum()),
            "visited": self.forest.nodes.size,
            "truncated": bool(self.forest.truncated.any()),
        }

    def facts(self, rows: Rows) -> list[dict[str, object]]:
        """For each row: distance, number of seeds, kinds of links, and the best path."""
        reached = self.reached.of(self.walk_graph.graph.positions(rows))
        names = self.walk_graph.names(on_paths([(self.trees[e.tree], e.place) for e in reached]))
        return [
            {
                "distance": each.depth,
                "seed_paths": each.seeds,
                "kinds": self._kinds(each),
                "path": self.walk_graph.path(self.trees[each.tree], each.place, names, self.worth),
            }
            for each in reached
        ]

    def _kinds(self, each: Reached) -> list[str]:
        """The kinds of links on all paths, in order of first occurrence."""
        seen = (k for tree, at in each.trees for k in self.walk_graph.kinds(self.trees[tree], at))
        return list(dict.fromkeys(seen))


def _named(node: int, names: dict[int, str]) -> dict[str, object]:
    return {"id": names[node]} if node in names else {"hidden": True}


def on_paths(trees: Sequence[tuple[Tree, int]]) -> set[int]:
    """The nodes on the paths to these places."""
    return {int(tree.nodes[at]) for tree, place in trees for at in tree.path(place)}


def path_text(path: LinkPath) -> str:
    """A path on one line: `a ←derived_from b`; a record outside the caller's scope is (hidden)."""
    out = ""
    for hop in path:
        name = one_line(str(hop["id"])) if "id" in hop else HIDDEN
        link = _link_text(hop)
        out += f" {link} {name}" if link else name
    return out


def _link_text(hop: Mapping[str, object]) -> str:
    """The link of a hop with its direction, `derived_from→`; empty for the seed."""
    if "kind" not in hop:
        return ""
    kind = one_line(str(hop["kind"]))
    return f"{kind}→" if hop["direction"] == "out" else f"←{kind}"


def walk_counts(trees: Sequence[Tree], seeds: Nodes) -> dict[str, object]:
    """Counts of a walk, shown by the plan after it ran."""
    return {
        "started": int(seeds.size),
        "edges_read": sum(tree.read for tree in trees),
        "visited": sum(np.unique(tree.nodes).size for tree in trees),
        "truncated": any(tree.truncated for tree in trees),
    }
