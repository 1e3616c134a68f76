"""Fusion: from each lane's scores to contributions whose sum is the fused score.

Every kernel takes matrices (lanes × rows) with NaN where a lane has no opinion, and returns
contributions of the same shape, on the grid; a lane without an opinion adds nothing. None of them
knows a lane by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.rank.grid import snap


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


def weighted(scaled: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """W · scaled score, lane by lane; scale with `by_max` or `min_max` first."""
    return snap(weights[:, None] * scaled)
