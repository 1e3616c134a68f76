"""How new a record is."""

from __future__ import annotations

import math
from typing import Final

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, adds_or_multiplies, each, worth
from tests.oracle.table import Scene, Table, attribute

from memoriter.core.record import Record

_DAY: Final = 86_400e6


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    known = None if spec["beside"] is None else table.columns.get(f"{spec['beside']}.score", {})

    def value(row: int) -> float | None:
        if known is not None and row not in known:
            return worth(spec, None)
        return worth(spec, _newness(spec, scene, scene.records[row]))

    return each(table, value)


def _newness(spec: Spec, scene: Scene, record: Record) -> float | None:
    if spec["unit"] == "position":
        last = max(one.position for one in scene.records.values())
        return grid(record.position / last if last else 1.0)
    if spec["unit"] == "cycle":
        age = None if record.cycle is None else float((scene.cycle or 0) - record.cycle)
        return _halved(age, spec["half_life"])
    time = attribute(spec["of"], record)
    if spec["unit"] == "seconds":
        return _halved(None if time is None else (scene.now - time) / 1e6, spec["half_life"])
    return None if time is None else grid(1.0 / (1.0 + max((scene.now - time) / _DAY, 0.0)))


def _halved(age: float | None, half_life: float) -> float:
    return 0.0 if age is None else grid(math.exp(-math.log(2.0) * max(age, 0.0) / half_life))


def _runs(spec: Spec, scene: Scene) -> bool:
    return spec["unit"] != "cycle" or scene.cycle is not None


ORACLE = BoostOracle(_values, op=adds_or_multiplies, runs=_runs)
