"""The oracle's lanes: what each finds, and which run after which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from memoriter.core.record import Record
from memoriter.testing import naive_kin
from memoriter.testing.naive_boosts import nearness, origins
from memoriter.testing.naive_graph import Found, Land, found_by
from memoriter.testing.naive_numbers import Column, Vector, cosine, grid
from memoriter.testing.naive_passes import first
from memoriter.testing.naive_table import Scene, attribute, tied
from memoriter.testing.naive_words import Lane
from memoriter.testing.naive_world import Ask, World, by_append, embedded, readable
from memoriter.text.entities import dice, key
from memoriter.text.moments import moment_of


def runs(world: World, ask: Ask, label: str) -> bool:
    """Whether a lane that needs no seeds can run."""
    lane = ask.recipe["lanes"][label]
    match lane["kind"]:
        case "bm25":
            loosely = lane["ladder"] and ask.text.strip()
            read = Lane(lane, {}, world.analyzer).read(ask.text, ask.aliases)
            return read is not None or bool(loosely)
        case "kin":
            return bool(naive_kin.tokens(ask.text))
        case "vector":
            known = any(world.vectors.get(record.row) for record in world.records)
            return ask.vector is not None and (known or not world.records)
        case "moment":
            return moment_of(ask.text, ask.now) is not None
        case "list":
            return label in ask.lists
        case _:
            return True


def lane_scores(world: World, ask: Ask, label: str, chosen: Sequence[Record]) -> Column:
    """The score of every row that a lane without seeds finds."""
    lane = ask.recipe["lanes"][label]
    match lane["kind"]:
        case "bm25":
            return words(world, ask, lane, chosen)
        case "kin":
            return kin(world, ask, lane, chosen)
        case "vector":
            return meaning(world, cast("Vector", ask.vector), lane, chosen)
        case "moment":
            return near(ask, lane, chosen)
        case "list":
            return listed(ask.lists[label], chosen)
        case _:
            idle = lane["blank"] and ask.text.strip()
            return {} if idle else by(lane, chosen)


def near(ask: Ask, lane: Mapping[str, Any], chosen: Sequence[Record]) -> Column:
    """How near each record is to the time that the question names."""
    moment = moment_of(ask.text, ask.now)
    assert moment is not None
    every = {record.row: nearness(record, moment.since, moment.until) for record in chosen}
    return {row: score for row, score in every.items() if score >= lane["min_score"]}


def listed(pairs: Iterable[tuple[str, float]], chosen: Sequence[Record]) -> Column:
    """The caller's own scores, the best of an id that comes twice."""
    rows = {record.id: record.row for record in chosen}
    out: Column = {}
    for one, score in pairs:
        if one in rows:
            out[rows[one]] = max(float(score), out.get(rows[one], float(score)))
    return out


def by(lane: Mapping[str, Any], chosen: Sequence[Record]) -> Column:
    """Every record by an attribute, or all alike."""
    if lane["flat"]:
        return {record.row: 0.0 for record in chosen}
    bare, down = lane["by"].removeprefix("-"), lane["by"].startswith("-")
    every = {record.row: attribute(bare, record) for record in chosen}
    return {r: float(v) if down else 0.0 - v for r, v in every.items() if v is not None}


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
        if world.vectors.get(record.row)
    }
    behind = any(record.row not in world.vectors for record in world.records)
    weight = lane["stale"] if behind else lane["fresh"]
    floor = lane["min_cosine"]
    kept = {row: score for row, score in best.items() if floor <= -1.0 or score >= floor}
    return {r: s if weight == 1.0 else grid(weight * s) for r, s in kept.items()}


def shared(lane: Mapping[str, Any], seeds: Sequence[Record], chosen: Sequence[Record]) -> Column:
    """tanh(½ · how many entities a record shares with the seeds of its agent)."""
    clusters: list[str] = []
    of_agent: dict[str, set[int]] = {}
    for seed in seeds:
        mine = {_joined(key(name), clusters, lane) for name in seed.entities} - {-1}
        of_agent.setdefault(_agent(lane, seed), set()).update(mine)
    out: Column = {}
    for record in chosen:
        known = {_likest(key(name), clusters, lane) for name in record.entities}
        both = known & of_agent.get(_agent(lane, record), set())
        if both:
            out[record.row] = grid(math.tanh(0.5 * len(both)))
    return out


def _agent(lane: Mapping[str, Any], record: Record) -> str:
    return "" if lane["within"] == "tenant" else record.agent


def _joined(name: str, clusters: list[str], lane: Mapping[str, Any]) -> int:
    """The cluster of a seed's name, a new one if none is like it; -1 for an empty name."""
    if not name:
        return -1
    found = _likest(name, clusters, lane)
    if found < 0:
        clusters.append(name)
        return len(clusters) - 1
    return found


def _likest(name: str, clusters: Sequence[str], lane: Mapping[str, Any]) -> int:
    if name in clusters:
        return clusters.index(name)
    near = [dice(name, other) for other in clusters]
    return near.index(max(near)) if near and max(near) >= lane["alike"] else -1


def scene_of(
    world: World, ask: Ask, chosen: Sequence[Record], found: Mapping[str, Column]
) -> Scene:
    """What passes and orderings may look at."""
    known = world.by_then(ask.time).links if by_append(ask) else world.links
    return Scene(
        ask.recipe,
        {record.row: record for record in world.records},
        world.vectors,
        [link for link in known if link.holds(ask.time)],
        {record.position for record in world.records if readable(world, ask, record)},
        {record.row for record in chosen},
        found,
        ask.text,
        ask.now,
        ask.cycle,
        ask.judge,
    )


class Search:
    """The lanes of one question, each after those that seed it."""

    def __init__(self, world: World, ask: Ask, chosen: Sequence[Record]) -> None:
        self.world, self.ask, self.chosen = world, ask, chosen
        self.lanes: Mapping[str, Any] = ask.recipe["lanes"]
        self.records = {record.row: record for record in chosen}
        self.walks: dict[str, dict[int, Found]] = {}

    def found(self) -> dict[str, Column]:
        """What each lane finds, best first, in the recipe's order."""
        ready = self._ready()
        out: dict[str, Column] = {}
        waiting = list(ready)
        while waiting:
            label = next(n for n in waiting if not {*waiting} & {*self.lanes[n].get("seeds", ())})
            waiting.remove(label)
            scores = self._scores(label, out)
            if scores is not None:
                best = self._best(scores, self._order(label))[: self.lanes[label]["pool"]]
                out[label] = {row: scores[row] for row in best}
        return {label: out[label] for label in self.lanes if label in out}

    def parts(self, found: Mapping[str, Column]) -> dict[str, Column]:
        """What graph lanes add up, for the rows that were found, by the name of the column."""
        out: dict[str, Column] = {}
        for label, walked in self.walks.items():
            for row in found[label]:
                for name, value in walked[row].parts.items():
                    out.setdefault(f"{label}.{name}", {})[row] = value
        return out

    def _ready(self) -> list[str]:
        """The lanes that can run; if none, the one kept for that case."""
        out: list[str] = []
        waiting = [n for n in self.ask.lanes if self.lanes[n]["enabled"]]
        while waiting:
            label = next(n for n in waiting if not {*waiting} & {*self.lanes[n].get("seeds", ())})
            waiting.remove(label)
            seeds = self.lanes[label].get("seeds")
            started = label in self.ask.seeds or (seeds is not None and {*seeds} & {*out})
            if started if seeds is not None else runs(self.world, self.ask, label):
                out.append(label)
        last = self.ask.otherwise
        if not out and last is not None:
            fits = "seeds" in self.lanes[last] or runs(self.world, self.ask, last)
            out = [last] if fits else []
        return out

    def _order(self, label: str) -> list[str]:
        lane = self.lanes[label]
        return [lane["by"]] if lane["kind"] == "by" and lane["flat"] else self.ask.ties

    def _best(self, scores: Mapping[int, float], ties: Sequence[str]) -> list[int]:
        def key(row: int) -> tuple[Any, ...]:
            return (-scores[row], *(tied(name, self.records[row]) for name in ties), row)

        return sorted(scores, key=key)

    def _scores(self, label: str, found: Mapping[str, Column]) -> Column | None:
        """The score of every row that a lane finds; None when it has nowhere to start."""
        if "seeds" not in self.lanes[label]:
            return lane_scores(self.world, self.ask, label, self.chosen)
        seeds = self._seeds(label, found)
        if not seeds:
            return None
        if self.lanes[label]["kind"] == "sources":
            return self._sources(label, seeds)
        if self.lanes[label]["kind"] == "entity":
            kin = shared(self.lanes[label], [self._record(row) for row in seeds], self.chosen)
            return {row: score for row, score in kin.items() if row not in seeds}
        walked = self._walked(label, seeds)
        self.walks[label] = walked
        return {row: told.score for row, told in walked.items()}

    def _record(self, row: int) -> Record:
        return next(record for record in self.world.records if record.row == row)

    def _seeds(self, label: str, found: Mapping[str, Column]) -> list[int]:
        """The rows that a lane starts from."""
        known = {record.id: record.row for record in self.world.records}
        seeds = [known[one] for one in self.ask.seeds.get(label, ())]
        for rows in self._starts(label, found):
            seeds += rows[: self.lanes[label]["seed_count"]]
        return list(dict.fromkeys(seeds))

    def _starts(self, label: str, found: Mapping[str, Column]) -> list[list[int]]:
        """What each lane that seeds it found, best first; or all of them together, fused."""
        lane = self.lanes[label]
        mine = {n: found[n] for n in self.lanes if n in lane["seeds"] and n in found}
        if not lane["together"]:
            return [list(found[other]) for other in lane["seeds"] if other in found]
        scene = scene_of(self.world, self.ask, self.chosen, mine)
        one: dict[str, Any] = {**self.ask.recipe["pass"][0], "boosts": []}
        return [first(replace(scene, recipe={**scene.recipe, "boosts": {}, "pass": [one]})).rows]

    def _sources(self, label: str, seeds: Sequence[int]) -> Column:
        scene = scene_of(self.world, self.ask, self.chosen, {})
        kinds = self.lanes[label]["kinds"]
        rows = {source for row in seeds for _, source in origins(scene, row)}
        return {
            row: 0.0
            for row in rows
            if row in self.records and (kinds is None or self.records[row].kind in kinds)
        }

    def _walked(self, label: str, seeds: Sequence[int]) -> dict[int, Found]:
        """What a graph lane finds, by row."""
        scene = scene_of(self.world, self.ask, self.chosen, {})
        place = {record.row: record.position for record in self.world.records}
        inside = {record.position for record in self.chosen}
        lane = self.lanes[label]
        passed = inside if lane["through"] == "selection" else scene.readable
        land = Land(lane, scene.links, passed, inside, [place[row] for row in seeds])
        rows = {position: row for row, position in place.items()}
        return {rows[node]: told for node, told in found_by(land).items()}
