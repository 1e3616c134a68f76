"""Confidence: weight · confidence is added."""

from __future__ import annotations

from ..numbers import Column, either, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    return [
        snap(b.spec["weight"] * either(value, 0.0)) for value in b.receipt.claimed["of.confidence"]
    ]


RULE = BoostRule(values=_values)
