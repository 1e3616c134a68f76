"""A share of the window for one kind of record."""

from __future__ import annotations

from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import Scene, Table


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    left = int(spec["share"] * scene.recipe["window"])
    out: list[int] = []
    for row in table.rows:
        of_kind = scene.records[row].kind == spec["of"]
        if not of_kind or left > 0:
            out.append(row)
        left -= of_kind
    return out


ORACLE = OrderingOracle(_rows)
