"""Diversity: maximal marginal relevance (MMR) and near duplicates.

Called by the orderings `mmr` and `collapse`, and by `rank.mmr`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import snap


class Picks(NamedTuple):
    """The rows in the order they were taken, and the similarity penalty of each."""

    order: NDArray[np.intp]
    """Indices of the input rows, in the order they were taken."""
    penalties: NDArray[np.float64]
    """(1 − trade) · greatest cosine to those taken before; negative if all cosines are."""
    causes: NDArray[np.intp]
    """The most similar row taken before (of equals the first taken); −1 for the first pick."""


def mmr_picks(
    relevance: NDArray[np.float64], units: NDArray[np.float32], trade: float, limit: int = 0
) -> Picks:
    """Greedily take argmax of trade · relevance − (1 − trade) · greatest cosine to those taken.

    The first pick is the most relevant row; with trade 0 relevance counts nothing, and all rows are
    equal. Of equal values the earlier input row wins. The greatest cosine has no floor at 0: a row
    that points away from all those taken gains by it.
    `units` are unit vectors on the grid (a zero vector has cosine 0 to all), so every dot product
    is exact. limit 0 takes all; a smaller limit gives a prefix. (Carbonell and Goldstein, 1998.)

    >>> away = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    >>> picks = mmr_picks(np.array([1.0, 0.5, 0.5]), away, 0.5)
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
            values = cost = np.zeros(relevance.size)
            if trade > 0.0:
                values = worth  # not times trade, which the grid would make equal sooner
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


def near_duplicates(units: NDArray[np.float32], threshold: float) -> NDArray[np.intp]:
    """For each row the earlier row that it is a near copy of; −1 for rows that stay.

    Rows are taken in the given order. One whose cosine with a row that stays reaches `threshold` is
    a copy of the first such row; a copy has no copies of its own. `units` are unit vectors on the
    grid, so every cosine is exact; a zero vector has cosine 0 to all.

    >>> rows = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    >>> near_duplicates(rows, 0.7).tolist()
    [-1, -1, 0, 1]
    """
    wide = units.astype(np.float64)
    copied = np.full(len(units), -1, np.intp)
    for row in range(len(units)):
        if copied[row] == -1:
            alike = wide[row + 1 :] @ wide[row] >= threshold
            copied[row + 1 :][alike & (copied[row + 1 :] == -1)] = row
    return copied
