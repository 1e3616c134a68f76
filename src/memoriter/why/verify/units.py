"""Checks the vectors: each has unit length and is on the grid, also one that the caller passed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .numbers import decoded_vector, unit_of
from .search import Search


def check_units(s: Search) -> None:
    """Check every vector: cosines are computed as dot products, which assumes unit vectors."""
    for path, encoded in _encoded(s):
        if not _is_unit(decoded_vector(encoded)):
            s.wrong(path, "is not a unit vector on the grid")
    passed, vector = s.body["query"].get("vector"), s.body["outcomes"].get("vector")
    if passed is not None and vector is not None:
        s.same("outcomes/vector", decoded_vector(vector), unit_of(passed))


def _encoded(s: Search) -> Iterator[tuple[str, str]]:
    """(path, encoded vector) of every vector in the receipt."""
    outcomes, vectors = s.body["outcomes"], s.body["vectors"]
    if "vector" in outcomes:
        yield "outcomes/vector", outcomes["vector"]
    for space, vector in outcomes.get("vectors", {}).items():
        yield f"outcomes/vectors/{space}", vector
    for space, rows in vectors.get("best", {}).items():
        yield from ((f"vectors/best/{space}/{row}", vector) for row, vector in rows.items())
    yield from ((f"vectors/units/{row}", v) for row, v in vectors.get("units", {}).items())


def _is_unit(vector: Sequence[float]) -> bool:
    """Whether each element is a multiple of 2^-23 and the length is 1 up to that rounding, or 0."""
    steps = [value * 2.0**23 for value in vector]
    if not all(math.isfinite(step) and step == round(step) for step in steps):
        return False
    length = math.sqrt(math.fsum(value * value for value in vector))
    return length == 0.0 or abs(length - 1.0) <= 2.0**-23 * math.sqrt(len(vector))
