"""Calibrates a vector space with packaged probe texts, and holds the packaged calibrations.

The probes are questions and notes that we wrote, each on a subject of its own: every pair of a
question and a note is unrelated. `tools/calibrate.py` makes the calibration of the packaged table
from them; `memory.calibrate` that of any other space.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from math import ceil
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.calibration import LEVELS, Calibration
from memoriter.embed.vector_space import parse_space
from memoriter.rank.grid import exact_cosines, snap

PACKAGED_FILES: Final = ("static_en/calibration.json", "memory_en/calibration.json")
"""The calibrations of the packaged table and model, with the fingerprints of their embedders."""


TABLE: Final = "static-en/"
"""So begin the names of the spaces of the packaged table, of any version."""


class Probes(NamedTuple):
    """Questions, and notes that answer none of them."""

    questions: tuple[str, ...]
    notes: tuple[str, ...]


@cache
def probes() -> Probes:
    """The packaged probe texts."""
    folder = resources.files("memoriter.embed").joinpath("probes")
    questions, notes = (
        tuple(folder.joinpath(file).read_text("utf-8").splitlines())
        for file in ("questions.txt", "notes.txt")
    )
    return Probes(questions, notes)


def calibration_of(
    queries: Sequence[NDArray[np.float32]],
    parts: NDArray[np.float32],
    starts: NDArray[np.intp] | None = None,
) -> Calibration:
    """The calibration by all pairs of a question and an unrelated record, given as unit vectors.

    `starts` says where the parts of each record begin, by default one part each; the best part of a
    record counts, as in a search.
    """
    begins = np.arange(len(parts)) if starts is None else starts
    cosines = np.concatenate(
        [np.maximum.reduceat(exact_cosines(parts, query), begins) for query in queries]
    )
    # The grid may round the length of a vector to just above 1, and so a cosine.
    return Calibration(quantiles(np.clip(cosines, -1.0, 1.0), LEVELS))


def packaged_calibration(space: str) -> Calibration | None:
    """The packaged calibration of a space, by its embedder's fingerprint; None if there is none."""
    return _packaged().get(parse_space(space).fingerprint)


@cache
def _packaged() -> dict[str, Calibration]:
    out: dict[str, Calibration] = {}
    for name in PACKAGED_FILES:
        file = resources.files("memoriter.embed").joinpath(name)
        with contextlib.suppress(OSError):  # a package without it: there is nothing to calibrate
            data = json.loads(file.read_text("utf-8"))
            out[data["embedder"]] = Calibration.of_dict(data["cosines"])
    return out


def quantiles(values: NDArray[np.float64], levels: Sequence[float]) -> tuple[float, ...]:
    """For each level the smallest value that at least this share of the values does not exceed.

    This is the inverse of the empirical distribution function ("nearest rank"; definition 1 of
    Hyndman and Fan, 1996): of n values in ascending order the one at place ⌈level · n⌉, counted
    from 1. It is one of the values, never a mean of two, rounded to the grid. The place is computed
    with the level as it is written in decimals, so .999 of 1,000 values is the 999th.

    >>> quantiles(np.array([0.5, 0.25, 0.75, 0.0]), (0.5, 0.9))
    (0.25, 0.75)
    """
    if not values.size or not np.isfinite(values).all():
        raise ValueError(
            "internal error: quantiles need at least one value, and finite values only"
        )
    places = [max(ceil(Fraction(str(level)) * values.size), 1) - 1 for level in levels]
    return tuple(snap(np.sort(values)[places]).tolist())
