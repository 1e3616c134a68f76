"""Records with words for a time gain, when the question asks for one; long ones gain less."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table
from tests.oracle.world import texts

from memoriter.text.analyzers import analyzer
from memoriter.text.time_words import asks_when, has_time_words


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    reader = analyzer(scene.recipe["analyzer"])

    def value(row: int) -> float | None:
        record = scene.records[row]
        if not has_time_words(record.text):
            return None
        length = max(1, reader.analyse(texts(record)).lengths[0])
        return grid(spec["weight"] * min(1.0, spec["words"] / length))

    return each(table, value)


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return asks_when(scene.text)


ORACLE = BoostOracle(_values, runs=_runs)
