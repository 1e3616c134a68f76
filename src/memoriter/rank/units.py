"""`rank.grid.unit` for all rows of a matrix at once, with bit-identical results.

Vectors in bytes: a row of whole numbers from -127 to 127 stands for the vector that `units` makes
of it. `widened` makes the same in fewer steps, since sums of their squares are exact anyway.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import VectorMatrix
from memoriter.rank.grid import UNIT_STEP, unit

_FINE: Final = 2.0**34
_COARSE: Final = 2.0**26
_WIDEST: Final = 1 << 11
_LEVELS: Final = 127.0
_BLOCK: Final = 2048
"""Rows of bytes that are widened at a time."""


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


def widened(matrix: VectorMatrix) -> NDArray[np.float32]:
    """Vectors as float32: of those in bytes what `units` makes, others as they are.

    >>> (widened(np.array([[3, 4], [0, 0]], np.int8)) * 2**23).tolist()
    [[5033165.0, 6710886.0], [0.0, 0.0]]
    """
    if matrix.dtype != np.int8:
        return matrix.astype(np.float32, copy=False)
    wide = matrix.astype(np.float64)
    wide /= byte_lengths(matrix)[:, np.newaxis]
    wide /= UNIT_STEP
    np.rint(wide, out=wide)
    wide *= UNIT_STEP
    return wide.astype(np.float32)


def byte_lengths(matrix: VectorMatrix) -> NDArray[np.float64]:
    """The lengths of vectors in bytes, before they have unit length; 1 for a zero one."""
    out = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK):
        wide = matrix[start : start + _BLOCK].astype(np.float64)
        np.vecdot(wide, wide, out=out[start : start + _BLOCK])
    return np.maximum(np.sqrt(out), 1.0)


def byte_rest(dimension: int) -> float:
    """How far a widened vector is at most from its bytes times the inverse of their length.

    Each element is rounded to the grid, and the inverse to float32.
    """
    return 1.001 * (math.sqrt(dimension) + 1.0) * UNIT_STEP / 2.0


def nearest_bytes(vector: NDArray[np.floating]) -> NDArray[np.int8]:
    """The vector, which is not zero, in bytes of which the largest is 127."""
    return np.rint(vector * (_LEVELS / np.abs(vector).max())).astype(np.int8)
