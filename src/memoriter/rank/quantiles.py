"""Quantiles of an array, exact and on the grid."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import snap


def quantiles(values: NDArray[np.float64], levels: Sequence[float]) -> tuple[float, ...]:
    """For each level the smallest value that at least this share of the values does not exceed.

    This is the inverse of the empirical distribution function ("nearest rank"; definition 1 of
    Hyndman and Fan, 1996): of n values in ascending order the one at place ⌈level · n⌉, counted
    from 1. It is one of the values, never a mean of two, rounded to the grid. The place is computed
    with the level as it is written in decimals, so .999 of 1,000 values is the 999th.

    >>> quantiles(np.array([0.5, 0.25, 0.75, 0.0]), (0.5, 0.9))
    (0.25, 0.75)
    """
    if not values.size or not np.isfinite(values).all():
        raise ValueError("quantiles need at least one value, and finite ones only")
    places = [max(ceil(Fraction(str(level)) * values.size), 1) - 1 for level in levels]
    return tuple(snap(np.sort(values)[places]).tolist())
