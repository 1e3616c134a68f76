"""The priority of a record, by a table."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import BoostOracle, Spec, adds_or_multiplies, by_table
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    return by_table(spec, scene, table, "priority")


ORACLE = BoostOracle(_values, op=adds_or_multiplies)
