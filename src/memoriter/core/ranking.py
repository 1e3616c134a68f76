"""The answer of a lane: ranked rows with scores. `lanes/` makes them, `pipeline/` fuses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import counted, plain, quoted, shown

Rows = NDArray[np.int64]
"""Row numbers, one per record version."""
Scores = NDArray[np.float64]
"""Multiples of 2^-32 (see rank.grid); NaN means that there is no score."""
Matrix = NDArray[np.float64]
"""(lanes, rows)."""
VectorMatrix = NDArray[np.float32 | np.int8]
"""Vectors, a row each: at unit length on the grid, or in bytes (see rank.units)."""
Mask = NDArray[np.bool_]
Knots = tuple[tuple[float, float], ...]
"""A piecewise linear function: (x, y) in ascending x; level before the first and after the last."""
SHARE: Final[Knots] = ((0.0, 0.0), (1.0, 1.0))
"""The coverage of a lane whose scores are shares already."""


def union_rows(parts: Iterable[Rows]) -> Rows:
    """Every row once, ascending (quicker than np.unique, which hashes first).

    >>> union_rows([np.array([5, 2]), np.array([2, 9])]).tolist()
    [2, 5, 9]
    """
    rows = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]))
    fresh = np.ones(rows.size, np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=fresh[1:])
    return rows[fresh]


def union_places(parts: Sequence[Rows]) -> tuple[Rows, NDArray[np.intp]]:
    """(every row once, ascending; for each row of the parts, one behind the other, its place).

    >>> [each.tolist() for each in union_places([np.array([5, 2]), np.array([2, 9])])]
    [[2, 5, 9], [1, 0, 0, 2]]
    """
    every = np.concatenate([np.zeros(0, np.int64), *parts])
    order = every.argsort()
    rows = every[order]
    fresh = np.ones(rows.size, np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=fresh[1:])
    places = np.empty(rows.size, np.intp)
    places[order] = fresh.cumsum() - 1
    return rows[fresh], places


def zero_where_absent(scores: Scores) -> Scores:
    """The scores, and 0 where there is none.

    >>> zero_where_absent(np.array([0.5, np.nan])).tolist()
    [0.5, 0.0]
    """
    out = scores.copy()
    out[np.isnan(out)] = 0.0
    return out


def scores_at(rows: Rows, known: Rows, scores: Scores) -> Scores:
    """The score of each of these rows, which ascend and contain the known ones; NaN for others.

    >>> scores_at(np.array([2, 5, 9]), np.array([9, 2]), np.array([0.5, 0.25])).tolist()
    [0.25, nan, 0.5]
    """
    out = np.full(rows.size, np.nan)
    out[rows.searchsorted(known)] = scores
    return out


def among(some: Rows, rows: Rows) -> Mask:
    """Which of these rows are among some others, which ascend.

    >>> among(np.array([2, 5, 9]), np.array([9, 3])).tolist()
    [True, False]
    """
    if not some.size:
        return np.zeros(rows.size, np.bool_)
    return some[np.minimum(some.searchsorted(rows), some.size - 1)] == rows


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a lane that retries with a looser query: its rung, its query, its hits."""

    rung: int
    name: str
    query: str | None
    """None if this rung was skipped."""
    hits: int
    near: tuple[str, ...] = ()
    """Words of the index with a spelling close to the query's, nearest first."""

    def __repr__(self) -> str:
        query = "" if self.query is None else f" {quoted(self.query)}"
        hits = counted(self.hits, "hit")
        return shown(f"Attempt {self.rung}", f"{plain(self.name, 16)}{query}, {hits}")

    def to_dict(self) -> dict[str, object]:
        """The attempt as plain data."""
        out: dict[str, object] = {"rung": self.rung, "name": self.name}
        out |= {"query": self.query, "hits": self.hits}
        return {**out, "near": list(self.near)} if self.near else out


class Spread(NamedTuple):
    """How a lane scores all records that the caller can read, whether they are candidates or not.

    Sums of numbers on the grid are exact, so they do not depend on the order of the records.
    """

    records: int
    total: float
    """The sum of their scores; one without a score counts 0."""
    squares: float
    """The sum of the squares of their scores, each on the grid."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One lane's rows, best first. Its invariants are checked here and nowhere else."""

    rows: Rows
    """Unique."""
    scores: Scores
    """Finite, never increasing, higher is better."""
    attempts: tuple[Attempt, ...] = ()
    """The tries, if the lane made more than one."""
    parts: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """The named addends of the scores, if the lane has more than one."""
    shows: Mapping[str, object] = field(default_factory=dict[str, object])
    """Facts that the plan shows after the lane ran."""
    coverage: Knots | None = None
    """From a score to the share of the question that it covers, 0 to 1, whatever the other rows
    score; None if the lane knows no such scale."""
    spread: Spread | None = None
    """The scores of all readable records; None if the lane did not score all of them."""
    memo: object = field(default=None, repr=False, compare=False)
    """Private state of the lane, for building its evidence later."""
    is_ordered: bool = field(default=False, repr=False, compare=False)
    """Whether `rank.top` made the order of unique rows: then nothing is checked again."""

    @classmethod
    def empty(cls) -> Ranking:
        """No rows."""
        return cls(np.zeros(0, np.int64), np.zeros(0), is_ordered=True)

    def __post_init__(self) -> None:
        if not self.is_ordered:
            self._check()

    def _check(self) -> None:
        if self.rows.shape != self.scores.shape or self.rows.ndim != 1:
            raise InvariantError(
                "internal error: a lane returned rows and scores of unequal length"
            )
        if not np.isfinite(self.scores).all():
            raise InvariantError("internal error: a lane returned a score that is NaN or infinite")
        if (np.diff(self.scores) > 0).any():
            raise InvariantError(
                "internal error: a lane returned rows that are not ordered by falling score"
            )
        ordered = np.sort(self.rows)
        if (ordered[1:] == ordered[:-1]).any():
            raise InvariantError("internal error: a lane returned the same row twice")
        if self.parts and not np.array_equal(sum(self.parts.values()), self.scores):
            raise InvariantError(
                "internal error: a lane returned scores that are not the sum of their parts"
            )
