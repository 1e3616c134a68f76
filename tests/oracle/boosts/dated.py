"""Records with words for a time gain, when the question asks for one."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, first_rows
from tests.oracle.table import Scene, Table

from memoriter.text.time_words import asks_when, has_time_words


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    return {
        row: grid(spec["weight"])
        for row in first_rows(table, spec["head"])
        if has_time_words(scene.records[row].text)
    }


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return asks_when(scene.text)


ORACLE = BoostOracle(_values, runs=_runs, reads_score=True)
