"""The index at one moment: which rows a view sees, and the statistics that ranking needs.

A view is a mask: begin ≤ seq < end. Document counts, lengths and document frequencies are counted
over it, so deletes, past views and tenants need no code of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.edge import REPLACING
from memoriter.index.columns import NO_TIME, Arrays, dictionary_of, holds_at
from memoriter.index.edges import latest
from memoriter.index.graph import Graph
from memoriter.index.segment import Segment, SegmentView
from memoriter.store.rows import AgentRow

SETTING: Final = "\x1fembedding"
"""The entry of the registry that says which space serves; no agent can have this name."""


@dataclass(frozen=True, slots=True)
class ReplacingEdges:
    """Edges that take their targets out of force: ends by position, validity in microseconds."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    since: NDArray[np.int64]
    until: NDArray[np.int64]

    def take(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> ReplacingEdges:
        """These of them, in order."""
        return ReplacingEdges(self.sources[at], self.targets[at], self.since[at], self.until[at])


_NO_EDGES: Final = ReplacingEdges(*(np.zeros(0, np.int64) for _ in range(4)))


class View:
    """A view at `seq` over segments, oldest first. Immutable; threads may share it."""

    def __init__(
        self,
        seq: int,
        segments: Sequence[Segment],
        fields: tuple[str, ...],
        agents: Callable[[], Sequence[AgentRow]] = tuple[AgentRow, ...],
        built_graph: Graph | None = None,
        damage: str | None = None,
    ) -> None:
        self.seq = seq
        self.segments = tuple(segments)
        self.fields = fields
        self._agents = agents
        self._built_graph = built_graph
        self.damage = damage
        """Why there are no vectors, where one of them is damaged."""

    def with_damage(self, damage: str) -> View:
        """The same view, which says why it has no vectors."""
        return View(self.seq, self.segments, self.fields, self._agents, self._built_graph, damage)

    @cached_property
    def agents(self) -> Mapping[str, str]:
        """What the registry says of each agent, as one text; read when first asked for."""
        return {row.agent: _registry_text(row) for row in self._agents() if row.agent != SETTING}

    @cached_property
    def seen(self) -> tuple[SegmentView, ...]:
        """For each segment what this view sees of it."""
        return tuple(segment.seen(self.seq) for segment in self.segments)

    @cached_property
    def visible(self) -> tuple[NDArray[np.bool_], ...]:
        """For each segment the rows that this view sees."""
        return tuple(seen.mask for seen in self.seen)

    @cached_property
    def total(self) -> int:
        """How many records the view holds."""
        return sum(seen.count for seen in self.seen)

    @cached_property
    def unembedded(self) -> tuple[NDArray[np.bool_], ...]:
        """For each segment the rows that this view sees and that still lack a vector."""
        late = [_late(segment, self.seq) for segment in self.segments]
        rows = np.concatenate([np.zeros(0, np.int64), *late])
        out: list[NDArray[np.bool_]] = []
        for segment, mask in zip(self.segments, self.visible, strict=True):
            lacking = mask & ~segment.embedded
            if rows.size and lacking.any():
                lacking[segment.places(rows)[0]] = False
            out.append(lacking)
        return tuple(out)

    @cached_property
    def behind(self) -> int:
        """How many records of the view still lack a vector."""
        return sum(int(lacking.sum()) for lacking in self.unembedded)

    @cached_property
    def tombs(self) -> NDArray[np.int64]:
        """Positions that were forgotten."""
        return np.concatenate(
            [
                np.zeros(0, np.int64),
                *(s.arrays["tombs"] for s in self.segments),
            ]
        )

    @cached_property
    def graph(self) -> Graph:
        """The edges of the view; built when first asked for."""
        return Graph(self.seq, self.segments, self.visible, self.tombs, self._built_graph)

    @property
    def built_graph(self) -> Graph | None:
        """The latest graph that was walked, of this view or of one before it."""
        mine = self.__dict__.get("graph")
        return mine if isinstance(mine, Graph) and mine.is_built else self._built_graph

    @cached_property
    def replacing_edges(self) -> ReplacingEdges:
        """The replacing edges of the view, the last of each key, forgotten ends left out."""
        return self._replacing_edges(self.seq)

    def _replacing_edges(self, upto: int) -> ReplacingEdges:
        parts = [part for part in map(_replacing, self.segments) if part[0].size]
        if not parts:
            return _NO_EDGES
        seqs, sources, targets, kinds, since, until = (
            np.concatenate([np.zeros(0, np.int64), *(part[n] for part in parts)]) for n in range(6)
        )
        forgotten = np.isin(sources, self.tombs) | np.isin(targets, self.tombs)
        at = np.flatnonzero((seqs <= upto) & ~forgotten)
        at = at[latest(seqs[at], (sources[at], targets[at], kinds[at], since[at]))]
        return ReplacingEdges(sources[at], targets[at], since[at], until[at])

    def superseding_edges(self, time: int, recorded: int | None = None) -> ReplacingEdges:
        """The edges that take their targets out of force at a time, oldest first.

        By their validity; or, where `recorded` is the last entry of the log at that time, by what
        was recorded then: an edge begins when it is written, and ends where it said so by then.
        """
        if recorded is None:
            edges = self.replacing_edges
            return edges.take(holds_at(edges.since, edges.until, time))
        edges = self._replacing_edges(min(recorded, self.seq))
        return edges.take((edges.until == NO_TIME) | (time < edges.until))


def _late(segment: Segment, seq: int) -> NDArray[np.int64]:
    """Rows of earlier segments whose vectors came in this one, or that have none as it says."""
    none = segment.arrays["vectors.none.rows"]
    if segment.in_order and not none.size:
        return none
    _, home = segment.owners
    away = ~home & (segment.arrays["vectors.seqs"] <= seq)
    unembedded = none[segment.arrays["vectors.none.seqs"] <= seq]
    return np.concatenate([segment.arrays["vectors.rows"][away], unembedded])


def _registry_text(row: AgentRow) -> str:
    told = cast("dict[str, Any]", json.loads(row.body))
    parts = [told.get(key) for key in ("display_name", "owner", "description")]
    return " ".join(part for part in (*parts, *told.get("aliases", ())) if part)


def _replacing(segment: Segment) -> tuple[NDArray[np.int64], ...]:
    """Sequence, ends, kind and validity of the replacing edges of a segment; found once."""
    known = segment.memo.get("replacing")
    if known is None:
        known = _replacing_in(segment.arrays)
        segment.remember("replacing", known)
    return known


def _replacing_in(arrays: Arrays) -> tuple[NDArray[np.int64], ...]:
    names = dictionary_of(arrays, "edges.kinds")
    wanted = {names.find(kind): n for n, kind in enumerate(REPLACING)}
    codes = arrays["edges.kinds.codes"]
    at = np.flatnonzero(np.isin(codes, [code for code in wanted if code >= 0]))
    kinds = np.array([wanted[int(code)] for code in codes[at]], np.int64)
    picked = [arrays[f"edges.{key}"][at] for key in ("seqs", "sources", "targets")]
    validity = [arrays[f"edges.{key}"][at] for key in ("from", "until")]
    return (*picked, kinds, *validity)
