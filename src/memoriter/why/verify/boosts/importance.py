"""Importance: its distance from ½, times the score of a lane."""

from __future__ import annotations

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    out: Column = []
    for importance, score in zip(b.receipt.claimed[f"{b.label}.given"], b.lane_scores, strict=True):
        share = score * b.spec["matched"] if score > 0.0 else b.spec["unmatched"]
        out.append(0.0 if importance is None else snap((importance - 0.5) * share))
    return out


RULE = BoostRule(values=_values)
