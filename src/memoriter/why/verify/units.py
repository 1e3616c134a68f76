"""Vectors: every one is of unit length and on the grid; a given one was brought there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .numbers import unit_of, vector_of
from .search import Search


def check_units(s: Search) -> None:
    """A cosine is a dot product of unit vectors: what is no unit vector has none."""
    for path, spelled in _spelled(s):
        vector = vector_of(spelled)
        if not _is_unit(vector):
            s.wrong(path, "is no unit vector on the grid")
    given, vector = s.body["query"].get("vector"), s.body["outcomes"].get("vector")
    if given is not None and vector is not None:
        s.same("outcomes/vector", vector_of(vector), unit_of(given))


def _spelled(s: Search) -> Iterator[tuple[str, str]]:
    outcomes, vectors = s.body["outcomes"], s.body["vectors"]
    if "vector" in outcomes:
        yield "outcomes/vector", outcomes["vector"]
    for space, vector in outcomes.get("vectors", {}).items():
        yield f"outcomes/vectors/{space}", vector
    for space, rows in vectors.get("best", {}).items():
        yield from ((f"vectors/best/{space}/{row}", vector) for row, vector in rows.items())
    yield from ((f"vectors/units/{row}", v) for row, v in vectors.get("units", {}).items())


def _is_unit(vector: Sequence[float]) -> bool:
    """Whether each element is a multiple of 2^-23, and the length 1 but for that, or 0."""
    steps = [value * 2.0**23 for value in vector]
    if not all(math.isfinite(step) and step == round(step) for step in steps):
        return False
    length = math.sqrt(math.fsum(value * value for value in vector))
    return length == 0.0 or abs(length - 1.0) <= 2.0**-23 * math.sqrt(len(vector))
