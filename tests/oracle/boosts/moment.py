"""Nearness to the time that a question names."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import BoostOracle, Spec, adds_or_multiplies, each, nearness, worth
from tests.oracle.table import Scene, Table

from memoriter.text.moments import moment_of


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    moment = moment_of(scene.text, scene.now)
    if moment is None:
        return {}
    span = (moment.since, moment.until)
    return each(table, lambda row: worth(spec, nearness(scene.records[row], span, scene.now)))


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return moment_of(scene.text, scene.now) is not None


ORACLE = BoostOracle(_values, op=adds_or_multiplies, runs=_runs)
