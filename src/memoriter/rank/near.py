"""Near copies: rows whose vectors say what an earlier row has said."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def near_duplicates(units: NDArray[np.float32], threshold: float) -> NDArray[np.intp]:
    """Of which row each is a near copy; −1 for those that stay.

    Rows are taken in the order given. One that comes within `threshold` (a cosine) of a row that
    stays is a copy of the first such row; copies have no copies. `units` are unit vectors on the
    grid, so every cosine is exact; a zero vector has cosine 0 to all.

    >>> rows = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    >>> near_duplicates(rows, 0.7).tolist()
    [-1, -1, 0, 1]
    """
    wide = units.astype(np.float64)
    copied = np.full(len(units), -1, np.intp)
    for row in range(len(units)):
        if copied[row] == -1:
            alike = wide[row + 1 :] @ wide[row] >= threshold
            copied[row + 1 :][alike & (copied[row + 1 :] == -1)] = row
    return copied
