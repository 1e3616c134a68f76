"""Superseded records gain when the question asks about the past."""

from __future__ import annotations

from tests.oracle.graph import REPLACING, Link
from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table
from tests.oracle.world import has_force

from memoriter.text.past import past_words


def _replacing(scene: Scene) -> list[Link]:
    records = scene.records.values()
    every = [link for link in scene.links if link.kind in REPLACING]
    return [link for link in every if has_force(records, scene.recipe, link)]


def _successors(scene: Scene, row: int) -> list[int]:
    """The rows of the view that took a row's place, readable or not."""
    rows = {record.position: record.row for record in scene.records.values()}
    me = scene.records[row].position
    links = [link for link in _replacing(scene) if link.target == me]
    return [rows[link.source] for link in links if link.source in rows and link.source != me]


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    rows = {record.position: record.row for record in scene.records.values()}
    links = _replacing(scene)

    def value(row: int) -> float | None:
        me = scene.records[row].position
        sources = [one.source for one in links if one.target == me and one.source in scene.readable]
        if not sources:
            return None
        others = [rows[one] for one in sources if one != me]
        known = [table.score[other] for other in others if other in table.score]
        gain = grid(spec["weight"]) + max(0.0, grid(spec["share"] * max(known, default=0.0)))
        return gain if gain > 0.0 else None

    return each(table, value)


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return past_words(scene.text, scene.now) is not None


ORACLE = BoostOracle(
    _values,
    runs=_runs,
    reads_score=True,
    beside=lambda _, scene, row: {*_successors(scene, row)},
)
