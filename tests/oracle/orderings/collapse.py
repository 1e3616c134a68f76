"""One of those that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from tests.oracle.numbers import Vector, dot
from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import Scene, Table, attribute, unit_of

from memoriter.core.times import to_micros
from memoriter.pipeline.orderings.collapse import fingerprint


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    head, tail = table.rows[: spec["head"]], table.rows[spec["head"] :]
    groups: dict[object, list[int]] = {}
    for row, key in _keys(spec, scene, head).items():
        groups.setdefault(key, []).append(row)
    stays: dict[int, int] = {}
    for rows in groups.values():
        kept = rows
        if spec["keep"] == "newest":
            kept = sorted(rows, key=lambda row: (-to_micros(scene.records[row].created), -row))
        stays |= dict(zip(rows, kept[: spec["most"]], strict=False))
    return [*(stays[row] for row in head if row in stays), *tail]


def _keys(spec: Spec, scene: Scene, head: Sequence[int]) -> dict[int, object]:
    """What makes rows one group; a row alone is its own key."""
    match spec["by"]:
        case "fingerprint":
            return {row: fingerprint(scene.records[row].text) for row in head}
        case "near":
            return _copies(spec, scene, head)
        case _:
            return {row: _key(spec, scene, row) for row in head}


def _key(spec: Spec, scene: Scene, row: int) -> object:
    values = [_read(scene, row, path) for path in spec["keys"]]
    return row if None in values else repr(values)


def _read(scene: Scene, row: int, path: str) -> object:
    record = scene.records[row]
    if not path.startswith("metadata."):
        value = attribute(path, record)
        return None if value == () else value
    value: object = record.metadata
    for part in path.split(".")[1:]:
        value = _below(value, part)
    return value


def _below(value: object, part: str) -> object:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).get(part)
    if isinstance(value, list) and part.isdigit():
        items = cast("list[object]", value)
        return items[int(part)] if int(part) < len(items) else None
    return None


def _copies(spec: Spec, scene: Scene, head: Sequence[int]) -> dict[int, object]:
    """Of which row each is a near copy; copies have no copies."""
    units = {row: unit_of(scene, row) for row in head}
    out: dict[int, object] = {}
    stay: list[int] = []
    for row in head:
        own = units[row]
        near = [r for r in stay if own is not None and _near(own, units[r], spec["cosine"])]
        out[row] = near[0] if near else row
        if not near:
            stay.append(row)
    return out


def _near(one: Vector, other: Vector | None, least: float) -> bool:
    return other is not None and dot(one, other) >= least


ORACLE = OrderingOracle(_rows)
