"""Walks over a graph of numbered nodes: breadth-first, by hops from many seeds, cheapest first.

All three are bounded and count what they read. They are deterministic: the same graph gives the
same walk, also if a bound cuts it. Used by the lanes `walk`, `hops` and `cheapest`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask
from memoriter.rank.grid import STEP

Nodes = NDArray[np.int64]
Order: TypeAlias = Callable[[Nodes], NDArray[np.intp]]
"""From nodes to their places in the order in which equals are taken."""
ROOT: Final = -1
"""The parent and the step of a seed, which has none."""


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Adjacency lists. A step is one edge as seen from one of its ends.

    The steps from node n are [starts[n], starts[n + 1]): those along an edge first, then those
    against one, each by target node, then by edge. Parallel steps (one direction, same two nodes)
    are adjacent; `until` is the end of their run.
    """

    starts: NDArray[np.int64]
    to: Nodes
    edge: NDArray[np.int64]
    forward: Mask
    until: NDArray[np.int64]

    @classmethod
    def of(cls, sources: Nodes, targets: Nodes, count: int) -> Adjacency:
        """The steps of some edges between `count` nodes.

        >>> graph = Adjacency.of(np.array([0, 0]), np.array([2, 1]), 3)
        >>> graph.starts.tolist(), graph.to.tolist(), graph.edge.tolist()
        ([0, 2, 3, 4], [1, 2, 0, 0], [1, 0, 1, 0])
        """
        each = np.arange(sources.size)
        start, to = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        edge, back = np.concatenate([each, each]), np.repeat([False, True], sources.size)
        order = np.lexsort((edge, to, back, start))
        start, to, edge, back = start[order], to[order], edge[order], back[order]
        counts = np.bincount(start, minlength=count)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        differs = (np.diff(start) != 0) | (np.diff(to) != 0) | np.diff(back)
        ends = np.append(np.flatnonzero(differs) + 1, start.size)[: None if start.size else 0]
        until = np.repeat(ends, np.diff(ends, prepend=0))
        return cls(starts, to, edge, ~back, until)


@dataclass(frozen=True, slots=True)
class StepFilter:
    """Which steps a walk may take: over these edges, into these nodes, in these directions."""

    edges: Mask
    nodes: Mask
    along: bool = True
    against: bool = True

    def open(self, graph: Adjacency, steps: NDArray[np.int64]) -> Mask:
        """Which of these steps may be taken."""
        ok = self.edges[graph.edge[steps]] & self.nodes[graph.to[steps]]
        if not self.along:
            ok &= ~graph.forward[steps]
        return ok if self.against else ok & graph.forward[steps]


@dataclass(frozen=True, slots=True)
class Tree:
    """The places that a walk reached, in order, seeds first. A node's first place is its best."""

    nodes: Nodes
    depths: NDArray[np.int64]
    parents: NDArray[np.int64]
    """The place of the parent; ROOT for a seed."""
    steps: NDArray[np.int64]
    """The step from the parent; ROOT for a seed."""
    costs: NDArray[np.float64]
    read: int
    """The number of steps examined."""
    truncated: bool
    """Whether a bound on visited nodes left something out."""

    def path(self, place: int) -> list[int]:
        """The places from a seed to this one."""
        out = [place]
        while (place := int(self.parents[place])) != ROOT:
            out.append(place)
        return out[::-1]


class _Place(NamedTuple):
    """A place of a tree; the columns of `Tree` in one row."""

    node: int
    depth: int
    parent: int
    step: int
    cost: float


class _Candidate(NamedTuple):
    """A path that waits to be settled."""

    cost: float
    node: int
    depth: int
    parent: int
    step: int
    origin: int
    """The node of the parent; ROOT for a seed."""


class _GrowingTree:
    """A tree under construction."""

    def __init__(self) -> None:
        self.places: list[_Place] = []
        self.read = 0
        self.truncated = False

    def tree(self) -> Tree:
        walked = np.array([place[:4] for place in self.places], np.int64).reshape(-1, 4)
        costs = np.array([place.cost for place in self.places], np.float64)
        nodes, depths, parents, steps = walked.T
        return Tree(
            nodes=nodes,
            depths=depths,
            parents=parents,
            steps=steps,
            costs=costs,
            read=self.read,
            truncated=self.truncated,
        )

    def steps(self, graph: Adjacency, allowed: StepFilter, node: int) -> NDArray[np.int64]:
        """The allowed steps from a node."""
        steps = np.arange(int(graph.starts[node]), int(graph.starts[node + 1]))
        self.read += steps.size
        return steps[allowed.open(graph, steps)]


def bfs(graph: Adjacency, allowed: StepFilter, seed: int, max_depth: int, max_visited: int) -> Tree:
    """Everything within `max_depth` of one seed, nearest first, at most `max_visited` nodes.

    The seed counts. At most max_visited · (2 · max_visited + 1) steps are examined one by one in
    Python.
    """
    grown = _GrowingTree()
    grown.places.append(_Place(seed, 0, ROOT, ROOT, 0.0))
    seen, at = {seed}, 0
    while at < len(grown.places) and grown.places[at].depth < max_depth and not grown.truncated:
        node, depth = grown.places[at][:2]
        steps = grown.steps(graph, allowed, node)
        # One step per run of parallel edges. At most max_visited targets are known already (each
        # from two directions), so further steps cannot be needed.
        steps = steps[np.diff(graph.until[steps], prepend=ROOT) != 0][: 2 * max_visited + 1]
        for step, to in zip(steps.tolist(), graph.to[steps].tolist(), strict=True):
            if to in seen:
                continue
            if len(seen) >= max_visited:
                grown.truncated = True
                break
            seen.add(to)
            grown.places.append(_Place(to, depth + 1, at, step, depth + 1.0))
        at += 1
    return grown.tree()


def hops(graph: Adjacency, allowed: StepFilter, seeds: Sequence[int], max_hops: int) -> Tree:
    """Everything within `max_hops` of any seed, level by level, each level by node.

    Each edge is read at most twice, and levels are processed as arrays.
    """
    front = np.unique(np.array(seeds, np.int64))
    seen = np.zeros(graph.starts.size - 1, np.bool_)
    seen[front] = True
    none = np.full(front.size, ROOT)
    levels, read, before = [(front, none, none)], 0, 0
    for _ in range(max_hops):
        low = graph.starts[front]
        sizes = graph.starts[front + 1] - low
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        steps, owners = np.repeat(low, sizes) + within, np.repeat(np.arange(front.size), sizes)
        read += steps.size
        fresh = allowed.open(graph, steps) & ~seen[graph.to[steps]]
        steps, owners = steps[fresh], owners[fresh]
        fresh_nodes, first = np.unique(graph.to[steps], return_index=True)
        if not fresh_nodes.size:
            break
        seen[fresh_nodes] = True
        levels.append((fresh_nodes, owners[first] + before, steps[first]))
        before += front.size
        front = fresh_nodes
    nodes, parents, steps = (np.concatenate([level[n] for level in levels]) for n in range(3))
    depths = np.repeat(np.arange(len(levels)), [level[0].size for level in levels])
    return Tree(
        nodes,
        depths,
        parents=parents,
        steps=steps,
        costs=depths.astype(np.float64),
        read=read,
        truncated=False,
    )


@dataclass(frozen=True, slots=True)
class WalkBudget:
    """How far a cheapest-first walk goes. Seeds count as nodes; the highest cost is included.

    Costs are on the grid: a path that exceeds it only by the rounding of its hops is included too.
    """

    max_nodes: int
    max_hops: int
    max_cost: float | None = None

    def allows(self, cost: float, depth: int) -> bool:
        """Whether a path of `depth` hops may have this cost."""
        return self.max_cost is None or cost - depth * STEP / 2.0 <= self.max_cost


def cheapest(
    graph: Adjacency,
    allowed: StepFilter,
    seeds: Sequence[int],
    costs: NDArray[np.float64],
    budget: WalkBudget,
    order: Order = np.argsort,
) -> Tree:
    """The nodes that are cheapest to reach from any seed, cheapest first.

    Dijkstra's algorithm with a limit of hops: a node is reached at its least cost, and again by
    every more expensive path with fewer hops, because that path may lead further. Of equal costs
    the node that comes first in `order` is settled first, by the path of fewest hops, then by the
    parent that comes first. Costs are per edge; edges with a negative cost are skipped. At most
    max_hops · max_nodes · (2 · max_nodes + 1) steps are examined one by one in Python.
    """
    grown, nearest = _GrowingTree(), dict[int, int]()
    allowed = StepFilter(
        allowed.edges & (costs >= 0.0), allowed.nodes, allowed.along, allowed.against
    )
    waiting = [
        _Candidate(0.0, node, depth=0, parent=ROOT, step=ROOT, origin=ROOT)
        for node in sorted(set(seeds))
    ]
    for cost, node, depth, parent, step, _ in _in_turn(waiting, order):
        # Popped in order of cost: a later path is useful only if it has fewer hops.
        if depth >= nearest.get(node, depth + 1):
            continue
        if node not in nearest and len(nearest) >= budget.max_nodes:
            grown.truncated = True
            break
        nearest[node] = depth
        grown.places.append(_Place(node, depth, parent, step, cost))
        if depth == budget.max_hops:
            continue
        steps = grown.steps(graph, allowed, node)
        for fare, to, onward in _fares(graph, steps, costs, 2 * budget.max_nodes + 1, order):
            whole = cost + fare
            fewer = depth + 1 < nearest.get(to, depth + 2)
            if fewer and budget.allows(whole, depth + 1):
                at = len(grown.places) - 1
                heapq.heappush(
                    waiting,
                    _Candidate(whole, to, depth=depth + 1, parent=at, step=onward, origin=node),
                )
    return grown.tree()


def _in_turn(waiting: list[_Candidate], order: Order) -> Iterator[_Candidate]:
    """What waits, cheapest first, equals in order; more may be added to the heap meanwhile."""
    while waiting:
        cost, equal = waiting[0].cost, [heapq.heappop(waiting)]
        while waiting and waiting[0].cost == cost:
            equal.append(heapq.heappop(waiting))
        if len(equal) > 1:
            equal = _ranked(equal, order)
        for nth, candidate in enumerate(equal, start=1):
            yield candidate
            if waiting and waiting[0].cost == cost:  # it came by a step of cost 0
                for other in equal[nth:]:
                    heapq.heappush(waiting, other)
                break


def _ranked(equal: list[_Candidate], order: Order) -> list[_Candidate]:
    nodes = np.unique([node for each in equal for node in (each.node, each.origin)])
    nodes = nodes[nodes != ROOT]
    turn = {ROOT: -1, **{int(node): nth for nth, node in enumerate(nodes[order(nodes)])}}
    return sorted(equal, key=lambda c: (turn[c.node], c.depth, turn[c.origin], c.step))


def _fares(
    graph: Adjacency,
    steps: NDArray[np.int64],
    costs: NDArray[np.float64],
    most: int,
    order: Order,
) -> list[tuple[float, int, int]]:
    """(cost, node, step) of the cheapest step to each neighbour, cheapest first.

    Only as many as could be settled: max_nodes may be settled already, and as many follow.
    """
    fares, to = costs[graph.edge[steps]], graph.to[steps]
    by_fare = np.lexsort((steps, to, fares))
    steps, fares, to = steps[by_fare], fares[by_fare], to[by_fare]
    first = np.sort(np.unique(to, return_index=True)[1])
    if first.size > most:  # of those that cost as much as the last, the first in order
        last = fares[first[most - 1]]
        below, equal = first[fares[first] < last], first[fares[first] == last]
        first = np.concatenate([below, equal[order(to[equal])][: most - below.size]])
    columns = fares[first].tolist(), to[first].tolist(), steps[first].tolist()
    return list(zip(*columns, strict=True))


def parallel(graph: Adjacency, allowed: StepFilter, step: int) -> NDArray[np.int64]:
    """The edges of a hop: that of the step, and allowed parallel ones in the same direction."""
    edges = graph.edge[step : graph.until[step]]
    return edges[allowed.edges[edges]]


def hops_of(tree: Tree, place: int) -> list[tuple[int, int, int]]:
    """(from, to, step) of each hop from the seed to a place."""
    path = tree.path(place)
    nodes, steps = tree.nodes, tree.steps
    return [(int(nodes[a]), int(nodes[b]), int(steps[b])) for a, b in pairwise(path)]
