"""A factor for reflections."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import BoostOracle, Spec, multiplies
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    return {
        row: float(spec["factor"]) for row in table.rows if scene.records[row].kind == "reflection"
    }


ORACLE = BoostOracle(_values, op=multiplies)
