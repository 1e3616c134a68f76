"""Scores that reflections pass on to the records they were made from (boost `sources`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import snap


@dataclass(frozen=True, slots=True)
class Sources:
    """Edges from reflections to their sources, as rows; heaviest first within a reflection."""

    owners: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    wanted: NDArray[np.bool_]
    """Which targets may get a score; the others only count towards the ceiling."""


@dataclass(frozen=True, slots=True)
class Lift:
    """The limits and the factor of the boost."""

    ceiling: int = 50
    """A reflection with more sources is ignored."""
    sources: int = 20
    """How many sources of each reflection count, heaviest first."""
    factor: float = 0.7


@dataclass(frozen=True, slots=True)
class Lifted:
    """The best score that each source gets, and from which reflection."""

    rows: NDArray[np.int64]
    """Ascending."""
    scores: NDArray[np.float64]
    parents: NDArray[np.int64]
    weights: NDArray[np.float64]
    """Of the edge."""


def lifted(
    rows: NDArray[np.int64], scores: NDArray[np.float64], sources: Sources, lift: Lift
) -> Lifted:
    """By source the largest score of its reflections · factor · edge weight, if positive.

    `rows` are the reflections, best first. Of equal values the better reflection's counts.

    >>> sources = Sources(np.array([7]), np.array([3]), np.array([0.5]), np.array([True]))
    >>> lifted(np.array([9, 7]), np.array([1.0, 0.8]), sources, Lift()).scores.round(6).tolist()
    [0.28]
    """
    best: dict[int, tuple[float, int, float]] = {}
    for place in range(rows.size):
        edges = np.flatnonzero(sources.owners == rows[place])
        if edges.size > lift.ceiling:
            continue
        own = edges[sources.wanted[edges]][: lift.sources]
        values = snap(scores[place] * lift.factor * sources.weights[own])
        for at, value in zip(own.tolist(), values.tolist(), strict=True):
            target = int(sources.targets[at])
            if value > best.get(target, (0.0,))[0]:
                best[target] = value, int(rows[place]), float(sources.weights[at])
    targets = sorted(best)
    lifts = np.array([best[row] for row in targets], np.float64).reshape(len(targets), 3)
    parents = lifts[:, 1].astype(np.int64)
    return Lifted(np.array(targets, np.int64), lifts[:, 0], parents, lifts[:, 2])
