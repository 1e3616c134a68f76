"""The best that does not repeat what stands above it."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.numbers import dot, grid
from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import ATTRIBUTES, Scene, Table, unit_of


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    tiers = table.columns.get("tier", {})
    count = min(spec["head"], sum(tiers.get(row, 1.0) == 1.0 for row in table.rows))
    head = table.rows[:count]
    units = {row: made for row in head if (made := unit_of(scene, row)) is not None}
    worth = _relevance(spec, table, head)
    ties = [tie for tie in scene.recipe["ties"] if tie.removeprefix("-") in ATTRIBUTES]
    waiting = table.by([row for row in head if row in units], dict.fromkeys(head, 0.0), scene, ties)
    taken = list[int]()
    most = spec["take"] or len(waiting)
    while waiting and len(taken) < most:

        def value(row: int) -> float:
            if not taken:
                return worth[row] if spec["trade"] > 0.0 else 0.0
            nearest = max(dot(units[row], units[other]) for other in taken)
            return grid(spec["trade"] * worth[row]) - grid((1.0 - spec["trade"]) * nearest)

        best = max(waiting, key=value)
        taken.append(best)
        waiting.remove(best)
    bare = [row for row in head if row not in units]
    left = [row for row in table.rows if row not in taken and row not in bare]
    return [*taken, *bare] if spec["drop"] else [*taken, *bare, *left]


def _relevance(spec: Spec, table: Table, head: Sequence[int]) -> dict[int, float]:
    scores = {row: table.score[row] for row in head}
    if spec["relevance"] == "unit" and scores:
        low, high = min(scores.values()), max(scores.values())
        scores = {r: (s - low) / (high - low) if high > low else 0.5 for r, s in scores.items()}
    return {row: grid(score) for row, score in scores.items()}


ORACLE = OrderingOracle(_rows)
