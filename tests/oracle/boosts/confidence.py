"""Weight · confidence."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    return each(table, lambda row: grid(spec["weight"] * (scene.records[row].confidence or 0.0)))


ORACLE = BoostOracle(_values)
