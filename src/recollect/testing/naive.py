"""The oracle: the formulas of the engine in plain Python, over plain lists, as slow as they read.

It shares the analyzer and the embedder with the engine, and nothing of `index/`, `rank/` or
`lanes/`. Its world is what a store dumps; its answer is ids and scores, to be compared bit for bit.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, cast

from recollect.core.record import Record, decode
from recollect.core.words import Words
from recollect.store.port import Dump
from recollect.store.rows import VectorRow
from recollect.testing import naive_kin
from recollect.testing.naive_fuse import fuse, grid
from recollect.testing.naive_graph import (
    REPLACING,
    Found,
    Land,
    Link,
    Past,
    found_by,
    links_of,
    past_at,
)
from recollect.testing.naive_words import Lane, Page, page
from recollect.testing.wheres import passes
from recollect.text.port import Analyzer

Vector = Sequence[float]


def unit(vector: Iterable[float]) -> Vector | None:
    """The vector at unit length, each element a multiple of 2^-23; None for a zero vector."""
    given = list(vector)
    largest = max(map(abs, given), default=0.0)
    if largest == 0.0:
        return None
    exponent = math.frexp(largest)[1]
    scaled = [math.ldexp(x, -exponent) for x in given]
    norm = math.sqrt(math.fsum(x * x for x in scaled))
    return [round(x / norm * 2**23) / 2**23 for x in scaled]


def cosine(a: Vector, b: Vector) -> float:
    """The dot product of two unit vectors, exactly, then on the grid."""
    return grid(math.fsum(x * y for x, y in zip(a, b, strict=True)))


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
    """The vectors of each row, in one space."""
    replacing: list[Replacing]
    analyzer: Analyzer
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the registry says of each agent."""
    links: list[Link] = field(default_factory=list[Link])
    """Every edge, whatever its kind."""
    by_then: Callable[[int], Past] = Past
    """What had been written at a time."""

    @classmethod
    def at(cls, dump: Dump, seq: int, analyzer: Analyzer, space: str) -> World:
        """The world as a view at `seq` sees it; what is forgotten is in no dump."""
        latest = {
            row.position: decode(row.body, row.row, row.position, row.committed)
            for row in dump.records
            if row.row <= seq
        }
        vectors: dict[int, list[Vector]] = {}
        for row in dump.vectors:
            if row.seq <= seq and row.generation == space:
                made = _read_vector(row)
                if made is not None:
                    vectors.setdefault(row.row, []).append(made)
        edges: dict[object, Replacing] = {}
        for edge in dump.edges:
            body = cast("dict[str, Any]", json.loads(edge.body))
            since, until = body.get("valid_from"), body.get("valid_until")
            if edge.seq <= seq and body["kind"] in REPLACING:
                key = (edge.source, edge.target, body["kind"], since)
                edges[key] = Replacing(edge.source, edge.target, since, until)
        records = sorted(latest.values(), key=lambda record: record.row)
        told = _agents(dump, seq), links_of(dump, seq), partial(past_at, dump, seq)
        return cls(records, vectors, list(edges.values()), analyzer, *told)

    @cached_property
    def words(self) -> dict[int, Words]:
        """The analysed words of every record."""
        return {record.row: self.analyzer.analyse(texts(record)) for record in self.records}

    def pages(self, fields: Sequence[str]) -> dict[int, Page]:
        """What the word lane sees of every record."""
        said = {a: self.analyzer.analyse({"text": [text]}) for a, text in self.agents.items()}
        return {
            record.row: page(
                self.words[record.row], said.get(record.agent or ""), self.analyzer, fields
            )
            for record in self.records
        }


def _agents(dump: Dump, seq: int) -> dict[str, str]:
    out: dict[str, str] = {}
    for row in dump.agents:
        if row.seq <= seq:
            told = cast("dict[str, Any]", json.loads(row.body))
            parts = [told.get("display_name"), told.get("owner"), told.get("description")]
            out[row.agent] = " ".join(part for part in (*parts, *told["aliases"]) if part)
    return out


def _read_vector(row: VectorRow) -> Vector | None:
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


@dataclass(frozen=True)
class Answer:
    """(id, score) of every candidate, best first, and the lanes that ran; none means no answer."""

    ranked: list[tuple[str, float]]
    used: list[str]
    walks: dict[str, dict[str, Found]]
    """What graph lanes say of each id."""


def answer(world: World, ask: Ask) -> Answer:
    """What the engine must answer, the limit apart."""
    chosen = select(world, ask)
    lanes = {label: lane for label, lane in ask.recipe["lanes"].items() if lane["enabled"]}
    found = {
        label: _lane(world, ask, lane, chosen)
        for label, lane in lanes.items()
        if lane["kind"] in ("bm25", "kin", "vector", "by") and _runs(world, ask, lane)
    }
    ids = {record.row: record.id for record in chosen}
    walks: dict[str, dict[str, Found]] = {}
    waiting = {label for label, lane in lanes.items() if "seeds" in lane}
    while waiting:
        label = next(one for one in waiting if not waiting & set(lanes[one]["seeds"]))
        waiting.remove(label)
        walked = _walked(world, ask, label, (chosen, found))
        if walked is not None:
            best = _best(walked, lanes[label]["pool"])
            found[label] = {row: walked[row].score for row in best}
            walks[label] = {ids[row]: walked[row] for row in best}
    found = {label: found[label] for label in lanes if label in found}
    scores = fuse(found, ask.recipe["pass"][0]["fuse"])
    best = _sorted(scores, ask, chosen)
    return Answer([(ids[row], scores[row]) for row in best], list(found), walks)


def _best(walked: Mapping[int, Found], pool: int) -> list[int]:
    return sorted(walked, key=lambda row: (-walked[row].score, row))[:pool]


def _walked(
    world: World,
    ask: Ask,
    label: str,
    so_far: tuple[Sequence[Record], Mapping[str, Mapping[int, float]]],
) -> dict[int, Found] | None:
    """What a graph lane finds, by row; None when it has nowhere to start."""
    chosen, found = so_far
    lane = ask.recipe["lanes"][label]
    place = {record.row: record.position for record in world.records}
    known = {record.id: record.position for record in world.records}
    seeds = [known[one] for one in ask.seeds.get(label, ())]
    for other in lane["seeds"]:
        scores = found.get(other, {})
        best = sorted(scores, key=lambda row: (-scores[row], row))[: lane["seed_count"]]
        seeds += [place[row] for row in best]
    if not seeds:
        return None
    inside = {record.position for record in chosen}
    readable = {record.position for record in world.records if _readable(world, ask, record)}
    time = ask.now if ask.as_of is None else ask.as_of
    known = world.by_then(time).links if _by_append(ask) else world.links
    links = [link for link in known if link.holds(time)]
    passed = inside if lane["through"] == "selection" else readable
    rows = {record.position: record.row for record in world.records}
    land = Land(lane, links, passed, inside, list(dict.fromkeys(seeds)))
    return {rows[node]: told for node, told in found_by(land).items()}


def _readable(world: World, ask: Ask, record: Record) -> bool:
    """Whether the caller may read a record at the time asked about, whatever the filter says."""
    if any(getattr(record, key) != value for key, value in ask.scope.items()):
        return False
    if ask.as_of is None:
        return True
    if _by_append(ask):
        return record.position in world.by_then(ask.as_of).positions
    return _valid(record, ask.as_of) and record.position not in _early(world, ask)


def _by_append(ask: Ask) -> bool:
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
    told = cast("dict[str, Any]", ask.recipe["select"])
    time = ask.now if ask.as_of is None else ask.as_of
    shown = told["superseded"] == "show"
    if _by_append(ask):
        hidden = world.by_then(time).replaced
    else:
        hidden = {edge.target for edge in world.replacing if edge.holds(time) and not shown}
    return [
        record
        for record in world.records
        if record.position not in hidden
        and _readable(world, ask, record)
        and (told["trust"] is None or record.trust in told["trust"])
        and not (told["archived"] == "hide" and record.archived)
        and not (told["expired"] == "hide" and _expired(record, ask.now))
        and told["reflections"] in ("show", "only" if record.kind == "reflection" else "hide")
        and passes(ask.where, record)
    ]


def _expired(record: Record, now: int) -> bool:
    return record.expires is not None and record.expires <= now


def _valid(record: Record, time: int) -> bool:
    since, until = record.valid_from, record.valid_until
    return (since is None or since <= time) and (until is None or time < until)


def _runs(world: World, ask: Ask, lane: Mapping[str, Any]) -> bool:
    if lane["kind"] == "bm25":
        lane_of = Lane(lane, {}, world.analyzer)
        loosely = lane["ladder"] and ask.text.strip()
        return lane_of.read(ask.text, ask.aliases) is not None or bool(loosely)
    if lane["kind"] == "kin":
        return bool(naive_kin.tokens(ask.text))
    if lane["kind"] == "by":
        return True
    known = any(record.row in world.vectors for record in world.records)
    return ask.vector is not None and (known or not world.records)


def _lane(
    world: World, ask: Ask, lane: Mapping[str, Any], chosen: Sequence[Record]
) -> dict[int, float]:
    """The score of every row that a lane finds, cut to its pool."""
    match lane["kind"]:
        case "bm25":
            scores = words(world, ask, lane, chosen)
        case "kin":
            scores = kin(world, ask, lane, chosen)
        case "by":  # flat: all score 0
            scores = {record.row: 0.0 for record in chosen}
        case _:
            scores = meaning(world, cast("Vector", ask.vector), lane, chosen)
    best = _sorted(scores, ask, chosen)[: lane["pool"]]
    return {row: scores[row] for row in best}


def _sorted(scores: Mapping[int, float], ask: Ask, chosen: Sequence[Record]) -> list[int]:
    """Rows by score; equals by id where the recipe says so, in the end by row."""
    ids = {record.row: record.id for record in chosen}
    by_id = "id" in ask.recipe["ties"]
    return sorted(scores, key=lambda row: (-scores[row], ids[row] if by_id else "", row))


def words(
    world: World, ask: Ask, lane: Mapping[str, Any], chosen: Sequence[Record]
) -> dict[int, float]:
    """What the word lane finds."""
    pages = world.pages(list(lane["fields"]))
    rows = [record.row for record in chosen]
    return Lane(lane, pages, world.analyzer).answer(ask.text, rows, ask.aliases)


def kin(
    world: World, ask: Ask, lane: Mapping[str, Any], chosen: Sequence[Record]
) -> dict[int, float]:
    """What the kin lane finds."""
    texts = {record.row: embedded(record) for record in world.records}
    rows = [record.row for record in chosen]
    return naive_kin.Lane(lane, texts).answer(ask.text, rows)


def meaning(
    world: World, query: Vector, lane: Mapping[str, Any], chosen: Sequence[Record]
) -> dict[int, float]:
    """The cosine of each record's best part."""
    best = {
        record.row: max(cosine(vector, query) for vector in world.vectors[record.row])
        for record in chosen
        if record.row in world.vectors
    }
    return {row: score for row, score in best.items() if score >= lane["min_cosine"]}


def browse(world: World, ask: Ask, *, newest: bool) -> list[str]:
    """The ids of the selection by date."""
    chosen = sorted(select(world, ask), key=lambda record: (record.created, record.row))
    return [record.id for record in (reversed(chosen) if newest else chosen)]
