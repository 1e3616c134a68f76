"""Cohesion: rows near (by position) to a row that a lane scored highly gain."""

from __future__ import annotations

from bisect import bisect_left

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column | None:
    """The values; None if sessions matter, because the receipt does not hold them."""
    if b.spec["same_session"]:
        return None
    pairs = list(zip(b.receipt.claimed["of.position"], b.lane_scores, strict=True))
    seeds = sorted(p for p, score in pairs if p is not None and score >= b.spec["strong"])
    radius = b.spec["radius"]
    out: Column = []
    for place, score in pairs:
        away = 0.0
        if place is not None and seeds:
            # The nearest seed is the last one before the place or the first one at or after it.
            after = bisect_left(seeds, place)
            away = min(abs(seed - place) for seed in seeds[max(after - 1, 0) : after + 1])
        gains = score < b.spec["weak"] and 1.0 <= away <= radius
        out.append(snap(b.spec["most"] * (1.0 - away / radius)) if gains else 0.0)
    return out


RULE = BoostRule(values=_values)
