"""The only sort of the engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def top(scores: NDArray[np.float64], rows: NDArray[np.int64], limit: int) -> NDArray[np.intp]:
    """Where the best `limit` scores stand, best first; equal scores go to the older row.

    >>> top(np.array([1.0, 3.0, 3.0]), np.array([7, 9, 8]), 2)
    array([2, 1])
    """
    pool = np.arange(scores.size)
    if 0 < limit < scores.size:
        floor = np.partition(scores, -limit)[-limit]
        pool = np.flatnonzero(scores >= floor)  # every tie at the border competes
    return pool[np.lexsort((rows[pool], -scores[pool]))[: max(limit, 0)]]
