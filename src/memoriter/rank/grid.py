"""The grid: every number that decides a ranking is rounded to a fixed step.

A contribution is a multiple of 2^-32, an element of a unit vector a multiple of 2^-23. Sums of such
numbers are exact in float64 (up to 2^21, and for dot products of unit vectors), so they do not
depend on order, machine, library or backend.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEP: Final = 2.0**-32
"""One grid step: contributions and scores are multiples of it."""
UNIT_STEP: Final = 2.0**-23
"""Elements of unit vectors are multiples of it: 24 bits, so a float32 holds them exactly."""

_SCALE: Final = 2.0**32
_UNIT_SCALE: Final = 2.0**23
_BLOCK: Final = 16_384


def snap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to the grid, half to even; NaN stays NaN.

    >>> float(snap(np.array([1 / 3]))[0]) * 2**32
    1431655765.0
    """
    return np.rint(values * _SCALE) * STEP


def snap_one(value: float) -> float:
    """Round one number to the grid, half to even."""
    return round(value * _SCALE) * STEP


def sum_of_squares(values: NDArray[np.float64]) -> float:
    """The sum of squares that are each rounded to the grid, in blocks that stay in the cache.

    >>> sum_of_squares(np.array([0.5, 0.25]))
    0.3125
    """
    total, room = 0.0, np.empty(min(_BLOCK, values.size))
    for start in range(0, values.size, _BLOCK):
        part = values[start : start + _BLOCK]
        squares = np.multiply(part, part, out=room[: part.size])
        total += float(np.rint(np.multiply(squares, _SCALE, out=squares), out=squares).sum())
    return total * STEP


def unit(vector: NDArray[np.floating]) -> NDArray[np.float32] | None:
    """The vector at unit length on the vector grid; None for a zero vector.

    The norm is the square root of the exactly rounded sum of squares (`math.fsum`), so the result
    is the same on every machine.

    >>> (unit(np.array([3.0, 4.0])) * 2**23).tolist()
    [5033165.0, 6710886.0]
    """
    wide = vector.astype(np.float64)
    largest = float(np.abs(wide).max(initial=0.0))
    if largest == 0.0:
        return None
    # A power of two brings any float's square into range and changes no bit of the mantissa.
    wide = np.ldexp(wide, -math.frexp(largest)[1])
    norm = math.sqrt(math.fsum((wide * wide).tolist()))
    return (np.rint(wide / norm * _UNIT_SCALE) * UNIT_STEP).astype(np.float32)


def exact_cosines(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Exact dot products of unit vectors on the grid with one of them, in float64."""
    return np.vecdot(vectors.astype(np.float64), query.astype(np.float64))


def scan_margin(dimension: int) -> float:
    """How far a float32 dot product of two unit vectors can lie from the exact one.

    The textbook bound n·u / (1 − n·u) for any order of summation, with u = 2^-24, and a little for
    norms that the grid rounds to just above 1 (Higham, Accuracy and Stability, 2002, section 3.1).
    """
    share = dimension * 2.0**-24
    return 1.01 * share / (1.0 - share)
