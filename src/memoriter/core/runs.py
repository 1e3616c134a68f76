"""Consecutive runs in an array, addressed all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def runs_at(first: NDArray[np.integer[Any]], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the runs that begin at `first` and have these sizes, one behind the other.

    >>> runs_at(np.array([5, 0]), np.array([3, 2])).tolist()
    [5, 6, 7, 0, 1]
    """
    ends = np.cumsum(sizes)
    within = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - sizes, sizes)
    return np.repeat(first, sizes) + within
