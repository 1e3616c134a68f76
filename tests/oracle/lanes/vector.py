"""The cosine of each record's best part."""

from __future__ import annotations

from statistics import NormalDist

from tests.oracle.numbers import Column, Knots, cosine, grid
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


def _coverage(call: LaneCall) -> Knots | None:
    """Unrelated texts as normal deviates, a sixth each; beyond the last quantile as steep."""
    lane, quantiles = call.spec, call.world.calibration
    behind = any(record.row not in call.world.vectors for record in call.world.records)
    if quantiles is None or lane["stale" if behind else "fresh"] != 1.0:
        return None
    deviates = [NormalDist().inv_cdf(level) for level in (0.5, 0.9, 0.99, 0.999, 0.9999)]
    # Of equal quantiles the highest counts.
    by_quantile = {q: grid(round(d, 10) / 6.0) for q, d in zip(quantiles, deviates, strict=True)}
    knots = sorted(by_quantile.items())
    (x0, y0), (x1, y1) = [(0.0, 0.0), *knots][-2:]
    rise = (y1 - y0) / (x1 - x0) if x1 > x0 else 1.0
    return (*knots, (grid(x1 + (1.0 - y1) / rise), 1.0))


def _owed(call: LaneCall) -> set[int]:
    if call.ask.vector is None or not any(call.ask.vector):
        return set()
    return {record.row for record in call.world.records if record.row not in call.world.vectors}


ORACLE = LaneOracle(_scores, _runs, independent=True, coverage=_coverage, owed=_owed)
