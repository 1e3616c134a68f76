"""Records that end in a question lose."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, first_rows
from tests.oracle.table import Scene, Table


def _ends_in_a_question(text: str) -> bool:
    while text and text[-1] in " \t\r\n\"'”’»)":
        text = text[:-1]
    return text[-1:] in ("?", "？")


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    return {
        row: grid(-spec["weight"])
        for row in first_rows(table, spec["head"])
        if _ends_in_a_question(scene.records[row].text)
    }


ORACLE = BoostOracle(_values, reads_score=True)
