"""The boost `session`: a record gains a share of the score of the record before or after it.

In a conversation the next record often answers what the previous one asks. The better of the two
neighbours in the same session counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.core.slate import Slate
from memoriter.index.reads import turns_around
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap


class SessionBoost(Boost):
    """A share of the score of the better neighbour in the same session."""

    about: ClassVar[str] = "a share of the better neighbour's score in the same session"
    reads_score: ClassVar[bool] = True
    row_details: ClassVar[tuple[str, ...]] = ("row",)
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "row": "the better neighbour in the session",
            "score": "the score of that neighbour",
        }
    )

    kind: Literal["session"]
    weight: float = option(
        "share of a neighbouring turn's score that a record gains; of the turn before and the"
        " turn after, only the better one counts",
        0.3,
        ge=0.0,
        le=1000.0,
    )

    def reads_scores_of(self, ctx: Context, rows: Rows) -> Rows:
        """The neighbours of these rows."""
        every = np.concatenate(turns_around(ctx.view, rows, 1), axis=None)
        return every[every >= 0]

    def largest_gain(self, best: float) -> float:
        """The share of the best score."""
        return self.weight * best

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Weight · score of the better neighbour; NaN if neither neighbour is a candidate."""
        order = np.argsort(slate.rows)
        scores = slate.score
        best, who = np.full(slate.rows.size, np.nan), np.full(slate.rows.size, np.nan)
        near = turns_around(ctx.view, slate.rows, 1)
        for side in (near.before, near.after):
            rows: NDArray[np.int64] = side[0]
            # `searchsorted` may point past the end or at another row; both are filtered below.
            at = np.minimum(np.searchsorted(slate.rows[order], rows), order.size - 1)
            here = order[at]
            there = np.where(slate.rows[here] == rows, scores[here], np.nan)
            better = ~np.isnan(there) & ~(best >= there)
            best, who = np.where(better, there, best), np.where(better, rows, who)
        lent = snap(self.weight * best)
        return Boosted(np.where(lent > 0.0, lent, np.nan), {"row": who, "score": best})
