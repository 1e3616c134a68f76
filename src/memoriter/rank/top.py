"""The only sort of the engine: best scores first, ties by keys, then by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Keys = Callable[[NDArray[np.int64]], Sequence[NDArray[np.float64]]]
"""From rows to the sort keys for ties, most significant key first; smaller values first."""


def by_row(rows: NDArray[np.int64]) -> Sequence[NDArray[np.float64]]:
    """No key: ties are ordered by row, the older one first."""
    del rows
    return ()


def top(
    scores: NDArray[np.float64], rows: NDArray[np.int64], limit: int, keys: Keys = by_row
) -> NDArray[np.intp]:
    """The places of the best `limit` scores, best first; ties by keys, then the older row.

    >>> top(np.array([1.0, 3.0, 3.0]), np.array([7, 9, 8]), 2)
    array([2, 1])
    """
    pool = np.arange(scores.size)
    if 0 < limit < scores.size:
        floor = np.partition(scores, -limit)[-limit]
        pool = np.flatnonzero(scores >= floor)  # all rows that tie with the last one
    least_first = (rows[pool], *reversed(keys(rows[pool])), -scores[pool])
    return pool[np.lexsort(least_first)[: max(limit, 0)]]
