"""The arithmetic of boosts: recency, nearness in time, cohesion, importance, confidence, priority.

Every function takes one number per row (NaN if the row has none) and returns one per row on the
grid, never NaN: a missing value counts 0. None of them reads a clock. Called by `pipeline/boosts/`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.rank.grid import Array, snap

_LN2: Final = math.log(2.0)
_SECOND: Final = 1e6
_NEUTRAL: Final = 0.5
"""The importance that neither adds nor subtracts."""


def by_position(positions: Array, length: int, weight: float) -> Array:
    """Weight · position / (length − 1): 0 for the first record, the whole weight for the last.

    If there is at most one record, every position counts the whole weight.

    >>> by_position(np.array([0.0, 1.0, 4.0]), 5, 0.05).round(6).tolist()
    [0.0, 0.0125, 0.05]
    """
    share = positions / (length - 1) if length > 1 else np.where(np.isnan(positions), np.nan, 1.0)
    return _known(weight * share)


def by_cycle(cycles: Array, current: int, half_life: float) -> Array:
    """2^(−age / half-life), with the age in cycles; a later cycle than `current` has age 0.

    >>> by_cycle(np.array([40.0, 20.0, -10.0, np.nan]), 40, 50.0).round(6).tolist()
    [1.0, 0.757858, 0.5, 0.0]
    """
    return _halved(current - cycles, half_life)


def by_clock(times: Array, now: int, half_life: float) -> Array:
    """2^(−age / half-life), with the age in seconds; times are microseconds, later ones age 0.

    >>> by_clock(np.array([9e6, 5e6, np.nan]), 8_000_000, 3.0).round(6).tolist()
    [1.0, 0.5, 0.0]
    """
    return _halved((now - times) / _SECOND, half_life)


def _halved(ages: Array, half_life: float) -> Array:
    """2^(−age / half-life); `math.exp`, since numpy's `exp` differs in the last bit by machine."""
    shares = [
        0.0 if math.isnan(age) else math.exp(-_LN2 * max(age, 0.0) / half_life)
        for age in ages.tolist()
    ]
    return snap(np.array(shares, np.float64))


def nearness(times: Array, since: int, until: int) -> Array:
    """1 inside the span [since, until), 1 / (1 + spans away) outside it; all in microseconds.

    >>> nearness(np.array([5.0, 0.0, 30.0]), 0, 10).round(6).tolist()
    [1.0, 1.0, 0.322581]
    """
    before = np.maximum(since - times, 0.0)
    after = np.maximum(times - (until - 1), 0.0)
    return _known(1.0 / (1.0 + (before + after) / float(until - since)))


class Reach(NamedTuple):
    """How far a strong row helps weak ones, and the thresholds of strong and weak."""

    radius: int
    most: float
    """At distance d from the nearest strong row, a weak row gains most · (1 − d/radius)."""
    strong: float
    """A row with at least this lexical score is strong; NaN counts as 0."""
    weak: float
    """A row with less than this lexical score may gain."""


def near_strong(
    positions: Array,
    lexical: Array,
    reach: Reach,
    sessions: NDArray[np.int64] | None = None,
) -> Array:
    """What weak rows gain from strong rows nearby.

    Nothing beyond the radius, and nothing from itself. With `sessions` (a code per row, -1 for
    none) a strong row helps only rows of its own session.

    >>> lexical = np.array([np.nan, 4.0, 1.0, 6.0])
    >>> near_strong(np.arange(4.0), lexical, Reach(12, 1.2, 3.0, 5.0)).round(6).tolist()
    [1.1, 0.0, 1.1, 0.0]
    """
    radius, most = reach.radius, reach.most
    words = np.nan_to_num(lexical)
    groups = np.zeros(words.size, np.int64) if sessions is None else sessions
    there = (groups >= 0) & ~np.isnan(positions)
    # Sessions are shifted apart by more than the radius, so that one sorted search serves them all.
    apart = float(np.nanmax(positions, initial=0.0)) + radius + 1.0
    places = np.where(there, np.nan_to_num(positions) + groups * apart, np.inf)
    seeds = np.sort(places[there & (words >= reach.strong)])
    if not seeds.size:
        return np.zeros(words.size)
    after = np.searchsorted(seeds, places)
    up = np.abs(seeds[np.minimum(after, seeds.size - 1)] - places)
    down = np.abs(seeds[np.maximum(after - 1, 0)] - places)
    distance = np.minimum(up, down)
    gains = there & (words < reach.weak) & (distance >= 1.0) & (distance <= radius)
    return snap(np.where(gains, most * (1.0 - np.where(gains, distance, 0.0) / radius), 0.0))


def importance(values: Array, lexical: Array, matched: float, unmatched: float) -> Array:
    """The distance of the importance from one half, weighted by the lexical score.

    With a lexical score, lexical · (importance − ½) · matched, else (importance − ½) · unmatched.
    Negative below one half.

    >>> importance(np.array([0.8, 1.0, np.nan]), np.array([2.0, np.nan, 2.0]), 0.3, 0.1).round(6)
    array([0.18, 0.05, 0.  ])
    """
    words = np.nan_to_num(lexical)
    share = np.where(words > 0.0, words * matched, unmatched)
    return _known((values - _NEUTRAL) * share)


def confidence(values: Array, weight: float) -> Array:
    """Weight · confidence.

    >>> confidence(np.array([0.8, np.nan]), 0.1).round(6).tolist()
    [0.08, 0.0]
    """
    return _known(weight * values)


def priority(names: Sequence[str | None], table: Mapping[str, float]) -> Array:
    """The table's value of each name; 0 for an unknown one.

    >>> priority(["P1", None, "P2"], {"P1": 1.0, "P2": 0.6}).round(6).tolist()
    [1.0, 0.0, 0.6]
    """
    return snap(np.array([0.0 if n is None else table.get(n, 0.0) for n in names], np.float64))


def _known(values: Array) -> Array:
    """On the grid, with 0 for NaN."""
    return snap(np.nan_to_num(values))
