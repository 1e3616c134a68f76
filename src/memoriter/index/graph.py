"""The graph of a view: its edges as arrays, and adjacency lists for walks and neighbours.

Nodes are positions. Of each key (source, target, kind, valid_from) the view sees the last edge that
was recorded by then; edges of forgotten records are left out. Read by the links lanes through
`View.graph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows
from memoriter.index.columns import dictionary_of
from memoriter.index.dictionary import union
from memoriter.index.edges import Edges, latest
from memoriter.index.segment import Segment
from memoriter.rank.walk import Adjacency, Nodes

BATCH: Final = 450
"""How many records share one read of neighbours: a receipt counts these reads."""
_KEPT: Final = 4
"""How many past states of a graph are cached."""
_FEW: Final = 2000
"""With more new edges than this, building from scratch is as quick as inserting them."""


@dataclass(frozen=True, slots=True)
class AdjacentNodes:
    """Neighbours of some records, one entry per edge; `reads` is the number of batches."""

    owners: Nodes
    others: Nodes
    weights: NDArray[np.float64]
    edges: NDArray[np.int64]
    reads: int


class Graph:
    """The graph of one view, built on first use."""

    def __init__(
        self,
        seq: int,
        segments: Sequence[Segment],
        visible: Sequence[Mask],
        tombs: Nodes,
        before: Graph | None = None,
    ) -> None:
        self._seq = seq
        self._segments = segments
        self._visible = visible
        self._tombs = tombs
        self._past: dict[int, Graph] = {}
        self._extended = None if before is None else self._extend(before)

    @property
    def is_built(self) -> bool:
        """Whether the adjacency lists were computed: only then is it worth extending."""
        return "adjacency" in self.__dict__

    def _extend(self, before: Graph) -> tuple[Edges, Adjacency] | None:
        """An earlier graph and the edges since; None if it must be built from scratch."""
        # A forget removes edges, and extending only adds: positions erased since rule it out.
        if before._seq > self._seq or not np.array_equal(before._tombs, self._tombs):
            return None
        old, graph, count = before.edges, before.adjacency, self.rows.size
        since = [s for s in self._segments if (s.arrays["edges.seqs"] > before._seq).any()]
        new = _edges(since, before._seq, self._seq, self._tombs) if since else None
        if new is None or not new.seqs.size:
            return old, graph if count + 1 == graph.starts.size else _widened(graph, count)
        if new.seqs.size > _FEW:
            return None
        renamed = _with_names(new, old.names)
        replaced = _replaced(old, renamed, graph)
        if replaced.size:
            old, graph = _without(old, graph, replaced)
        both = _appended(old, renamed)
        return both, _inserted(graph, both, old.seqs.size, count)

    def upto(self, seq: int | None) -> Graph:
        """The graph of the same records with only the edges recorded by `seq`; None for all."""
        if seq is None:
            return self
        seqs = _joined(self._segments, "seqs")
        if not ((seqs > seq) & (seqs <= self._seq)).any():
            return self
        known = self._past.get(seq)
        if known is None:
            if len(self._past) >= _KEPT:
                self._past.clear()
            known = self._past[seq] = Graph(seq, self._segments, self._visible, self._tombs)
        return known

    @cached_property
    def edges(self) -> Edges:
        """The edges of the view."""
        if self._extended is not None:
            return self._extended[0]
        return _edges(self._segments, 0, self._seq, self._tombs)

    @cached_property
    def rows(self) -> Rows:
        """The visible row at each position; -1 if there is none."""
        places = [self._positions(n) for n in range(len(self._segments))]
        rows = np.full(max((int(p.max(initial=-1)) for p in places), default=-1) + 1, -1)
        for segment, mask, place in zip(self._segments, self._visible, places, strict=True):
            rows[place[mask]] = segment.rows[mask]
        return rows

    def _positions(self, n: int) -> Nodes:
        return self._segments[n].positions

    @cached_property
    def adjacency(self) -> Adjacency:
        """Adjacency lists over all edges; time and kind are filtered by masks of edges."""
        if self._extended is not None:
            return self._extended[1]
        return Adjacency.of(self.edges.sources, self.edges.targets, self.rows.size)

    def positions(self, rows: Rows) -> Nodes:
        """The positions of these rows; -1 for rows that are not in the view's segments."""
        out = np.full(rows.size, -1)
        for n, segment in enumerate(self._segments):
            places, here = segment.places(rows)
            out[here] = self._positions(n)[places]
        return out

    def nodes(self, masks: Sequence[Mask]) -> Mask:
        """A mask of the positions whose row is inside the masks (one per segment)."""
        out = np.zeros(self.rows.size, np.bool_)
        for n, mask in enumerate(masks):
            out[self._positions(n)[mask]] = True
        return out

    def neighbours(self, nodes: Nodes, edges: Mask, within: Mask, most: int = 5) -> AdjacentNodes:
        """The neighbours of these records over these edges, in either direction, heaviest first.

        At most `most` for each record; of equal weights the older edge comes first. A record is not
        its own neighbour. Read in batches of `BATCH` records.
        """
        parts = [
            self._near(nodes[start : start + BATCH], edges, within, most)
            for start in range(0, nodes.size, BATCH)
        ]
        none = np.zeros((3, 0), np.int64)
        owners, others, used = np.concatenate([none, *parts], axis=1)
        return AdjacentNodes(owners, others, self.edges.weights[used], used, len(parts))

    def _near(self, nodes: Nodes, open_: Mask, within: Mask, most: int) -> NDArray[np.int64]:
        graph = self.adjacency
        # Concatenates the adjacency lists of all nodes without a Python loop.
        low = graph.starts[nodes]
        sizes = graph.starts[nodes + 1] - low
        inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        steps, owners = np.repeat(low, sizes) + inside, np.repeat(np.arange(nodes.size), sizes)
        edges, others = graph.edge[steps], graph.to[steps]
        ok = open_[edges] & within[others] & (others != nodes[owners])
        edges, others, owners = edges[ok], others[ok], owners[ok]
        order = np.lexsort((edges, -self.edges.weights[edges], owners))
        counts = np.bincount(owners, minlength=nodes.size)
        rank = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
        order = order[rank < most]
        return np.stack([nodes[owners[order]], others[order], edges[order]])


def _edges(segments: Sequence[Segment], after: int, upto: int, tombs: Nodes) -> Edges:
    """The edges recorded in (after, upto]: the last of each key, without forgotten records."""
    segments = [segment for segment in segments if segment.last > after]
    dictionary, maps = union([dictionary_of(s.arrays, "edges.kinds") for s in segments])
    kinds = [new[s.arrays["edges.kinds.codes"]] for s, new in zip(segments, maps, strict=True)]
    codes: NDArray[Any] = np.concatenate([np.zeros(0, np.int64), *kinds])
    seqs, sources, targets, since, until = (
        _joined(segments, key) for key in ("seqs", "sources", "targets", "from", "until")
    )
    at = np.flatnonzero((seqs > after) & (seqs <= upto))
    at = at[~(np.isin(sources[at], tombs) | np.isin(targets[at], tombs))]
    at = at[latest(seqs[at], (sources[at], targets[at], codes[at], since[at]))]
    weights = _joined(segments, "weights", np.float64)
    arrays = (each[at] for each in (seqs, sources, targets, codes, weights, since, until))
    return Edges(*arrays, names=tuple(dictionary))


def _joined(segments: Sequence[Segment], key: str, kind: Any = np.int64) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *(s.arrays[f"edges.{key}"] for s in segments)])


# -- extending a graph by a few new edges ----------------------------------------------------------
# An agent that links and recalls in turns would otherwise pay for sorting all edges each time.


def _with_names(new: Edges, names: tuple[str, ...]) -> Edges:
    """The same edges, whose kinds index these names and those that are not among them."""
    every = (*names, *(name for name in new.names if name not in names))
    code = np.array([every.index(name) for name in new.names], np.int64)
    return replace(new, kinds=code[new.kinds] if new.kinds.size else new.kinds, names=every)


def _replaced(old: Edges, new: Edges, graph: Adjacency) -> NDArray[np.int64]:
    """The old edges that have the key of a new one, ascending; `graph` is of the old ones."""
    keys = (new.sources.tolist(), new.targets.tolist(), new.kinds.tolist(), new.since.tolist())
    every = [_of_key(old, graph, key) for key in zip(*keys, strict=True)]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *every]))


def _of_key(old: Edges, graph: Adjacency, key: tuple[int, int, int, int]) -> NDArray[np.int64]:
    source, target, kind, since = key
    if source >= graph.starts.size - 1:
        return np.zeros(0, np.int64)
    steps = slice(int(graph.starts[source]), int(graph.starts[source + 1]))
    edges = graph.edge[steps][graph.forward[steps] & (graph.to[steps] == target)]
    return edges[(old.kinds[edges] == kind) & (old.since[edges] == since)]


def _without(old: Edges, graph: Adjacency, dead: NDArray[np.int64]) -> tuple[Edges, Adjacency]:
    """The edges and adjacency lists without some edges; `until` is left to `_inserted`."""
    stays = np.ones(old.seqs.size, np.bool_)
    stays[dead] = False
    ends: list[int] = np.unique(np.concatenate([old.sources[dead], old.targets[dead]])).tolist()
    spans = [np.arange(graph.starts[node], graph.starts[node + 1], dtype=np.int64) for node in ends]
    steps: NDArray[np.int64] = np.concatenate(spans)
    steps = steps[np.isin(graph.edge[steps], dead)]
    edges = Edges(
        seqs=old.seqs[stays],
        sources=old.sources[stays],
        targets=old.targets[stays],
        kinds=old.kinds[stays],
        weights=old.weights[stays],
        since=old.since[stays],
        until=old.until[stays],
        names=old.names,
    )
    edge = np.delete(graph.edge, steps)
    return edges, Adjacency(
        graph.starts - np.searchsorted(steps, graph.starts),
        np.delete(graph.to, steps),
        edge - np.searchsorted(dead, edge),
        np.delete(graph.forward, steps),
        np.delete(graph.until, steps),
    )


def _appended(old: Edges, new: Edges) -> Edges:
    """Old edges followed by new ones."""
    return Edges(
        seqs=np.concatenate([old.seqs, new.seqs]),
        sources=np.concatenate([old.sources, new.sources]),
        targets=np.concatenate([old.targets, new.targets]),
        kinds=np.concatenate([old.kinds, new.kinds]),
        weights=np.concatenate([old.weights, new.weights]),
        since=np.concatenate([old.since, new.since]),
        until=np.concatenate([old.until, new.until]),
        names=new.names,
    )


def _widened(graph: Adjacency, count: int) -> Adjacency:
    """The same adjacency lists, with empty ones for new nodes up to `count`."""
    more = count + 1 - graph.starts.size
    starts = np.concatenate([graph.starts, np.full(max(more, 0), graph.to.size)])
    return Adjacency(starts, graph.to, graph.edge, graph.forward, graph.until)


def _inserted(graph: Adjacency, edges: Edges, first: int, count: int) -> Adjacency:
    """The adjacency lists of a graph and of the edges from `first` on, for `count` nodes."""
    graph = _widened(graph, count)
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
