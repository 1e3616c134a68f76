"""Extends a graph by a few new edges by inserting them, instead of sorting all edges again.

Called by `Graph` when a view follows one whose graph was built: an agent that links and recalls in
turns would otherwise pay for the whole graph each time.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.index.edges import Edges
from memoriter.rank.walk import Adjacency

FEW: Final = 2000
"""With more new edges than this, building from scratch is as quick."""


def appended(old: Edges, new: Edges, graph: Adjacency) -> Edges | None:
    """Old edges followed by new ones; None if a new one replaces an old one of the same key.

    `graph` has the adjacency lists of the old edges.
    """
    names = (*old.names, *(name for name in new.names if name not in old.names))
    code = np.array([names.index(name) for name in new.names], np.int64)
    kinds = code[new.kinds] if new.kinds.size else new.kinds
    keys = (new.sources.tolist(), new.targets.tolist(), kinds.tolist(), new.since.tolist())
    for source, target, kind, since in zip(*keys, strict=True):
        if _is_there(old, graph, (source, target, kind, since)):
            return None
    return Edges(
        seqs=np.concatenate([old.seqs, new.seqs]),
        sources=np.concatenate([old.sources, new.sources]),
        targets=np.concatenate([old.targets, new.targets]),
        kinds=np.concatenate([old.kinds, kinds]),
        weights=np.concatenate([old.weights, new.weights]),
        since=np.concatenate([old.since, new.since]),
        until=np.concatenate([old.until, new.until]),
        names=names,
    )


def _is_there(old: Edges, graph: Adjacency, key: tuple[int, int, int, int]) -> bool:
    source, target, kind, since = key
    if source >= graph.starts.size - 1:
        return False
    steps = slice(int(graph.starts[source]), int(graph.starts[source + 1]))
    edges = graph.edge[steps][graph.forward[steps] & (graph.to[steps] == target)]
    return bool(((old.kinds[edges] == kind) & (old.since[edges] == since)).any())


def widened(graph: Adjacency, count: int) -> Adjacency:
    """The same adjacency lists, with empty ones for new nodes up to `count`."""
    more = count + 1 - graph.starts.size
    starts = np.concatenate([graph.starts, np.full(max(more, 0), graph.to.size)])
    return Adjacency(starts, graph.to, graph.edge, graph.forward, graph.until)


def inserted(graph: Adjacency, edges: Edges, first: int, count: int) -> Adjacency:
    """The adjacency lists of a graph and of the edges from `first` on, for `count` nodes."""
    graph = widened(graph, count)
    fresh = Adjacency.of(edges.sources[first:], edges.targets[first:], count)
    counts = np.diff(fresh.starts)
    start = np.repeat(np.arange(count), counts)
    at = np.array(
        [_place(graph, n, step, fresh) for step, n in enumerate(start.tolist())], np.int64
    )
    to = np.insert(graph.to, at, fresh.to)
    forward = np.insert(graph.forward, at, fresh.forward)
    edge = np.insert(graph.edge, at, fresh.edge + first)
    starts = graph.starts + fresh.starts
    return Adjacency(starts, to, edge, forward, _until(starts, to, forward))


def _place(graph: Adjacency, node: int, step: int, fresh: Adjacency) -> int:
    """Index of a new step: after every old one to the same node in the same direction.

    That is where sorting all edges would put it, so an extended graph equals one built at once.
    """
    low, high = int(graph.starts[node]), int(graph.starts[node + 1])
    along, count = graph.forward[low:high], graph.starts.size
    keys = graph.to[low:high] + np.where(along, 0, count)
    key = int(fresh.to[step]) + (0 if fresh.forward[step] else count)
    return low + int(np.searchsorted(keys, key, "right"))


def _until(
    starts: NDArray[np.int64], to: NDArray[np.int64], forward: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """For each step the end of its run: same two nodes, same direction."""
    differs = np.ones(to.size, np.bool_)
    differs[1:] = (to[1:] != to[:-1]) | (forward[1:] != forward[:-1])
    differs[starts[:-1][np.diff(starts) > 0]] = True
    ends = np.append(np.flatnonzero(differs)[1:], to.size)[: int(differs.sum())]
    return np.repeat(ends, np.diff(ends, prepend=0))
