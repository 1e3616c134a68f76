"""Fusion for the oracle, as slow as it reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def grid(value: float) -> float:
    """The nearest multiple of 2^-32, half to even."""
    return round(value * 2**32) / 2**32


def fuse(found: Mapping[str, dict[int, float]], told: Mapping[str, Any]) -> dict[int, float]:
    """Σ over lanes of share · scaled score."""
    mine = _shares(found, told)
    out: dict[int, float] = {}
    for label, scores in found.items():
        for row, scaled in _scaled(scores, told["scale"]).items():
            out[row] = out.get(row, 0.0) + grid(mine[label] * scaled)
    return out


def _shares(found: Mapping[str, dict[int, float]], told: Mapping[str, Any]) -> dict[str, float]:
    """Weights as parts of the whole, on the grid, together never more than 1."""
    counted = {
        label: told["weights"][label] if scores or told["absent"] == "keep" else 0.0
        for label, scores in found.items()
    }
    whole = math.fsum(counted.values())
    if not whole:
        return dict.fromkeys(counted, 0.0)
    near = {label: grid(weight / whole) for label, weight in counted.items()}
    if math.fsum(near.values()) <= 1.0:
        return near
    return {n: math.floor(weight / whole * 2**32) / 2**32 for n, weight in counted.items()}


def _scaled(scores: Mapping[int, float], how: str) -> dict[int, float]:
    """`max`: s / max, negative as 0. `min_max`: (s − min) / (max − min), ½ where all are equal."""
    if how == "none":
        return dict(scores)
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if how == "max":
        return {row: max(s, 0.0) / high if high > 0.0 else 0.0 for row, s in scores.items()}
    return {row: (s - low) / (high - low) if high > low else 0.5 for row, s in scores.items()}
