"""The oracle's world: what a view of a tenant holds, as lists, and what of it may be found."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

from tests.oracle.graph import REPLACING, Link, Past, links_of, past_at
from tests.oracle.numbers import Vector, unit
from tests.oracle.pages import Page, page
from tests.oracle.table import ATTRIBUTES, Judge
from tests.oracle.wheres import passes

from memoriter.core.batch import DERIVED
from memoriter.core.record import TRUST, Record, decode
from memoriter.core.times import to_micros
from memoriter.core.words import RecordWords
from memoriter.embed.calibrate import packaged_calibration
from memoriter.embed.static import Static
from memoriter.store.port import Dump
from memoriter.store.rows import RESERVED, VectorRow
from memoriter.text.past import past_words
from memoriter.text.port import Analyzer


@dataclass(frozen=True)
class Replacing:
    """An edge that takes its target out of force; ends are positions."""

    source: int
    target: int
    since: int | None
    until: int | None

    def holds(self, time: int) -> bool:
        """Whether it holds at a time."""
        return (self.since is None or self.since <= time) and (
            self.until is None or time < self.until
        )


@dataclass(frozen=True)
class World:
    """Everything that a view of a tenant holds, as lists."""

    records: list[Record]
    vectors: dict[int, list[Vector]]
    """The vectors of each row, in one space; none for a row with nothing to embed."""
    replacing: list[Replacing]
    analyzer: Analyzer
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The registry's entry of each agent."""
    links: list[Link] = field(default_factory=list[Link])
    """Every edge, whatever its kind."""
    by_then: Callable[[int], Past] = Past
    """What had been written at a time."""
    has_model: bool = False
    """Whether the vectors come from another embedder than the packaged table."""
    calibration: Sequence[float] | None = None
    """The quantiles of unrelated texts in the space, if they are known."""

    @classmethod
    def at(cls, dump: Dump, seq: int, analyzer: Analyzer, space: str) -> World:
        """The world as a view at `seq` sees it; what is forgotten is in no dump."""
        latest = {
            row.position: decode(row.body, row.row, row.position, row.committed)
            for row in dump.records
            if row.row <= seq
        }
        vectors: dict[int, list[Vector]] = {}
        texts = {
            row.row: decode(row.body, row.row, row.position, row.committed).titled
            for row in dump.records
        }
        for row in dump.vectors:
            if row.seq <= seq and row.generation == space:
                made = _read_vector(row, texts.get(row.row, ""))
                vectors.setdefault(row.row, []).extend([] if made is None else [made])
        edges: dict[object, Replacing] = {}
        for edge in dump.edges:
            body = cast("dict[str, Any]", json.loads(edge.body))
            since, until = body.get("valid_from"), body.get("valid_until")
            if edge.seq <= seq and body["kind"] in REPLACING:
                key = (edge.source, edge.target, body["kind"], since)
                edges[key] = Replacing(edge.source, edge.target, since, until)
        records = sorted(latest.values(), key=lambda record: record.row)
        known = packaged_calibration(space)
        return cls(
            records,
            vectors,
            list(edges.values()),
            analyzer,
            _agents(dump, seq),
            links_of(dump, seq),
            partial(past_at, dump, seq),
            bool(space) and known is None,
            _calibration(dump, seq, space) or (None if known is None else known.cosines),
        )

    @cached_property
    def words(self) -> dict[int, RecordWords]:
        """The analysed words of every record."""
        return {record.row: self.analyzer.analyse(texts(record)) for record in self.records}

    def pages(self, fields: Sequence[str], named: str = "registered") -> dict[int, Page]:
        """What the word lane sees of every record."""
        known = {agent: _about(entry, "") for agent, entry in self.agents.items()}
        if named == "every":
            every = {record.agent for record in self.records if record.agent is not None}
            known = {agent: _about(self.agents.get(agent, {}), agent) for agent in every}
        registry = {a: self.analyzer.analyse({"text": [text]}) for a, text in known.items()}
        return {
            record.row: page(
                self.words[record.row], registry.get(record.agent or ""), self.analyzer, fields
            )
            for record in self.records
        }


def _agents(dump: Dump, seq: int) -> dict[str, Mapping[str, Any]]:
    return {row.agent: json.loads(row.body) for row in dump.agents if row.seq <= seq}


def _about(entry: Mapping[str, Any], unnamed: str) -> str:
    parts = [entry.get("display_name") or unnamed, entry.get("owner"), entry.get("description")]
    return " ".join(part for part in (*parts, *entry.get("aliases", ())) if part)


def _calibration(dump: Dump, seq: int, space: str) -> Sequence[float] | None:
    """The quantiles that were committed last, by level."""
    bodies = [
        cast("dict[str, Any]", json.loads(row.body))["cosines"]
        for row in dump.agents
        if row.seq <= seq and row.agent == f"{RESERVED}calibration {space}"
    ]
    return [quantile for _, quantile in sorted(bodies[-1].items())] if bodies else None


def _read_vector(row: VectorRow, text: str) -> Vector | None:
    if not row.body:
        return None
    if row.body == DERIVED:  # a vector of the packaged table is computed, not kept
        (made,) = Static().embed([text], "record")
        return None if made is None else unit(made.tolist())
    code = "d" if row.form == "f8" else "f"
    values = struct.unpack(f"<{len(row.body) // struct.calcsize(code)}{code}", row.body)
    return values if row.form == "unit" else unit(values)


def texts(record: Record) -> dict[str, Sequence[str]]:
    """What the analyzer reads of a record."""
    alone = {
        "text": record.text, "title": record.title, "summary": record.summary,
        "essence": record.text[:200] if record.summary is None else record.summary,
        "agent": record.agent, "path": record.source.path,
    }  # fmt: skip
    out: dict[str, Sequence[str]] = {key: [one] for key, one in alone.items() if one is not None}
    return {**out, "tags": record.tags, "concepts": record.concepts, "entities": record.entities}


def embedded(record: Record) -> str:
    """What the embedder reads of a record."""
    return f"{record.title}\n{record.text}" if record.title else record.text


@dataclass(frozen=True)
class Ask:
    """A question, resolved: the recipe as data, the query's vector if it has one."""

    text: str
    recipe: Mapping[str, Any]
    now: int
    vector: Vector | None = None
    where: object = None
    as_of: int | None = None
    scope: Mapping[str, str] = field(default_factory=dict[str, str])
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    seeds: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    lists: Mapping[str, Sequence[tuple[str, float]]] = field(
        default_factory=dict[str, Sequence[tuple[str, float]]]
    )
    mode: str | None = None
    cycle: int | None = None
    judge: Judge | None = None
    """What the reranker answers."""

    @property
    def time(self) -> int:
        """The time asked about."""
        return self.now if self.as_of is None else self.as_of

    @property
    def ties(self) -> list[str]:
        """How equals are put in order inside lanes."""
        return [tie for tie in self.recipe["ties"] if tie.removeprefix("-") in ATTRIBUTES]

    @property
    def lanes(self) -> list[str]:
        """The lanes that the mode wants."""
        if self.mode is not None:
            return list(self.recipe["modes"][self.mode]["lanes"])
        every = list(self.recipe["lanes"])
        return [label for label in every if label != self.recipe["otherwise"]] or every

    @property
    def otherwise(self) -> str | None:
        """The lane that answers when no other can run."""
        return (self.recipe["modes"][self.mode] if self.mode else self.recipe)["otherwise"]


def readable(world: World, ask: Ask, record: Record) -> bool:
    """Whether the caller may read a record at the time asked about, whatever the filter says."""
    if any(getattr(record, key) != value for key, value in ask.scope.items()):
        return False
    if ask.as_of is None:
        return True
    if by_append(ask):
        return record.position in world.by_then(ask.as_of).positions
    return _valid(record, ask.as_of) and record.position not in _early(world, ask)


def by_append(ask: Ask) -> bool:
    """Whether the time asked about goes by when things were written."""
    return ask.as_of is not None and ask.recipe["select"]["as_of"] == "append"


def _early(world: World, ask: Ask) -> set[int]:
    """Positions of records that replaced something only after the time asked about."""
    return {
        edge.source
        for edge in world.replacing
        if ask.as_of is not None and edge.since is not None and edge.since > ask.as_of
    }


def select(world: World, ask: Ask) -> list[Record]:
    """The records that may be found."""
    rules = cast("dict[str, Any]", ask.recipe["select"])
    time = ask.now if ask.as_of is None else ask.as_of
    asked = rules["superseded"] == "past" and past_words(ask.text, ask.now) is not None
    shown = rules["superseded"] == "show" or asked
    edges: Sequence[Replacing | Link] = world.replacing
    if by_append(ask):
        edges = world.by_then(time).replacing
    else:
        edges = [edge for edge in edges if edge.holds(time) and not shown]
    hidden = {edge.target for edge in edges if has_force(world.records, ask.recipe, edge)}
    return [
        record
        for record in world.records
        if record.position not in hidden
        and readable(world, ask, record)
        and (rules["trust"] is None or record.trust in rules["trust"])
        and not (rules["archived"] == "hide" and record.archived)
        and not (rules["expired"] == "hide" and _expired(record, ask.now))
        and rules["reflections"] in ("show", "only" if record.kind == "reflection" else "hide")
        and passes(ask.where, record)
    ]


def has_force(records: Iterable[Record], recipe: Mapping[str, Any], edge: Replacing | Link) -> bool:
    """Whether an edge takes its target out of force: its source may have to be trusted as much."""
    if recipe["select"]["replaced_by"] == "any":
        return True
    trust = {record.position: TRUST.index(record.trust) for record in records}
    return trust.get(edge.source, len(TRUST)) <= trust.get(edge.target, len(TRUST))


def _expired(record: Record, now: int) -> bool:
    return record.expires is not None and to_micros(record.expires) <= now


def _valid(record: Record, time: int) -> bool:
    since, until = record.valid_from, record.valid_until
    begun = since is None or to_micros(since) <= time
    return begun and (until is None or time < to_micros(until))
