"""BM25: how much a term in a field tells about a record.

Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009; the idf is Lucene's, always
positive. Every number is on the grid, so sums over terms and fields are exact in any order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from recollect.rank.grid import snap, snap_one


def idf(total: int, df: int) -> float:
    """ln(1 + (N − df + ½) / (df + ½)), on the grid.

    >>> round(idf(4, 1), 6)
    1.203973
    """
    return snap_one(math.log(1.0 + (total - df + 0.5) / (df + 0.5)))


def contribution(
    tf: NDArray[np.float64],
    length: NDArray[np.float64],
    mean: float,
    weight: float,
    shape: tuple[float, float],
) -> NDArray[np.float64]:
    """Weight · tf·(k1+1) / (tf + k1·(1 − b + b·length/mean)), on the grid; shape is (k1, b).

    The weight carries field weight times idf. A mean below 1 counts as 1.

    >>> contribution(np.array([2.0]), np.array([3.0]), 3.0, 1.0, (1.2, 0.75))
    array([1.375])
    """
    k1, b = shape
    norm = k1 * (1.0 - b + b * (length / max(mean, 1.0)))
    return snap(weight * (tf * (k1 + 1.0) / (tf + norm)))
