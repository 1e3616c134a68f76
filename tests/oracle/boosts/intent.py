"""Factors by what a question wants and what a record is."""

from __future__ import annotations

import math

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, first_rows, multiplies
from tests.oracle.table import Scene, Table

from memoriter.text.intent import factors, intent_of, traits_of


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    wanted = intent_of(scene.text)
    return {
        row: grid(math.prod(f for _, f in factors(wanted, traits_of(scene.records[row]))))
        for row in first_rows(table, spec["head"])
    }


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return intent_of(scene.text).label is not None


ORACLE = BoostOracle(_values, op=multiplies, runs=_runs, reads_score=True)
