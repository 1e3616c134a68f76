"""A view: the snapshot of a tenant's index at one sequence number, which every search reads.

It sees a row if begin ≤ seq < end (`Segment.seen`), so an updated version is hidden from later
views and a forgotten one from all. `field_stats` counts documents, lengths and frequencies over
these rows, so updates, past views and tenants need no code of their own. `replacing_edges_at` tells
which records others have replaced; `selection` hides those. Views come from `TenantIndex.view`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.calibration import Calibration
from memoriter.core.edge import REPLACING
from memoriter.core.fields import TRUST
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Rows
from memoriter.embed.calibrate import TABLE, packaged_calibration
from memoriter.index.calibrations import committed_calibration
from memoriter.index.columns import NO_TIME, Arrays, dictionary_of, holds_at
from memoriter.index.edges import latest
from memoriter.index.graph import Graph
from memoriter.index.segment import Segment, SegmentView
from memoriter.store.rows import RESERVED, AgentRow

ReplacedBy = Literal["any", "as_trusted"]
"""Which replacing edges have force: all, or those from records that are trusted as much."""
SETTING: Final = f"{RESERVED}embedding"
"""Registry entry that names the vector space in use."""


@dataclass(frozen=True, slots=True)
class ReplacingEdges:
    """Edges whose source supersedes their target: positions, and validity in microseconds."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    since: NDArray[np.int64]
    until: NDArray[np.int64]

    def take(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> ReplacingEdges:
        """The edges at these indices, or under this mask."""
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
        space: str = "",
    ) -> None:
        self.seq = seq
        self.segments = tuple(segments)
        self.fields = fields
        self._agents = agents
        self._built_graph = built_graph
        self.space = space
        """The name of the vector space whose vectors the view has; empty if it has none."""
        self.damage: str | None = None
        """Why the view has no vectors; None unless one of them is damaged."""

    def with_damage(self, damage: str) -> View:
        """The same view, with the reason why it has no vectors."""
        graph, space = self._built_graph, self.space
        view = View(
            self.seq,
            self.segments,
            fields=self.fields,
            agents=self._agents,
            built_graph=graph,
            space=space,
        )
        view.damage = damage
        return view

    @cached_property
    def memo(self) -> dict[object, Any]:
        """Cache of what lanes derive from this view alone."""
        return {}

    def part(self, rows: Rows, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Rows:
        """Some of these rows, by mask or place; segments know where they are if they know all."""
        part = rows[chosen]
        for segment in self.segments:
            segment.row_places.note_part(rows, chosen, part)
        return part

    @cached_property
    def agents(self) -> Mapping[str, str]:
        """The registry's text about each agent; read on first use."""
        return {row.agent: _registry_text(row, None) for row in self._registered}

    @cached_property
    def every_agent(self) -> Mapping[str, str]:
        """The same for every agent that has written; one without a display name has its id."""
        ids = {
            agent for segment in self.segments for agent in dictionary_of(segment.arrays, "agent")
        }
        entries = {row.agent: _registry_text(row, row.agent) for row in self._registered}
        return {**{agent: agent for agent in sorted(ids)}, **entries}

    @property
    def _registered(self) -> Iterator[AgentRow]:
        return (row for row in self._registry if not row.agent.startswith(RESERVED))

    @cached_property
    def _registry(self) -> Sequence[AgentRow]:
        return self._agents()

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the view's vector space; read on first use.

        The one that was last committed up to `seq`, else the packaged one of its embedder, else
        None.
        """
        entry = committed_calibration(self._registry, self.space)
        return packaged_calibration(self.space) if entry is None else entry.calibration

    @cached_property
    def has_model(self) -> bool:
        """Whether its vectors come from another embedder than the packaged table of words."""
        return bool(self.space) and not self.space.startswith(TABLE)

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
        """For each segment a mask of the visible rows that still lack a vector."""
        rows = self._embedded_later
        out: list[NDArray[np.bool_]] = []
        for segment, mask in zip(self.segments, self.visible, strict=True):
            lacking = mask & ~segment.embedded_by(self.seq)
            if rows.size and lacking.any():
                lacking[segment.places(rows)[0]] = False
            out.append(lacking)
        return tuple(out)

    @cached_property
    def behind(self) -> int:
        """How many visible rows still lack a vector."""
        if self._embedded_later.size:
            return sum(int(lacking.sum()) for lacking in self.unembedded)
        # A write changes nothing for the segments before it, whose numbers are kept.
        return sum(
            seen.number("unembedded", partial(self._lacking, segment, seen.mask))
            for segment, seen in zip(self.segments, self.seen, strict=True)
        )

    def _lacking(self, segment: Segment, mask: NDArray[np.bool_]) -> int:
        return int((mask & ~segment.embedded_by(self.seq)).sum())

    def lacks_vector(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of these rows still lack a vector."""
        out = np.zeros(rows.size, np.bool_)
        for segment, lacking in zip(self.segments, self.unembedded, strict=True):
            places, here = segment.places(rows)
            out[here] = lacking[places]
        return out

    @property
    def owes(self) -> bool:
        """Whether a vector is still to be computed; those that callers give never are."""
        return self.behind > 0 and not self.space.startswith("given:")

    @cached_property
    def _embedded_later(self) -> Rows:
        """Rows whose vector was computed later: it is in a later segment than its row."""
        late = [segment.late_by(self.seq) for segment in self.segments]
        return np.concatenate([np.zeros(0, np.int64), *late])

    @cached_property
    def tombs(self) -> NDArray[np.int64]:
        """Positions of forgotten records, also those forgotten after `seq`."""
        return np.concatenate(
            [
                np.zeros(0, np.int64),
                *(s.arrays["tombs"] for s in self.segments),
            ]
        )

    @cached_property
    def graph(self) -> Graph:
        """The edges of the view; built on first use."""
        return Graph(self.seq, self.segments, self.visible, self.tombs, self._built_graph)

    @property
    def built_graph(self) -> Graph | None:
        """The latest graph that was built, of this view or an earlier one, to extend from."""
        own = self.__dict__.get("graph")  # not the property, which would build it
        return own if isinstance(own, Graph) and own.is_built else self._built_graph

    @cached_property
    def replacing_edges(self) -> ReplacingEdges:
        """The replacing edges of the view: the last of each key, without forgotten records."""
        return self._replacing_edges(self.seq)

    def _replacing_edges(self, upto: int) -> ReplacingEdges:
        parts = [part for part in map(_replacing, self.segments) if part.seqs.size]
        if not parts:
            return _NO_EDGES
        seqs, sources, targets, kinds, since, until = _EdgeColumns(
            *(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        )
        forgotten = np.isin(sources, self.tombs) | np.isin(targets, self.tombs)
        at = np.flatnonzero((seqs <= upto) & ~forgotten)
        at = at[latest(seqs[at], (sources[at], targets[at], kinds[at], since[at]))]
        return ReplacingEdges(sources[at], targets[at], since[at], until[at])

    def replacing_edges_at(
        self, time: int, recorded: int | None = None, replaced_by: ReplacedBy = "any"
    ) -> ReplacingEdges:
        """The replacing edges in force at a time, oldest first: their targets are superseded.

        With `replaced_by="as_trusted"`, an edge from a record that is trusted less than its target
        has no force.

        By default an edge is in force while it is valid. With `recorded`, the last sequence number
        at that time, append time decides: an edge begins when it is written, whatever its
        `valid_from`, and still ends at its `valid_until`.
        """
        if recorded is None:
            edges = self.replacing_edges
            if not edges.sources.size:  # in most stores nothing was ever replaced
                return edges
            held = holds_at(edges.since, edges.until, time)
            return edges.take(held if replaced_by == "any" else held & self._as_trusted)
        edges = self._replacing_edges(min(recorded, self.seq))
        held = (edges.until == NO_TIME) | (time < edges.until)
        if replaced_by == "as_trusted":
            held &= ~self.less_trusted(edges.sources, edges.targets)
        return edges.take(held)

    @cached_property
    def _as_trusted(self) -> NDArray[np.bool_]:
        """Which replacing edges come from a record that is trusted as much as the one replaced."""
        edges = self.replacing_edges
        if not edges.sources.size:
            return np.zeros(0, np.bool_)
        return ~self.less_trusted(edges.sources, edges.targets)

    def less_trusted(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the record at each position is trusted less than the one at the other."""
        if not one.size:
            return np.zeros(0, np.bool_)
        ends = np.unique(np.concatenate([one, other]))
        # Positions that the view does not see count as the least trusted: they replace nothing.
        ranks = np.full(ends.size, len(TRUST), np.int64)
        for segment, mask in zip(self.segments, self.visible, strict=True):
            positions = segment.arrays["position"]
            at = np.flatnonzero(mask & np.isin(positions, ends))
            levels = [TRUST.index(name) for name in dictionary_of(segment.arrays, "trust")]
            codes = segment.arrays["trust.codes"][at]
            ranks[np.searchsorted(ends, positions[at])] = np.array(levels, np.int64)[codes]
        return ranks[np.searchsorted(ends, one)] > ranks[np.searchsorted(ends, other)]


def _registry_text(row: AgentRow, unnamed: str | None) -> str:
    """What the registry says of an agent; `unnamed` stands for a display name that is not set."""
    entry = cast("dict[str, Any]", json.loads(row.body))
    parts = [entry.get(key) for key in ("owner", "description")]
    names = (entry.get("display_name") or unnamed, *parts, *entry.get("aliases", ()))
    return " ".join(part for part in names if part)


class _EdgeColumns(NamedTuple):
    """The columns of some edges; kinds index `REPLACING`."""

    seqs: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    kinds: NDArray[np.int64]
    since: NDArray[np.int64]
    until: NDArray[np.int64]


def _replacing(segment: Segment) -> _EdgeColumns:
    """The replacing edges of a segment; cached on it."""
    known = segment.memo.get("replacing")
    if known is None:
        known = _replacing_in(segment.arrays)
        segment.remember("replacing", known)
    return known


def _replacing_in(arrays: Arrays) -> _EdgeColumns:
    if not arrays["edges.seqs"].size:
        return _EdgeColumns(*(np.zeros(0, np.int64),) * 6)
    names = dictionary_of(arrays, "edges.kinds")
    wanted = {names.find(kind): n for n, kind in enumerate(REPLACING)}
    codes = arrays["edges.kinds.codes"]
    at = np.flatnonzero(np.isin(codes, [code for code in wanted if code >= 0]))
    kinds = np.array([wanted[int(code)] for code in codes[at]], np.int64)
    return _EdgeColumns(
        arrays["edges.seqs"][at],
        arrays["edges.sources"][at],
        targets=arrays["edges.targets"][at],
        kinds=kinds,
        since=arrays["edges.from"][at],
        until=arrays["edges.until"][at],
    )
