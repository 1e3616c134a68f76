"""Breadth-first walks from many seeds at once, and the union of what they reached (lane `walk`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.rank.walk import ROOT, Adjacency, Mask, Nodes, StepFilter, Tree, bfs, parallel

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EdgeWorth:
    """The worth of edges by kind, 0 or more."""

    table: NDArray[np.float64]
    kinds: IntArray

    def of(self, edges: IntArray) -> NDArray[np.float64]:
        """The worth of some edges."""
        return self.table[self.kinds[edges]]


@dataclass(frozen=True, slots=True)
class Forest:
    """Several trees concatenated; parents are places within the same tree."""

    starts: IntArray
    """The begin of each tree, and the end of the last one."""
    nodes: Nodes
    depths: IntArray
    parents: IntArray
    steps: IntArray
    read: IntArray
    truncated: Mask

    def __len__(self) -> int:
        return self.read.size

    def tree(self, n: int) -> Tree:
        """The n-th tree."""
        at = slice(int(self.starts[n]), int(self.starts[n + 1]))
        depths = self.depths[at]
        return Tree(
            nodes=self.nodes[at],
            depths=depths,
            parents=self.parents[at],
            steps=self.steps[at],
            costs=depths.astype(np.float64),
            read=int(self.read[n]),
            truncated=bool(self.truncated[n]),
        )

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        """Trees concatenated to a forest."""
        none = np.zeros(0, np.int64)
        return cls(
            starts=np.cumsum([0, *(tree.nodes.size for tree in trees)]),
            nodes=np.concatenate([none, *(tree.nodes for tree in trees)]),
            depths=np.concatenate([none, *(tree.depths for tree in trees)]),
            parents=np.concatenate([none, *(tree.parents for tree in trees)]),
            steps=np.concatenate([none, *(tree.steps for tree in trees)]),
            read=np.array([tree.read for tree in trees], np.int64),
            truncated=np.array([tree.truncated for tree in trees], np.bool_),
        )


def walks(
    graph: Adjacency, allowed: StepFilter, seeds: Sequence[int], max_depth: int, max_visited: int
) -> Forest:
    """The result of `bfs` for each seed; all walks process each level together as arrays.

    A walk that exceeds the bound on visited nodes is repeated alone with `bfs`, which stops exactly
    where the bound is reached.
    """
    grown = _GrowingForest(graph, allowed, np.array(seeds, np.int64))
    for _ in range(max_depth):
        if not grown.deeper(max_visited):
            break
    forest = grown.forest()
    if not grown.cut.any():
        return forest
    return Forest.of(
        [
            bfs(graph, allowed, seed, max_depth, max_visited) if cut else forest.tree(n)
            for n, (seed, cut) in enumerate(zip(seeds, grown.cut.tolist(), strict=True))
        ]
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes at one depth: the walk they belong to, node, place of the parent, step."""

    walk: IntArray
    nodes: Nodes
    parents: IntArray
    steps: IntArray
    places: IntArray
    """The place of each one in its own tree."""


class _GrowingForest:
    """A forest under construction, level by level."""

    def __init__(self, graph: Adjacency, allowed: StepFilter, seeds: Nodes) -> None:
        self._graph, self._ways = graph, allowed
        none, each = np.full(seeds.size, ROOT), np.arange(seeds.size)
        self._levels = [_Level(each, seeds, none, none, np.zeros(seeds.size, np.int64))]
        self._count = graph.starts.size - 1
        self._seen = np.sort(self._key(each, seeds))
        self._sizes = np.ones(seeds.size, np.int64)
        self._read = np.zeros(seeds.size, np.int64)
        self.cut = np.zeros(seeds.size, np.bool_)
        """Which walks would exceed the bound."""

    def _key(self, walk: IntArray, nodes: Nodes) -> IntArray:
        return walk * self._count + nodes

    def deeper(self, max_visited: int) -> bool:
        """Add one more level; False if there was nothing to add."""
        front = self._levels[-1]
        at, steps = self._onward(front)
        walk, to = front.walk[at], self._graph.to[steps]
        keys = self._key(walk, to)
        place = np.minimum(np.searchsorted(self._seen, keys), self._seen.size - 1)
        fresh = np.flatnonzero(self._seen[place] != keys)
        # Of several steps to one node the first in walk order counts, as in `bfs`.
        first = fresh[np.sort(np.unique(keys[fresh], return_index=True)[1])]
        counts = np.bincount(walk[first], minlength=self._sizes.size)
        self.cut |= self._sizes + counts > max_visited
        first = first[~self.cut[walk[first]]]
        if not first.size:
            return False
        walk = walk[first]
        counts = np.bincount(walk, minlength=self._sizes.size)
        rank = np.arange(walk.size) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self._sizes[walk] + rank
        parents = front.places[at[first]]
        self._levels.append(_Level(walk, to[first], parents, steps[first], places))
        self._seen = np.sort(np.concatenate([self._seen, keys[first]]))
        self._sizes += counts
        return True

    def _onward(self, front: _Level) -> tuple[IntArray, IntArray]:
        """(index into the front, step) of the allowed steps, one for each hop."""
        graph = self._graph
        low = graph.starts[front.nodes]
        sizes = graph.starts[front.nodes + 1] - low
        self._read += np.bincount(front.walk, sizes, self._sizes.size).astype(np.int64)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at = np.repeat(np.arange(front.nodes.size), sizes)
        steps = np.repeat(low, sizes) + within
        open_ = self._ways.open(graph, steps)
        at, steps = at[open_], steps[open_]
        until = graph.until[steps]
        hop = np.ones(steps.size, np.bool_)
        hop[1:] = (until[1:] != until[:-1]) | (at[1:] != at[:-1])
        return at[hop], steps[hop]

    def forest(self) -> Forest:
        """The trees so far."""
        levels = self._levels
        walk = np.concatenate([level.walk for level in levels])
        order = np.argsort(walk, kind="stable")
        depths = np.repeat(np.arange(len(levels)), [level.nodes.size for level in levels])
        counts = np.bincount(walk, minlength=self._sizes.size)
        return Forest(
            starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
            nodes=np.concatenate([level.nodes for level in levels])[order],
            depths=depths[order],
            parents=np.concatenate([level.parents for level in levels])[order],
            steps=np.concatenate([level.steps for level in levels])[order],
            read=self._read,
            truncated=np.zeros(self._sizes.size, np.bool_),
        )


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that walks reached: from how many seeds, and its best path."""

    node: int
    depth: int
    seeds: int
    worth: float
    """The largest worth of an edge on the best path."""
    tree: int
    place: int
    trees: tuple[tuple[int, int], ...]
    """(tree, place) of every path to it, in the order of the seeds."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """All nodes that the walks reached, in order of first occurrence, as columns."""

    nodes: Nodes
    depths: IntArray
    seeds: IntArray
    worths: NDArray[np.float64]
    trees: IntArray
    places: IntArray
    """`trees` and `places`: the tree of the best path, and the node's place in it."""
    paths: tuple[Nodes, IntArray, IntArray]
    """(node, tree, place) of every path, in the order of the seeds."""

    def __iter__(self) -> Iterator[Reached]:
        return iter(self.of(self.nodes))

    def of(self, nodes: Nodes) -> list[Reached]:
        """Some of the nodes, each with all its paths."""
        place = {node: at for at, node in enumerate(self.nodes.tolist())}
        return [self._one(node, place[node]) for node in nodes.tolist()]

    def _one(self, node: int, at: int) -> Reached:
        own = np.flatnonzero(self.paths[0] == node)
        paths = zip(self.paths[1][own].tolist(), self.paths[2][own].tolist(), strict=True)
        return Reached(
            node=node,
            depth=int(self.depths[at]),
            seeds=int(self.seeds[at]),
            worth=float(self.worths[at]),
            tree=int(self.trees[at]),
            place=int(self.places[at]),
            trees=tuple(paths),
        )


def gather(forest: Forest, graph: Adjacency, allowed: StepFilter, worth: EdgeWorth) -> Gathered:
    """The union of what walks from several seeds reached, in order of first occurrence.

    The best path is the shortest, then the one with the most valuable edge, then that of the first
    seed. Parallel edges make one hop, worth the best of them. A seed is reached only by its own
    walk.
    """
    sizes = np.diff(forest.starts)
    owners = np.repeat(np.arange(sizes.size), sizes)
    places = np.arange(owners.size) - np.repeat(forest.starts[:-1], sizes)
    roots = forest.nodes[forest.starts[:-1]]
    kept = np.flatnonzero((places == 0) | ~np.isin(forest.nodes, roots))
    values = worths(forest, owners, graph, allowed, worth)[kept]
    nodes, depths = forest.nodes[kept], forest.depths[kept]
    owners, places = owners[kept], places[kept]
    distinct, first, counts = np.unique(nodes, return_index=True, return_counts=True)
    order = np.lexsort((places, owners, -values, depths, nodes))
    seen = np.argsort(first)
    best = order[np.cumsum(counts) - counts][seen]
    return Gathered(
        nodes=distinct[seen],
        depths=depths[best],
        seeds=counts[seen],
        worths=values[best],
        trees=owners[best],
        places=places[best],
        paths=(nodes, owners, places),
    )


def worths(
    forest: Forest, owners: IntArray, graph: Adjacency, allowed: StepFilter, worth: EdgeWorth
) -> NDArray[np.float64]:
    """For each place of each tree the largest worth of an edge on its path; 0 for a seed."""
    if not worth.kinds.size:
        return np.zeros(forest.nodes.size)
    alone = worth.of(graph.edge[forest.steps])
    alone[forest.parents == ROOT] = 0.0
    has_parallel = (graph.until[forest.steps] - forest.steps > 1) & (forest.steps != ROOT)
    for at in np.flatnonzero(has_parallel).tolist():
        alone[at] = worth.of(parallel(graph, allowed, int(forest.steps[at]))).max()
    parents = forest.starts[owners] + forest.parents
    # Level by level, because the value of a parent must be final before its children use it.
    for level in range(1, int(forest.depths.max(initial=0)) + 1):
        own = np.flatnonzero(forest.depths == level)
        alone[own] = np.maximum(alone[own], alone[parents[own]])
    return alone
