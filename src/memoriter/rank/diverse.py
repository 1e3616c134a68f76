"""Diversity: take the best that does not repeat what was taken (maximal marginal relevance)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import snap


class Picks(NamedTuple):
    """What was taken, in order, and what likeness cost each of them."""

    order: NDArray[np.intp]
    """Rows, as given, in the order they were taken."""
    penalties: NDArray[np.float64]
    """(1 − trade) · the greatest cosine to those taken before; negative where all point away."""
    causes: NDArray[np.intp]
    """The row that came nearest, the first taken of equals; −1 for the first pick."""


def mmr(
    relevance: NDArray[np.float64], units: NDArray[np.float32], trade: float, limit: int = 0
) -> Picks:
    """Greedily take argmax of trade · relevance − (1 − trade) · greatest cosine to those taken.

    The first is the most relevant one. Equal values go to the row that was given first. The
    greatest cosine has no floor: who points away from all that was taken gains by it. `units` are
    unit vectors on the grid (a zero vector has cosine 0 to all), so every dot product is exact.
    limit 0 takes all; a smaller limit gives a prefix. (Carbonell and Goldstein, 1998.)

    >>> away = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    >>> picks = mmr(np.array([1.0, 0.5, 0.5]), away, 0.5)
    >>> picks.order.tolist(), picks.penalties.tolist(), picks.causes.tolist()
    ([0, 2, 1], [0.0, -0.5, 0.0], [-1, 0, 0])
    """
    count = relevance.size if limit <= 0 else min(limit, relevance.size)
    order, causes = np.zeros(count, np.intp), np.full(count, -1, np.intp)
    penalties = np.zeros(count)
    wide = units.astype(np.float64)
    worth = snap(relevance)
    closest, cause = np.full(relevance.size, -np.inf), np.zeros(relevance.size, np.intp)
    free = np.ones(relevance.size, np.bool_)
    for nth in range(count):
        if nth == 0:
            values, cost = worth, np.zeros(relevance.size)
        else:
            cost = snap((1.0 - trade) * closest)
            values = snap(trade * worth) - cost
        taken = int(np.argmax(np.where(free, values, -np.inf)))
        order[nth], free[taken] = taken, False
        penalties[nth], causes[nth] = cost[taken], cause[taken] if nth else -1
        alike = wide @ wide[taken]
        nearer = alike > closest
        closest[nearer], cause[nearer] = alike[nearer], taken
    return Picks(order, penalties, causes)
