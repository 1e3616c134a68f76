"""From reflections to what they were made from: a good one lifts its sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import snap


@dataclass(frozen=True, slots=True)
class Sources:
    """Edges from reflections to their sources, by row, heaviest first for each reflection."""

    owners: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    wanted: NDArray[np.bool_]
    """Which targets may be brought in; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Lift:
    """How far a reflection's score carries."""

    window: int = 25
    """Reflections among so many of the best rows."""
    reflections: int = 5
    ceiling: int = 50
    """A reflection with more sources says too little about each."""
    sources: int = 20
    """So many of each, the heaviest."""
    factor: float = 0.7


@dataclass(frozen=True, slots=True)
class Lifted:
    """The best that a reflection gives to each source: score, and whose it was."""

    rows: NDArray[np.int64]
    """Ascending."""
    scores: NDArray[np.float64]
    parents: NDArray[np.int64]
    weights: NDArray[np.float64]
    """Of the edge."""


def lifted(
    rows: NDArray[np.int64], scores: NDArray[np.float64], sources: Sources, lift: Lift
) -> Lifted:
    """Parent score · factor · edge weight, the most for each source; only what is positive.

    `rows` are best first. Of equal lifts the better parent's counts.

    >>> told = Sources(np.array([7]), np.array([3]), np.array([0.5]), np.array([True]))
    >>> lifted(np.array([9, 7]), np.array([1.0, 0.8]), told, Lift()).scores.round(6).tolist()
    [0.28]
    """
    best: dict[int, tuple[float, int, float]] = {}
    for place in _chosen(rows, sources, lift):
        mine = np.flatnonzero((sources.owners == rows[place]) & sources.wanted)[: lift.sources]
        values = snap(scores[place] * lift.factor * sources.weights[mine])
        for at, value in zip(mine.tolist(), values.tolist(), strict=True):
            target = int(sources.targets[at])
            if value > best.get(target, (0.0,))[0]:
                best[target] = value, int(rows[place]), float(sources.weights[at])
    found = sorted(best)
    told = np.array([best[row] for row in found], np.float64).reshape(len(found), 3)
    parents = told[:, 1].astype(np.int64)
    return Lifted(np.array(found, np.int64), told[:, 0], parents, told[:, 2])


def _chosen(rows: NDArray[np.int64], sources: Sources, lift: Lift) -> list[int]:
    """Where the first reflections of the window stand that have few enough sources."""
    owners, counts = np.unique(sources.owners, return_counts=True)
    small = np.isin(rows[: lift.window], owners[counts <= lift.ceiling])
    return np.flatnonzero(small)[: lift.reflections].tolist()
