"""What a lane answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import InvariantError

Rows = NDArray[np.int64]
"""Row numbers, one per record version."""
Scores = NDArray[np.float64]
"""Numbers on the grid; NaN means no opinion."""
Matrix = NDArray[np.float64]
"""(lanes, rows)."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ranking:
    """One lane's rows, best first. Checked here once, trusted everywhere else."""

    rows: Rows
    """Unique."""
    scores: Scores
    """Finite, never increasing, higher is better."""

    def __post_init__(self) -> None:
        if self.rows.shape != self.scores.shape or self.rows.ndim != 1:
            raise InvariantError("rows and scores must be two vectors of one length")
        if not np.isfinite(self.scores).all():
            raise InvariantError("scores must be finite")
        if (np.diff(self.scores) > 0).any():
            raise InvariantError("scores must not increase")
        if np.unique(self.rows).size != self.rows.size:
            raise InvariantError("rows must be unique")
