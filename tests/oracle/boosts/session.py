"""A share of the better neighbour in the same session."""

from __future__ import annotations

from tests.oracle.boosts.around import turns_around
from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    def value(row: int) -> float | None:
        session = scene.records[row].session
        talk = sorted(
            (one.position, one.row)
            for one in scene.records.values()
            if session is not None and one.session == session
        )
        at = next((n for n, (_, other) in enumerate(talk) if other == row), -10)
        beside = [talk[n][1] for n in (at - 1, at + 1) if 0 <= n < len(talk)]
        known = [table.score[other] for other in beside if other in table.score]
        lent = grid(spec["weight"] * max(known, default=0.0))
        return lent if lent > 0.0 else None

    return each(table, value)


ORACLE = BoostOracle(
    _values, reads_score=True, beside=lambda spec, scene, row: turns_around(scene, row, 1)
)
