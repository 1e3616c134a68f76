"""Fusion: from each lane's scores to contributions whose sum is the fused score.

Every kernel takes matrices (lanes × rows) with NaN where a lane has no opinion, and returns
contributions of the same shape, on the grid; a lane without an opinion adds nothing. None of them
knows a lane by name. For lists of your own there is `memoriter.rank.rrf` and its like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import STEP, snap

Scale = Literal["max", "min_max", "none"]
"""How a lane's scores are brought to the scale of the others: a name of `SCALES`."""
Absent = Literal["redistribute", "keep"]
"""What a lane that found nothing does with its weight: gives it to the others, or keeps it."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """Several rankings over one set of rows: (lanes × rows) scores and ranks, NaN = no opinion."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.float64]


def align(rows: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]]) -> Aligned:
    """Stack rankings; ranks count from 1 in the order given.

    >>> align([np.array([5, 2])], [np.array([0.9, 0.4])]).ranks
    array([[2., 1.]])
    """
    union = np.unique(np.concatenate([np.zeros(0, np.int64), *rows]))
    shape = (len(rows), union.size)
    values, ranks = np.full(shape, np.nan), np.full(shape, np.nan)
    for lane, (mine, given) in enumerate(zip(rows, scores, strict=True)):
        at = np.searchsorted(union, mine)
        values[lane, at] = given
        ranks[lane, at] = np.arange(1, mine.size + 1)
    return Aligned(union, values, ranks)


def min_max(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(s − min) / (max − min) lane by lane; ½ where all scores of a lane are equal.

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
    """S / max lane by lane, negative scores as 0; all 0 where no score of a lane is positive.

    Nothing found is 0 and the best is 1, whatever the weakest of a pool happens to be.

    >>> by_max(np.array([[1.0, 4.0, np.nan]]))
    array([[0.25, 1.  ,  nan]])
    """
    out = np.maximum(scores, 0.0)
    for lane in out:
        known = ~np.isnan(lane)
        if known.any() and (high := lane[known].max()) > 0.0:
            lane[known] /= high
    return out


def as_given(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores themselves: for lanes that speak one scale already."""
    return scores


SCALES: Final[Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = (
    MappingProxyType({"max": by_max, "min_max": min_max, "none": as_given})
)
"""Every scale by the name that recipes use."""


def scaled(scores: NDArray[np.float64], scales: Sequence[Scale]) -> NDArray[np.float64]:
    """Each lane on the scale of its own.

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
    """Each lane's part of the whole, w / Σ w over the lanes that count; on the grid, never above 1.

    With `redistribute` only lanes that answered count, with `keep` all of them. Where the nearest
    numbers of the grid would sum to more than 1, those just below are taken.

    >>> shares(np.array([1.0, 1.5]), np.array([True, False])).tolist()
    [1.0, 0.0]
    >>> shares(np.array([1.0, 1.5]), np.array([True, False]), "keep").round(9).tolist()
    [0.4, 0.6]
    """
    counted = weights if absent == "keep" else np.where(answered, weights, 0.0)
    whole = math.fsum(counted.tolist())
    if whole <= 0.0:
        return np.zeros(weights.size)
    exact = counted / whole
    near = snap(exact)
    return near if near.sum() <= 1.0 else np.floor(exact / STEP) * STEP


def weighted(scaled: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """W · scaled score, lane by lane; scale with `scaled` first."""
    return snap(weights[:, None] * scaled)


def rrf(
    ranks: NDArray[np.float64],
    weights: NDArray[np.float64],
    k: float = 60.0,
    base: int = 1,
    scale: Literal["none", "unit"] = "none",
) -> NDArray[np.float64]:
    """W / (k + rank), lane by lane; ranks count from 1, and the best counts as `base`.

    On the scale `unit` the best rank of a lane is worth its whole weight, so with `shares` for
    weights the best possible sum is 1. k + base must be positive. (Cormack, Clarke and Büttcher,
    Reciprocal Rank Fusion, 2009.)

    >>> (1 / rrf(np.array([[1.0, 2.0, np.nan]]), np.ones(1))).round(3)
    array([[61., 62., nan]])
    >>> rrf(np.array([[1.0, 2.0]]), np.ones(1), scale="unit").round(6).tolist()
    [[1.0, 0.983871]]
    """
    best = k + base
    part = (best if scale == "unit" else 1.0) / (best + (ranks - 1.0))
    return snap(weights[:, None] * part)


def smooth(
    base: NDArray[np.float64], lifted: NDArray[np.float64], lift: float, fade: float
) -> NDArray[np.float64]:
    """Lifted · (1 + lift · e^(−base / fade)): most where the base is silent.

    A base that is NaN or below 0 counts as 0; where `lifted` is NaN, so is the answer.

    >>> smooth(np.array([np.nan, 3.0, 6.0]), np.ones(3), 35.0, 3.0).round(2).tolist()
    [36.0, 13.88, 5.74]
    """
    loud = np.maximum(np.nan_to_num(base, nan=0.0), 0.0)
    fading = np.array([math.exp(-value / fade) for value in loud.tolist()])
    return snap(lifted * (1.0 + lift * fading))
