"""A factor for records that only repeat the question."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each, multiplies
from tests.oracle.table import Scene, Table
from tests.oracle.world import texts

from memoriter.core.record import Record
from memoriter.text.analyzers import analyzer


def _terms(scene: Scene, text: str) -> list[str]:
    return [term for term, _ in analyzer(scene.recipe["analyzer"]).tokens(text)]


def _length(scene: Scene, record: Record) -> int:
    return max(1, analyzer(scene.recipe["analyzer"]).analyse(texts(record)).lengths[0])


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    asked = {*_terms(scene, scene.text)}

    def value(row: int) -> float | None:
        record = scene.records[row]
        matched = sum(term in asked for term in _terms(scene, record.text))
        share = grid(min(matched / _length(scene, record), 1.0))
        return grid(spec["factor"]) if share >= spec["share"] else None

    return each(table, value)


def _runs(spec: Spec, scene: Scene) -> bool:
    return len({*_terms(scene, scene.text)}) >= spec["words"]


ORACLE = BoostOracle(_values, op=multiplies, runs=_runs)
