"""What reflections lend to what they were made from."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, origins
from tests.oracle.table import ATTRIBUTES, Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    ties = [tie for tie in scene.recipe["ties"] if tie.removeprefix("-") in ATTRIBUTES]
    best = table.by(list(table.score), table.score, scene, ties)[: spec["window"]]
    lends = [row for row in best if scene.records[row].kind == "reflection"]
    out: Column = {}
    for row in lends[: spec["reflections"]]:
        own = origins(scene, row)
        if len(own) > spec["ceiling"]:
            continue
        wanted = [pair for pair in own if _liftable(spec, scene, pair[1])]
        for link, source in wanted[: spec["sources"]]:
            value = grid(table.score[row] * spec["factor"] * link.weight)
            if value > out.get(source, 0.0):
                out[source] = value
    known = set(table.rows)
    lifts = {row: value for row, value in out.items() if row in known}
    return {row: value for row, value in lifts.items() if value > table.score.get(row, 0.0)}


def _liftable(spec: Spec, scene: Scene, row: int) -> bool:
    kinds = spec["kinds"]
    return row in scene.chosen and (kinds is None or scene.records[row].kind in kinds)


def _op(spec: Spec) -> str:
    del spec
    return "max"


ORACLE = BoostOracle(_values, op=_op, reads_score=True)
