"""Fusion: from the scores of each lane to contributions whose sum is the fused score.

Every function takes matrices (lanes × rows), NaN if a lane does not have a row, and returns
contributions of the same shape, on the grid, NaN at the same places. `pipeline/fusing.py` calls
them; `rank/lists.py` offers them for plain lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import STEP, snap

Scale = Literal["max", "min_max", "none", "coverage"]
"""How a lane's scores are scaled: a name of `SCALES`, or by the knots of its coverage."""
Absent = Literal["redistribute", "keep", "fixed"]
"""Whether the weight of an empty lane goes to the others or is lost; `fixed`: weights are not
divided by their sum, so that a score does not depend on which lanes ran."""


def min_max(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(s − min) / (max − min) by lane; ½ if all scores of a lane are equal.

    >>> min_max(np.array([[1.0, 3.0, np.nan]]))
    array([[ 0.,  1., nan]])
    """
    out = scores.copy()
    for lane in out:
        known = ~np.isnan(lane)
        if not known.any():
            continue
        low, high = lane[known].min(), lane[known].max()
        lane[known] = (lane[known] - low) / (high - low) if high > low else 0.5
    return out


def by_max(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """S / max by lane, negative scores as 0; all 0 if no score of a lane is positive.

    Unlike `min_max`, the result does not depend on the weakest row of the pool.

    >>> by_max(np.array([[1.0, 4.0, np.nan]]))
    array([[0.25, 1.  ,  nan]])
    """
    out = np.maximum(scores, 0.0)
    for lane in out:
        known = ~np.isnan(lane)
        if known.any() and (high := lane[known].max()) > 0.0:
            lane[known] /= high
    return out


def by_knots(
    scores: NDArray[np.float64], knots: Sequence[tuple[float, float]]
) -> NDArray[np.float64]:
    """A piecewise linear function of each score, on the grid; NaN stays NaN.

    >>> by_knots(np.array([-1.0, 1.0, 3.0, np.nan]), ((0.0, 0.0), (2.0, 0.5), (4.0, 1.0))).tolist()
    [0.0, 0.25, 0.75, nan]
    """
    ends, xs, ys, slopes = _pieces(tuple(knots))
    at = ends.searchsorted(scores, "right")
    out = scores - xs[at]
    out *= slopes[at]
    out += ys[at]
    return snap(out)


@lru_cache(maxsize=1024)
def _pieces(knots: tuple[tuple[float, float], ...]) -> tuple[NDArray[np.float64], ...]:
    """The ends of the pieces, and for each where it begins, its value there and its slope."""
    rises = [(y1 - y0) / (x1 - x0) if x1 > x0 else 0.0 for (x0, y0), (x1, y1) in pairwise(knots)]
    # One piece more on the left, level before the first knot; level after the last as well.
    pieces = [
        (*knots[0], 0.0),
        *((x, y, r) for (x, y), r in zip(knots, [*rises, 0.0], strict=True)),
    ]
    xs, ys, slopes = np.array(pieces).T.copy()
    return xs[1:], xs, ys, slopes


def as_given(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores unchanged, for lanes that share a scale already."""
    return scores


SCALES: Final[Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = (
    MappingProxyType({"max": by_max, "min_max": min_max, "none": as_given})
)
"""The scaling functions by their names in recipes."""


def scaled(scores: NDArray[np.float64], scales: Sequence[Scale]) -> NDArray[np.float64]:
    """Each lane scaled by its own function.

    >>> scaled(np.array([[1.0, 4.0], [0.3, 0.2]]), ["max", "none"]).tolist()
    [[0.25, 1.0], [0.3, 0.2]]
    """
    out = scores.copy()
    for lane, scale in enumerate(scales):
        out[lane] = SCALES[scale](scores[lane : lane + 1])[0]
    return out


def shares(
    weights: NDArray[np.float64], answered: NDArray[np.bool_], absent: Absent = "redistribute"
) -> NDArray[np.float64]:
    """Each lane's normalized weight, w / Σ w over the lanes that count, on the grid.

    With `redistribute` only lanes that answered count, with `keep` all of them. If rounding to the
    grid makes the sum exceed 1, all are rounded down, so that no fused score exceeds 1. With
    `fixed` the weights themselves.

    >>> shares(np.array([1.0, 1.5]), np.array([True, False])).tolist()
    [1.0, 0.0]
    >>> shares(np.array([1.0, 1.5]), np.array([True, False]), "keep").round(9).tolist()
    [0.4, 0.6]
    """
    if absent == "fixed":
        return snap(weights)
    counted = weights if absent == "keep" else np.where(answered, weights, 0.0)
    whole = math.fsum(counted.tolist())
    if whole <= 0.0:
        return np.zeros(weights.size)
    exact = counted / whole
    near = snap(exact)
    return near if near.sum() <= 1.0 else np.floor(exact / STEP) * STEP


def weighted_mean(scaled: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of some lanes' shares by row; a lane without a value counts 0.

    NaN where no lane has a value, or if no lane has a weight. Each product is on the grid, so the
    order of the lanes does not matter; no mean of shares exceeds 1.

    >>> some = np.array([[0.5, 1.0, np.nan], [1.0, np.nan, np.nan]])
    >>> weighted_mean(some, np.array([0.25, 0.75])).tolist()
    [0.875, 0.25, nan]
    """
    absent = np.isnan(scaled)
    whole = math.fsum(weights.tolist())
    if whole <= 0.0:
        absent[:] = True
    parts = snap(weights[:, None] * np.where(absent, 0.0, scaled))
    mean = snap(np.add.reduce(parts, axis=0) / (whole or 1.0))
    return np.where(absent.all(axis=0), np.nan, np.minimum(mean, 1.0))


def weighted_parts(
    scaled: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weight · score by lane, of scores that are on their scales already."""
    return snap(weights[:, None] * scaled)


def rrf_parts(
    ranks: NDArray[np.float64],
    weights: NDArray[np.float64],
    k: float = 60.0,
    base: int = 1,
    scale: Literal["none", "unit"] = "none",
) -> NDArray[np.float64]:
    """Weight / (k + rank) by lane; ranks count from 1, and the best counts as `base`.

    With the scale `unit` the best rank of a lane counts its whole weight, so with `shares` as
    weights the best possible sum is 1. k + base must be positive. (Cormack, Clarke and Büttcher,
    Reciprocal Rank Fusion, 2009.)

    >>> (1 / rrf_parts(np.array([[1.0, 2.0, np.nan]]), np.ones(1))).round(3)
    array([[61., 62., nan]])
    >>> rrf_parts(np.array([[1.0, 2.0]]), np.ones(1), scale="unit").round(6).tolist()
    [[1.0, 0.983871]]
    """
    best = k + base
    part = (best if scale == "unit" else 1.0) / (best + (ranks - 1.0))
    return snap(weights[:, None] * part)


def smooth_parts(
    base: NDArray[np.float64], lifted: NDArray[np.float64], lift: float, fade: float
) -> NDArray[np.float64]:
    """Lifted · (1 + lift · e^(−base / fade)): the factor is largest if base is 0.

    A base that is NaN or below 0 counts as 0; if `lifted` is NaN, so is the result.

    >>> smooth_parts(np.array([np.nan, 3.0, 6.0]), np.ones(3), 35.0, 3.0).round(2).tolist()
    [36.0, 13.88, 5.74]
    """
    loud = np.maximum(np.nan_to_num(base, nan=0.0), 0.0)
    # `math.exp` gives the same bits on every machine; numpy's does not.
    fading = np.array([math.exp(-value / fade) for value in loud.tolist()])
    return snap(lifted * (1.0 + lift * fading))
