"""A strong hit that was written shortly before or after."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    scores = table.columns.get(f"{spec['lane']}.score", {})
    strong = [scene.records[r] for r in table.rows if scores.get(r, 0.0) >= spec["strong"]]

    def value(row: int) -> float:
        own = scene.records[row]
        if scores.get(row, 0.0) >= spec["weak"] or (spec["same_session"] and own.session is None):
            return 0.0
        others = [
            abs(other.position - own.position)
            for other in strong
            if not spec["same_session"] or other.session == own.session
        ]
        near = min(others, default=0)
        if not 1 <= near <= spec["radius"]:
            return 0.0
        return grid(spec["most"] * (1.0 - near / spec["radius"]))

    return each(table, value)


ORACLE = BoostOracle(_values)
