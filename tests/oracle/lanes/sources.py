"""What reflections were made from, without a score."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import LaneCall, LaneOracle, origins


def _scores(call: LaneCall) -> Column:
    scene, kinds = call.scene(), call.spec["kinds"]
    records = {record.row: record for record in call.chosen}
    rows = {source for row in call.seeds for _, source in origins(scene, row)}
    return {
        row: 0.0 for row in rows if row in records and (kinds is None or records[row].kind in kinds)
    }


ORACLE = LaneOracle(_scores, brings=True)
