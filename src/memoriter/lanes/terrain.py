"""Where the graph lanes walk: the edges that count for a question, and how a path is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from memoriter.core.ranking import Mask, Rows
from memoriter.index.graph import Graph
from memoriter.index.ids import ids_of
from memoriter.index.view import View
from memoriter.lanes.port import Context, Seeded
from memoriter.lanes.spec import option
from memoriter.rank.walk import Adjacency, Nodes, Tree, Ways, hops_of, parallel
from memoriter.rank.walks import Worth


class Linked(Seeded):
    """A lane that follows edges."""

    pool: int = option("maximum candidates", 1000, ge=1, le=100_000)
    kinds: tuple[str, ...] | None = option("link kinds that are followed", None)
    direction: Literal["out", "in", "both"] = option(
        "direction in which links are followed",
        "both",
        values={"out": "source to target", "in": "target to source", "both": "both"},
    )
    through: Literal["selection", "scope"] = option(
        "records that a path may pass",
        "selection",
        values={"selection": "those that may be found", "scope": "all that the caller may read"},
    )

    def walking(self) -> dict[str, object]:
        """What the plan prints of every such lane."""
        out: dict[str, object] = {"seeds": list(self.seeds) or ["given"]}
        if self.seeds:
            out["seed_count"] = self.seed_count
        out |= {"direction": self.direction, "through": self.through}
        return out if self.kinds is None else {**out, "kinds": list(self.kinds)}


@dataclass(frozen=True)
class Terrain:
    """The graph of a view as one question may walk it."""

    view: View
    graph: Graph
    """The edges of the view, or those that were recorded at the time asked about."""
    ways: Ways
    inside: Mask
    """Which nodes may be found."""
    seeds: Nodes

    @classmethod
    def of(cls, lane: Linked, ctx: Context) -> Terrain:
        """The edges valid at the time asked about, the nodes that the lane may pass."""
        graph = ctx.graph
        inside = graph.nodes(ctx.selection.masks)
        passed = inside if lane.through == "selection" else graph.nodes(ctx.selection.readable)
        ways = Ways(
            graph.edges.holding(ctx.time, lane.kinds),
            passed,
            along=lane.direction != "in",
            against=lane.direction != "out",
        )
        return cls(ctx.view, graph, ways, inside, graph.positions(ctx.seeds))

    @property
    def steps(self) -> Adjacency:
        """Who is next to whom."""
        return self.graph.adjacency

    @cached_property
    def starts(self) -> frozenset[int]:
        """The seeds."""
        return frozenset(self.seeds.tolist())

    def rows(self, nodes: Iterable[int]) -> Rows:
        """The rows at these nodes."""
        return self.graph.rows[np.fromiter(nodes, np.int64)]

    def names(self, nodes: Iterable[int]) -> dict[int, str]:
        """The ids of those of these nodes that may be told: found ones, and seeds."""
        shown = [node for node in set(nodes) if self.inside[node] or node in self.starts]
        return dict(zip(shown, ids_of(self.view, self.rows(shown)), strict=True))

    def kinds(self, tree: Tree, place: int) -> list[str]:
        """The kinds of all edges on the path to a place, parallel ones included."""
        edges = [
            edge
            for _, _, step in hops_of(tree, place)
            for edge in parallel(self.steps, self.ways, step).tolist()
        ]
        return list(dict.fromkeys(self.kind(edge) for edge in edges))

    def kind(self, edge: int) -> str:
        """The kind of an edge."""
        return self.graph.edges.names[int(self.graph.edges.kinds[edge])]

    def path(
        self, tree: Tree, place: int, names: dict[int, str], worth: Worth | None
    ) -> list[dict[str, object]]:
        """The path to a place: its seed, then each hop with kind, direction and weight.

        A record that may not be found is marked as hidden and has no id. Of parallel edges the most
        valuable is told, if there is a worth, else that of the step.
        """
        hops = hops_of(tree, place)
        start = hops[0][0] if hops else int(tree.nodes[place])
        return [_named(start, names), *(self._hop(to, step, names, worth) for _, to, step in hops)]

    def _hop(
        self, to: int, step: int, names: dict[int, str], worth: Worth | None
    ) -> dict[str, object]:
        edge = int(self.steps.edge[step])
        if worth is not None:
            beside = parallel(self.steps, self.ways, step)
            edge = int(beside[np.argmax(worth.of(beside))])
        direction = "out" if self.steps.forward[step] else "in"
        weight = float(self.graph.edges.weights[edge])
        link = {"kind": self.kind(edge), "direction": direction, "weight": weight}
        return {**_named(to, names), **link}


def _named(node: int, names: dict[int, str]) -> dict[str, object]:
    return {"id": names[node]} if node in names else {"hidden": True}


def on_paths(trees: Sequence[tuple[Tree, int]]) -> set[int]:
    """The nodes on the paths to these places."""
    return {int(tree.nodes[at]) for tree, place in trees for at in tree.path(place)}


def noted(trees: Sequence[Tree], seeds: Nodes) -> dict[str, object]:
    """What the plan shows after a walk."""
    return {
        "started": int(seeds.size),
        "edges_read": sum(tree.read for tree in trees),
        "visited": sum(np.unique(tree.nodes).size for tree in trees),
        "truncated": any(tree.truncated for tree in trees),
    }
