"""`rank.grid.unit` for all rows of a matrix at once, with bit-identical results."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import UNIT_STEP, unit

_FINE: Final = 2.0**34
_COARSE: Final = 2.0**26
_WIDEST: Final = 1 << 11


def units(matrix: NDArray[np.floating]) -> NDArray[np.float32]:
    """Each row at unit length on the vector grid, as `unit` gives it; a zero row stays zero.

    `unit` takes the square root of the exactly rounded sum of the squares. Here the sum is exact
    for another reason: in a row whose elements, brought below 1, are multiples of 2^-34, a square
    is a multiple of 2^-68. Cut at 2^-26, the upper parts sum to a multiple of 2^-26 below 2^11,
    the lower parts (each at most 2^-27) to a multiple of 2^-68 below 2^-16: both sums fit 53 bits,
    so they are exact in any order, and their one addition rounds once. Any other row goes through
    `unit`.

    >>> (units(np.array([[3.0, 4.0], [0.0, 0.0]])) * 2**23).tolist()
    [[5033165.0, 6710886.0], [0.0, 0.0]]
    """
    wide = matrix.astype(np.float64)
    largest = np.abs(wide).max(axis=1, initial=0.0)
    wide = np.ldexp(wide, -np.frexp(largest)[1][:, np.newaxis])
    fine = wide * _FINE
    exact = (np.rint(fine) == fine).all(axis=1) & (wide.shape[1] <= _WIDEST)
    squares = wide * wide
    upper = np.rint(squares * _COARSE) / _COARSE
    norms = np.sqrt(upper.sum(axis=1) + (squares - upper).sum(axis=1))
    norms[(largest == 0.0) | ~exact] = 1.0
    out = (np.rint(wide / norms[:, np.newaxis] / UNIT_STEP) * UNIT_STEP).astype(np.float32)
    for row in np.flatnonzero(~exact):
        alone = unit(matrix[row])
        out[row] = 0.0 if alone is None else alone
    return out
