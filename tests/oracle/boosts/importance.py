"""The distance of the importance from one half."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    scores = table.columns.get(f"{spec['lane']}.score", {})

    def value(row: int) -> float:
        words = scores.get(row, 0.0)
        share = words * spec["matched"] if words > 0.0 else spec["unmatched"]
        return grid((scene.records[row].importance - 0.5) * share)

    return each(table, value)


ORACLE = BoostOracle(_values)
