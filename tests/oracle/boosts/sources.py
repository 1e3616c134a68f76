"""What reflections lend to what they were made from."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, origins
from tests.oracle.table import ATTRIBUTES, Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    ties = [tie for tie in scene.recipe["ties"] if tie.removeprefix("-") in ATTRIBUTES]
    best = table.by(list(table.score), table.score, scene, ties)[: spec["window"]]
    made = [(row, origins(scene, row)) for row in best]
    few = [(row, own) for row, own in made if 0 < len(own) <= spec["ceiling"]]
    out: Column = {}
    for row, own in few[: spec["reflections"]]:
        wanted = [pair for pair in own if _liftable(spec, scene, pair[1])]
        for link, source in wanted[: spec["sources"]]:
            value = grid(table.score[row] * spec["factor"] * link.weight)
            if value > out.get(source, 0.0):
                out[source] = value
    known = set(table.rows)
    return {row: value for row, value in out.items() if row in known}


def _liftable(spec: Spec, scene: Scene, row: int) -> bool:
    kinds = spec["kinds"]
    return row in scene.chosen and (kinds is None or scene.records[row].kind in kinds)


def _op(spec: Spec) -> str:
    del spec
    return "max"


ORACLE = BoostOracle(_values, _op, reads_score=True)
