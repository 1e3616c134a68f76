"""The cosine of each record's best part."""

from __future__ import annotations

from tests.oracle.numbers import Column, cosine, grid
from tests.oracle.rules import LaneCall, LaneOracle


def _scores(call: LaneCall) -> Column:
    lane, vectors, query = call.spec, call.world.vectors, call.ask.vector
    assert query is not None
    best = {
        row: max(cosine(vector, query) for vector in vectors[row])
        for row in call.rows
        if vectors.get(row)
    }
    behind = any(record.row not in vectors for record in call.world.records)
    weight = lane["stale"] if behind else lane["fresh"]
    floor = lane["min_cosine"]
    kept = {row: score for row, score in best.items() if floor <= -1.0 or score >= floor}
    return {r: s if weight == 1.0 else grid(weight * s) for r, s in kept.items()}


def _runs(call: LaneCall) -> bool:
    records = call.world.records
    known = any(call.world.vectors.get(record.row) for record in records)
    return call.ask.vector is not None and (known or not records)


ORACLE = LaneOracle(_scores, _runs)
