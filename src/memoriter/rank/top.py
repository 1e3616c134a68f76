"""The only sort of the engine: best scores first, ties by keys, then by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Keys = Callable[[NDArray[np.int64]], Sequence[NDArray[np.float64]]]
"""From rows to the sort keys for ties, most significant key first; smaller values first."""
_GROUPS: Final = 1024
_SIZE: Final = 4
"""At least so many groups, of so many scores, are worth it."""
T = TypeVar("T", np.float32, np.float64)


def by_row(rows: NDArray[np.int64]) -> Sequence[NDArray[np.float64]]:
    """No key: ties are ordered by row, the older one first."""
    del rows
    return ()


def reached_by(scores: NDArray[T], count: int) -> float:
    """A score that at least `count` of them reach, and few more.

    Many scores are first divided into groups, of which only the maxima count, which is faster than
    partitioning all: the count-th largest maximum is reached by at least `count` scores as well.
    """
    groups = max(16 * count, _GROUPS)
    if (size := scores.size // groups) >= _SIZE:
        scores = scores[: size * groups].reshape(size, groups).max(axis=0)
    return float(np.partition(scores, -count)[-count])


def top(
    scores: NDArray[np.float64], rows: NDArray[np.int64], limit: int, keys: Keys = by_row
) -> NDArray[np.intp]:
    """The places of the best `limit` scores, best first; ties by keys, then the older row.

    >>> top(np.array([1.0, 3.0, 3.0]), np.array([7, 9, 8]), 2)
    array([2, 1])
    """
    if limit <= 0 or scores.size <= 2 * limit:  # sorting few is quicker than choosing
        return _sorted(scores, rows, keys)[: max(limit, 0)]
    # All rows that tie with the last one stay.
    pool = (scores >= reached_by(scores, limit)).nonzero()[0]
    pool = pool[scores[pool] >= np.partition(scores[pool], -limit)[-limit]]
    return pool[_sorted(scores[pool], rows[pool], keys)[:limit]]


def _sorted(scores: NDArray[np.float64], rows: NDArray[np.int64], keys: Keys) -> NDArray[np.intp]:
    if keys is by_row and (rows[1:] > rows[:-1]).all():  # then the place decides, in half the time
        return (-scores).argsort(kind="stable")
    return np.lexsort((rows, *reversed(keys(rows)), -scores))  # the last key is the first to count
