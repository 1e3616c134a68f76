"""The oracle's numbers: the grid, unit vectors and their products, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Vector = Sequence[float]
Knots = Sequence[tuple[float, float]]
"""A piecewise linear function: (x, y), level outside."""
Column = dict[int, float]
"""A number by row; a row without one is not in it."""


def grid(value: float) -> float:
    """The nearest multiple of 2^-32, half to even."""
    return round(value * 2**32) / 2**32


def unit(vector: Iterable[float]) -> Vector | None:
    """The vector at unit length, each element a multiple of 2^-23; None for a zero vector."""
    given = list(vector)
    largest = max(map(abs, given), default=0.0)
    if largest == 0.0:
        return None
    exponent = math.frexp(largest)[1]
    scaled = [math.ldexp(x, -exponent) for x in given]
    norm = math.sqrt(math.fsum(x * x for x in scaled))
    return [round(x / norm * 2**23) / 2**23 for x in scaled]


def dot(a: Vector, b: Vector) -> float:
    """The dot product of two unit vectors, exactly."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float:
    """The dot product of two unit vectors, on the grid."""
    return grid(dot(a, b))


def middle(vectors: Sequence[Vector]) -> Vector | None:
    """One vector for all parts of a record."""
    if len(vectors) == 1:
        return vectors[0]
    return unit(math.fsum(column) for column in zip(*vectors, strict=True))
