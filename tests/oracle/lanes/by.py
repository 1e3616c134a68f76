"""Every record by an attribute, or all alike."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import LaneCall, LaneOracle, Spec
from tests.oracle.table import attribute


def _scores(call: LaneCall) -> Column:
    lane = call.spec
    if lane["blank"] and call.ask.text.strip():
        return {}
    if lane["flat"]:
        return dict.fromkeys(call.rows, 0.0)
    bare, down = lane["by"].removeprefix("-"), lane["by"].startswith("-")
    every = {record.row: attribute(bare, record) for record in call.chosen}
    return {r: float(v) if down else 0.0 - v for r, v in every.items() if v is not None}


def _ties(lane: Spec) -> list[str] | None:
    return [lane["by"], *lane["then"]] if lane["flat"] else None


ORACLE = LaneOracle(_scores, ties=_ties)
