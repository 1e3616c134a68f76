"""How much does the writer say that a record matters?"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import importance


class Importance(Boost):
    """The distance from one half, by how well a lane found the record; below one half it costs."""

    kind: Literal["importance"]
    lane: Label = "words"
    """The lane whose raw score it goes by."""
    found: float = Field(default=0.3, ge=0.0, le=1000.0)
    """What the distance is worth, times that score, where the lane found the record."""
    bare: float = Field(default=0.1, ge=0.0, le=1000.0)
    """What it is worth elsewhere."""

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Each row's gain or loss."""
        none = np.full(slate.rows.size, np.nan)
        scores = slate.columns.get(f"{self.lane}.score", none)
        values = numbers(ctx.reading, slate.rows, "importance")
        return Boosted(importance(values, scores, (self.found, self.bare)), {"given": values})
