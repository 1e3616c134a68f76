"""A graph and a few new edges: put in where they belong, instead of sorting everything again."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.index.edges import Edges
from memoriter.rank.walk import Adjacency

FEW: Final = 2000
"""Of more new edges than these the graph is built anew."""


def appended(old: Edges, new: Edges, graph: Adjacency) -> Edges | None:
    """Old edges, then new ones; None where a new one takes the place of an old one.

    `graph` says who is next to whom by the old edges.
    """
    names = (*old.names, *(name for name in new.names if name not in old.names))
    code = np.array([names.index(name) for name in new.names], np.int64)
    kinds = code[new.kinds] if new.kinds.size else new.kinds
    told = (new.sources.tolist(), new.targets.tolist(), kinds.tolist(), new.since.tolist())
    for source, target, kind, since in zip(*told, strict=True):
        if _is_there(old, graph, (source, target, kind, since)):
            return None
    return Edges(
        np.concatenate([old.seqs, new.seqs]),
        np.concatenate([old.sources, new.sources]),
        np.concatenate([old.targets, new.targets]),
        np.concatenate([old.kinds, kinds]),
        np.concatenate([old.weights, new.weights]),
        np.concatenate([old.since, new.since]),
        np.concatenate([old.until, new.until]),
        names,
    )


def _is_there(old: Edges, graph: Adjacency, key: tuple[int, int, int, int]) -> bool:
    source, target, kind, since = key
    if source >= graph.starts.size - 1:
        return False
    steps = slice(int(graph.starts[source]), int(graph.starts[source + 1]))
    edges = graph.edge[steps][graph.forward[steps] & (graph.to[steps] == target)]
    return bool(((old.kinds[edges] == kind) & (old.since[edges] == since)).any())


def widened(graph: Adjacency, count: int) -> Adjacency:
    """The same steps between more nodes."""
    more = count + 1 - graph.starts.size
    starts = np.concatenate([graph.starts, np.full(max(more, 0), graph.to.size)])
    return Adjacency(starts, graph.to, graph.edge, graph.forward, graph.until)


def inserted(graph: Adjacency, edges: Edges, first: int, count: int) -> Adjacency:
    """The steps of a graph and of the edges from `first` on, between `count` nodes."""
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
    """Where a new step goes: after every old one to the same node in the same direction."""
    low, high = int(graph.starts[node]), int(graph.starts[node + 1])
    along, count = graph.forward[low:high], graph.starts.size
    keys = graph.to[low:high] + np.where(along, 0, count)
    mine = int(fresh.to[step]) + (0 if fresh.forward[step] else count)
    return low + int(np.searchsorted(keys, mine, "right"))


def _until(
    starts: NDArray[np.int64], to: NDArray[np.int64], forward: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Where the steps of one direction between the same two nodes end."""
    differs = np.ones(to.size, np.bool_)
    differs[1:] = (to[1:] != to[:-1]) | (forward[1:] != forward[:-1])
    differs[starts[:-1][np.diff(starts) > 0]] = True
    ends = np.append(np.flatnonzero(differs)[1:], to.size)[: int(differs.sum())]
    return np.repeat(ends, np.diff(ends, prepend=0))
