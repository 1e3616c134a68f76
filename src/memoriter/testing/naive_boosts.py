"""The oracle's boosts: what each is worth to each candidate, one record at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.testing.naive_graph import Link
from memoriter.testing.naive_numbers import Column, grid
from memoriter.testing.naive_table import ATTRIBUTES, Scene, Table
from memoriter.text.intent import factors, intent_of, traits_of
from memoriter.text.moments import moment_of

Told = Mapping[str, Any]
READING: Final = ("session", "sources", "intent")
"""Kinds that look at the score so far."""
_DAY: Final = 86_400e6


def runs(told: Told, scene: Scene) -> bool:
    """Whether a boost has something to do."""
    match told["kind"]:
        case "recency":
            return told["unit"] != "cycle" or scene.cycle is not None
        case "intent":
            return intent_of(scene.text).label is not None
        case "moment":
            return moment_of(scene.text, scene.now) is not None
        case _:
            return True


def op(told: Told) -> str:
    """How a boost changes a score."""
    if told["kind"] in ("reflection", "intent") or told.get("alpha") is not None:
        return "product"
    return "max" if told["kind"] == "sources" else "sum"


def values(told: Told, scene: Scene, table: Table) -> Column:
    """What a boost is worth to each row that it has a word for."""
    return _KINDS[told["kind"]](told, scene, table)


def _worth(told: Told, share: float | None) -> float | None:
    """Weight · share, or 1 + alpha · (share − ½), where no share leans nowhere."""
    if told["alpha"] is None:
        return None if share is None else grid(told["weight"] * share)
    return grid(1.0 + told["alpha"] * ((0.5 if share is None else share) - 0.5))


def _each(table: Table, worth: Callable[[int], float | None]) -> Column:
    made = {row: worth(row) for row in table.rows}
    return {row: value for row, value in made.items() if value is not None}


# -- by age ----------------------------------------------------------------------------------------


def _recency(told: Told, scene: Scene, table: Table) -> Column:
    known = None if told["beside"] is None else table.columns.get(f"{told['beside']}.score", {})

    def worth(row: int) -> float | None:
        if known is not None and row not in known:
            return _worth(told, None)
        return _worth(told, _newness(told, scene, scene.records[row]))

    return _each(table, worth)


def _newness(told: Told, scene: Scene, record: Record) -> float | None:
    if told["unit"] == "position":
        last = max(one.position for one in scene.records.values())
        return grid(record.position / last if last else 1.0)
    if told["unit"] == "cycle":
        age = None if record.cycle is None else float((scene.cycle or 0) - record.cycle)
        return _halved(age, told["half_life"])
    time = getattr(record, told["of"])
    if told["unit"] == "seconds":
        return _halved(None if time is None else (scene.now - time) / 1e6, told["half_life"])
    return None if time is None else grid(1.0 / (1.0 + max((scene.now - time) / _DAY, 0.0)))


def _halved(age: float | None, half_life: float) -> float:
    return 0.0 if age is None else grid(math.exp(-math.log(2.0) * max(age, 0.0) / half_life))


def _moment(told: Told, scene: Scene, table: Table) -> Column:
    moment = moment_of(scene.text, scene.now)
    if moment is None:
        return {}
    span = (moment.since, moment.until)
    return _each(table, lambda row: _worth(told, nearness(scene.records[row], *span)))


def nearness(record: Record, since: int, until: int) -> float:
    """1 inside a span, 1 / (1 + spans away) outside it."""
    time = to_micros(record.created if record.occurred is None else record.occurred)
    away = max(since - time, 0) + max(time - (until - 1), 0)
    return grid(1.0 / (1.0 + away / (until - since)))


# -- by what a record says of itself ---------------------------------------------------------------


def _importance(told: Told, scene: Scene, table: Table) -> Column:
    found = table.columns.get(f"{told['lane']}.score", {})

    def worth(row: int) -> float:
        words = found.get(row, 0.0)
        share = words * told["found"] if words > 0.0 else told["bare"]
        return grid((scene.records[row].importance - 0.5) * share)

    return _each(table, worth)


def _confidence(told: Told, scene: Scene, table: Table) -> Column:
    return _each(table, lambda row: grid(told["weight"] * (scene.records[row].confidence or 0.0)))


def _tabled(told: Told, scene: Scene, table: Table) -> Column:
    def worth(row: int) -> float | None:
        return _worth(told, grid(told["table"].get(getattr(scene.records[row], told["kind"]), 0.0)))

    return _each(table, worth)


def _reflection(told: Told, scene: Scene, table: Table) -> Column:
    return {
        row: float(told["factor"]) for row in table.rows if scene.records[row].kind == "reflection"
    }


def _intent(told: Told, scene: Scene, table: Table) -> Column:
    wanted = intent_of(scene.text)
    best = sorted(table.rows, key=lambda row: -table.score.get(row, -math.inf))
    return {
        row: grid(math.prod(f for _, f in factors(wanted, traits_of(scene.records[row]))))
        for row in best[: told["head"]]
    }


# -- by who stands near ----------------------------------------------------------------------------


def _cohesion(told: Told, scene: Scene, table: Table) -> Column:
    found = table.columns.get(f"{told['lane']}.score", {})
    strong = [scene.records[r] for r in table.rows if found.get(r, 0.0) >= told["strong"]]

    def worth(row: int) -> float:
        mine = scene.records[row]
        if found.get(row, 0.0) >= told["weak"] or (told["same_session"] and mine.session is None):
            return 0.0
        others = [
            abs(other.position - mine.position)
            for other in strong
            if not told["same_session"] or other.session == mine.session
        ]
        near = min(others, default=0)
        if not 1 <= near <= told["radius"]:
            return 0.0
        return grid(told["most"] * (1.0 - near / told["radius"]))

    return _each(table, worth)


def _session(told: Told, scene: Scene, table: Table) -> Column:
    def worth(row: int) -> float | None:
        session = scene.records[row].session
        talk = sorted(
            (one.position, one.row)
            for one in scene.records.values()
            if session is not None and one.session == session
        )
        at = next((n for n, (_, other) in enumerate(talk) if other == row), -10)
        beside = [talk[n][1] for n in (at - 1, at + 1) if 0 <= n < len(talk)]
        known = [table.score[other] for other in beside if other in table.score]
        lent = grid(told["weight"] * max(known, default=0.0))
        return lent if lent > 0.0 else None

    return _each(table, worth)


def _neighbours(told: Told, scene: Scene, table: Table) -> Column:
    place = {scene.records[row].position: row for row in table.rows}

    def base(row: int) -> float:
        known = [table.columns[name] for name in told["of"] if name in table.columns]
        return max((column.get(row, 0.0) for column in known), default=0.0)

    def worth(row: int) -> float | None:
        me = scene.records[row].position
        near = [(link, other) for link in scene.links for other in _ends(link, me)]
        near = [pair for pair in near if pair[1] in scene.readable and pair[1] != me]
        near.sort(key=lambda pair: (-pair[0].weight, pair[0].seq))
        given = [
            grid(link.weight * base(place[other]) * told["decay"])
            for link, other in near[: told["most"]]
            if other in place
        ]
        whole = math.fsum(given)
        return whole if whole > 0.0 else None

    return _each(table, worth)


def _ends(link: Link, me: int) -> list[int]:
    """Who is at the other end of a link, once for each direction."""
    return [b for a, b in ((link.source, link.target), (link.target, link.source)) if a == me]


def _sources(told: Told, scene: Scene, table: Table) -> Column:
    ties = [tie for tie in scene.recipe["ties"] if tie.removeprefix("-") in ATTRIBUTES]
    best = table.by(list(table.score), table.score, scene, ties)[: told["window"]]
    made = [(row, origins(scene, row)) for row in best]
    few = [(row, mine) for row, mine in made if 0 < len(mine) <= told["ceiling"]]
    out: Column = {}
    for row, mine in few[: told["reflections"]]:
        wanted = [pair for pair in mine if _liftable(told, scene, pair[1])]
        for link, source in wanted[: told["sources"]]:
            value = grid(table.score[row] * told["factor"] * link.weight)
            if value > out.get(source, 0.0):
                out[source] = value
    known = set(table.rows)
    return {row: value for row, value in out.items() if row in known}


def _liftable(told: Told, scene: Scene, row: int) -> bool:
    kinds = told["kinds"]
    return row in scene.chosen and (kinds is None or scene.records[row].kind in kinds)


def origins(scene: Scene, row: int) -> list[tuple[Link, int]]:
    """What a record was made from, the heaviest first: the link and the row."""
    rows = {record.position: record.row for record in scene.records.values()}
    me = scene.records[row].position
    links: Sequence[Link] = [
        link for link in scene.links if link.source == me and link.kind == "consolidated_from"
    ]
    return [(link, rows[link.target]) for link in sorted(links, key=lambda each: -each.weight)]


_KINDS: Final[Mapping[str, Callable[[Told, Scene, Table], Column]]] = {
    "recency": _recency,
    "importance": _importance,
    "confidence": _confidence,
    "priority": _tabled,
    "trust": _tabled,
    "reflection": _reflection,
    "cohesion": _cohesion,
    "session": _session,
    "neighbours": _neighbours,
    "sources": _sources,
    "intent": _intent,
    "moment": _moment,
}
