"""Fusion for the oracle, as slow as it reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from memoriter.testing.naive_numbers import Column, grid

Columns = Mapping[str, Column]
"""What each signal says, by label."""


def contributions(
    told: Mapping[str, Any], scores: Columns, ranks: Columns, silent: Collection[str]
) -> dict[str, Column]:
    """What each signal adds to each row; `scores` are scaled, the silent ones answered nothing."""
    match told["kind"]:
        case "weighted":
            mine = _shares(told, scores, silent)
            return {n: {r: grid(mine[n] * s) for r, s in c.items()} for n, c in scores.items()}
        case "rrf":
            return _rrf(told, ranks, silent)
        case _:
            return _smooth(told, scores)


def _shares(
    told: Mapping[str, Any], labels: Collection[str], silent: Collection[str]
) -> dict[str, float]:
    """Weights as parts of the whole, on the grid, together never more than 1."""
    counted = {
        label: told["weights"].get(label, 1.0)
        if label not in silent or told["absent"] == "keep"
        else 0.0
        for label in labels
    }
    whole = math.fsum(counted.values())
    if not whole:
        return dict.fromkeys(counted, 0.0)
    near = {label: grid(weight / whole) for label, weight in counted.items()}
    if math.fsum(near.values()) <= 1.0:
        return near
    return {n: math.floor(weight / whole * 2**32) / 2**32 for n, weight in counted.items()}


def _rrf(told: Mapping[str, Any], ranks: Columns, silent: Collection[str]) -> dict[str, Column]:
    """Weight / (k + rank); on the scale `unit` the best rank is worth the whole share."""
    best = told["k"] + told["base"]
    if told["scale"] == "unit":
        weights, top = _shares(told, ranks, silent), best
    else:
        weights, top = {label: told["weights"].get(label, 1.0) for label in ranks}, 1.0
    return {
        label: {row: grid(weights[label] * (top / (best + (rank - 1)))) for row, rank in c.items()}
        for label, c in ranks.items()
    }


def _smooth(told: Mapping[str, Any], scores: Columns) -> dict[str, Column]:
    """Scores as they are; the lifted one times 1 + lift · e^(−base / fade)."""
    base = scores.get(told["base"], {})
    out = {label: {row: grid(s) for row, s in column.items()} for label, column in scores.items()}
    if told["lifted"] in scores:
        out[told["lifted"]] = {
            row: grid(
                s * (1.0 + told["lift"] * math.exp(-max(base.get(row, 0.0), 0.0) / told["fade"]))
            )
            for row, s in scores[told["lifted"]].items()
        }
    return out


def scaled(scores: Column, how: str) -> Column:
    """`max`: s / max, negative as 0. `min_max`: (s − min) / (max − min), ½ where all are equal."""
    if how == "none":
        return dict(scores)
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if how == "max":
        return {row: max(s, 0.0) / high if high > 0.0 else 0.0 for row, s in scores.items()}
    return {row: (s - low) / (high - low) if high > low else 0.5 for row, s in scores.items()}
