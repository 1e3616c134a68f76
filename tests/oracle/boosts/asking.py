"""Records that only ask lose."""

from __future__ import annotations

import re

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _asks(text: str) -> bool:
    while text and text[-1] in " \t\r\n\"'”’»)":
        text = text[:-1]
    return text[-1:] in ("?", "？", "؟")


def _share(text: str) -> float:
    """The share of the words that are in questions, in steps of 1/128; 0 if it ends otherwise."""
    if not _asks(text):
        return 0.0
    asked = every = 0
    for sentence in re.split(r"(?<=[.!?？؟])\s+|\n+", text):
        words = len(sentence.split())
        every += words
        asked += words if _asks(sentence) else 0
    return round(128 * (asked / every)) / 128


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    def value(row: int) -> float | None:
        share = _share(scene.records[row].text)
        return grid(-spec["weight"] * share) if share else None

    return each(table, value)


ORACLE = BoostOracle(_values)
