"""What a lane answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.shown import counted, plain, quoted, shown

Rows = NDArray[np.int64]
"""Row numbers, one per record version."""
Scores = NDArray[np.float64]
"""Numbers on the grid; NaN means no opinion."""
Matrix = NDArray[np.float64]
"""(lanes, rows)."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One search of a lane that may search again: which rung, for what, with how many hits."""

    rung: int
    name: str
    query: str | None
    """None where nothing was searched."""
    hits: int
    near: tuple[str, ...] = ()
    """Words of the index that are spelled nearly like the query's, nearest first."""

    def __repr__(self) -> str:
        query = "" if self.query is None else f" {quoted(self.query)}"
        hits = counted(self.hits, "hit")
        return shown(f"Attempt {self.rung}", f"{plain(self.name, 16)}{query}, {hits}")

    def to_dict(self) -> dict[str, object]:
        """The attempt as plain data."""
        out: dict[str, object] = {"rung": self.rung, "name": self.name}
        out |= {"query": self.query, "hits": self.hits}
        return {**out, "near": list(self.near)} if self.near else out


@dataclass(frozen=True, slots=True)
class Ranking:
    """One lane's rows, best first. Checked here once, trusted everywhere else."""

    rows: Rows
    """Unique."""
    scores: Scores
    """Finite, never increasing, higher is better."""
    attempts: tuple[Attempt, ...] = ()
    """How it was found, where a lane tries more than once."""
    parts: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """What the scores are the sum of, by name, where a lane has more than one number to give."""
    noted: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows after the lane ran."""
    memo: object = field(default=None, repr=False, compare=False)
    """What the lane keeps for its evidence."""

    @classmethod
    def empty(cls) -> Ranking:
        """No rows."""
        return cls(np.zeros(0, np.int64), np.zeros(0))

    def __post_init__(self) -> None:
        if self.rows.shape != self.scores.shape or self.rows.ndim != 1:
            raise InvariantError("rows and scores must be two vectors of one length")
        if not np.isfinite(self.scores).all():
            raise InvariantError("scores must be finite")
        if (np.diff(self.scores) > 0).any():
            raise InvariantError("scores must not increase")
        if np.unique(self.rows).size != self.rows.size:
            raise InvariantError("rows must be unique")
        if self.parts and not np.array_equal(sum(self.parts.values()), self.scores):
            raise InvariantError("scores must be the sum of their parts")
