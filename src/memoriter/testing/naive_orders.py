"""The oracle's orderings: what moves or drops rows once they have their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from memoriter.core.times import to_micros
from memoriter.testing.naive_numbers import Vector, dot, grid, middle
from memoriter.testing.naive_table import Scene, Table, attribute
from memoriter.text.fingerprint import fingerprint

Told = Mapping[str, Any]


def ordered(scene: Scene, table: Table) -> None:
    """The table after every ordering of its recipe, and without what scores too little."""
    ways = {"mmr": _mmr, "collapse": _collapse, "cap": _cap}
    for told in scene.recipe["order"]:
        if told["enabled"]:
            table.rows = ways[told["kind"]](told, scene, table)
    floor = scene.recipe["final"]["min_score"]
    if floor is not None:
        table.rows = [row for row in table.rows if table.first[row] >= floor]


def _unit(scene: Scene, row: int) -> Vector | None:
    parts = scene.vectors.get(row)
    return middle(parts) if parts else None


def _mmr(told: Told, scene: Scene, table: Table) -> list[int]:
    tiers = table.columns.get("tier", {})
    count = min(told["head"], sum(tiers.get(row, 1.0) == 1.0 for row in table.rows))
    head = table.rows[:count]
    units = {row: made for row in head if (made := _unit(scene, row)) is not None}
    worth = _relevance(told, table, head)
    waiting, taken = [row for row in head if row in units], list[int]()
    most = told["take"] or len(waiting)
    while waiting and len(taken) < most:

        def value(row: int) -> float:
            if not taken:
                return worth[row]
            nearest = max(dot(units[row], units[other]) for other in taken)
            return grid(told["trade"] * worth[row]) - grid((1.0 - told["trade"]) * nearest)

        best = max(waiting, key=value)
        taken.append(best)
        waiting.remove(best)
    bare = [row for row in head if row not in units]
    left = [row for row in table.rows if row not in taken and row not in bare]
    return [*taken, *bare] if told["drop"] else [*taken, *bare, *left]


def _relevance(told: Told, table: Table, head: Sequence[int]) -> dict[int, float]:
    scores = {row: table.score[row] for row in head}
    if told["relevance"] == "unit" and scores:
        low, high = min(scores.values()), max(scores.values())
        scores = {r: (s - low) / (high - low) if high > low else 0.5 for r, s in scores.items()}
    return {row: grid(score) for row, score in scores.items()}


def _collapse(told: Told, scene: Scene, table: Table) -> list[int]:
    head, tail = table.rows[: told["head"]], table.rows[told["head"] :]
    groups: dict[object, list[int]] = {}
    for row, key in _keys(told, scene, head).items():
        groups.setdefault(key, []).append(row)
    stays: dict[int, int] = {}
    for rows in groups.values():
        kept = rows
        if told["keep"] == "newest":
            kept = sorted(rows, key=lambda row: (-to_micros(scene.records[row].created), -row))
        stays |= dict(zip(rows, kept[: told["most"]], strict=False))
    return [*(stays[row] for row in head if row in stays), *tail]


def _keys(told: Told, scene: Scene, head: Sequence[int]) -> dict[int, object]:
    """What makes rows one group; a row alone is its own key."""
    match told["by"]:
        case "fingerprint":
            return {row: fingerprint(scene.records[row].text) for row in head}
        case "near":
            return _copies(told, scene, head)
        case _:
            return {row: _key(told, scene, row) for row in head}


def _key(told: Told, scene: Scene, row: int) -> object:
    found = [_read(scene, row, path) for path in told["keys"]]
    return row if None in found else repr(found)


def _read(scene: Scene, row: int, path: str) -> object:
    record = scene.records[row]
    if not path.startswith("metadata."):
        found = attribute(path, record)
        return None if found == () else found
    found: object = record.metadata
    for part in path.split(".")[1:]:
        found = _below(found, part)
    return found


def _below(found: object, part: str) -> object:
    if isinstance(found, dict):
        return cast("dict[str, object]", found).get(part)
    if isinstance(found, list) and part.isdigit():
        items = cast("list[object]", found)
        return items[int(part)] if int(part) < len(items) else None
    return None


def _copies(told: Told, scene: Scene, head: Sequence[int]) -> dict[int, object]:
    """Of which row each is a near copy; copies have no copies."""
    units = {row: _unit(scene, row) for row in head}
    out: dict[int, object] = {}
    stay: list[int] = []
    for row in head:
        mine = units[row]
        near = [r for r in stay if mine is not None and _near(mine, units[r], told["cosine"])]
        out[row] = near[0] if near else row
        if not near:
            stay.append(row)
    return out


def _near(one: Vector, other: Vector | None, least: float) -> bool:
    return other is not None and dot(one, other) >= least


def _cap(told: Told, scene: Scene, table: Table) -> list[int]:
    left = int(told["share"] * scene.recipe["window"])
    out: list[int] = []
    for row in table.rows:
        mine = scene.records[row].kind == told["of"]
        if not mine or left > 0:
            out.append(row)
        left -= mine
    return out
