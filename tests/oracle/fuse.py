"""Fusion for the oracle, as slow as it reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

from tests.oracle.numbers import Column, Knots, grid

Columns = Mapping[str, Column]
"""What each signal says, by label."""


def contributions(
    spec: Mapping[str, Any], scores: Columns, ranks: Columns, silent: Collection[str]
) -> dict[str, Column]:
    """What each signal adds to each row; `scores` are scaled, the silent ones answered nothing."""
    match spec["kind"]:
        case "weighted":
            shares = _shares(spec, scores, silent)
            return {n: {r: grid(shares[n] * s) for r, s in c.items()} for n, c in scores.items()}
        case "rrf":
            return _rrf(spec, ranks, silent)
        case _:
            return _smooth(spec, scores)


def _shares(
    spec: Mapping[str, Any], labels: Collection[str], silent: Collection[str]
) -> dict[str, float]:
    """Weights as parts of the whole, on the grid, together never more than 1; or as they are."""
    if spec["absent"] == "fixed":
        return {label: grid(spec["weights"].get(label, 1.0)) for label in labels}
    counted = {
        label: spec["weights"].get(label, 1.0)
        if label not in silent or spec["absent"] == "keep"
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


def _rrf(spec: Mapping[str, Any], ranks: Columns, silent: Collection[str]) -> dict[str, Column]:
    """Weight / (k + rank); on the scale `unit` the best rank is worth the whole share."""
    best = spec["k"] + spec["base"]
    if spec["scale"] == "unit":
        weights, top = _shares(spec, ranks, silent), best
    else:
        weights, top = {label: spec["weights"].get(label, 1.0) for label in ranks}, 1.0
    return {
        label: {row: grid(weights[label] * (top / (best + (rank - 1)))) for row, rank in c.items()}
        for label, c in ranks.items()
    }


def _smooth(spec: Mapping[str, Any], scores: Columns) -> dict[str, Column]:
    """Scores as they are; the lifted one times 1 + lift · e^(−base / fade)."""
    base = scores.get(spec["base"], {})
    out = {label: {row: grid(s) for row, s in column.items()} for label, column in scores.items()}
    if spec["lifted"] in scores:
        out[spec["lifted"]] = {
            row: grid(
                s * (1.0 + spec["lift"] * math.exp(-max(base.get(row, 0.0), 0.0) / spec["fade"]))
            )
            for row, s in scores[spec["lifted"]].items()
        }
    return out


def interpolated(value: float, knots: Knots) -> float:
    """A piecewise linear function, level outside, on the grid."""
    if value >= knots[-1][0]:
        return grid(knots[-1][1])
    for (x0, y0), (x1, y1) in reversed(list(pairwise(knots))):
        if value >= x0:
            return grid(y0 + (value - x0) * ((y1 - y0) / (x1 - x0)))
    return grid(knots[0][1])


def scaled(scores: Column, how: str, knots: Knots | None = None) -> Column:
    """`max`: s / max, negative as 0. `min_max`: (s − min) / (max − min), ½ where all are equal.

    `coverage`: by the knots, or by `max` where there are none.
    """
    if how == "none":
        return dict(scores)
    if how == "coverage":
        if knots is not None:
            return {row: interpolated(score, knots) for row, score in scores.items()}
        how = "max"
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if how == "max":
        return {row: max(s, 0.0) / high if high > 0.0 else 0.0 for row, s in scores.items()}
    return {row: (s - low) / (high - low) if high > low else 0.5 for row, s in scores.items()}
