"""Does a record stand near one that the words found well?"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from memoriter.core.slate import Slate
from memoriter.index.reads import codes, numbers
from memoriter.lanes.port import Context
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import cohesion


class Cohesion(Boost):
    """Weak hits gain from a strong one that was written shortly before or after them."""

    kind: Literal["cohesion"]
    lane: Label = "words"
    """The lane whose raw score says who is strong."""
    radius: int = Field(default=12, ge=1, le=10_000)
    most: float = Field(default=1.2, ge=0.0, le=1000.0)
    """At d records away: most · (1 − d / radius)."""
    strong: float = Field(default=3.0, ge=0.0, le=1e6)
    """From here on a hit helps its neighbours."""
    weak: float = Field(default=5.0, ge=0.0, le=1e6)
    """Below this a hit is helped."""
    same_session: bool = False
    """Whether only a strong hit of the same session helps."""

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gains."""
        none = np.full(slate.rows.size, np.nan)
        scores = slate.columns.get(f"{self.lane}.score", none)
        sessions = codes(ctx.reading, slate.rows, "session")[0] if self.same_session else None
        positions = numbers(ctx.reading, slate.rows, "position")
        reach, bounds = (self.radius, self.most), (self.strong, self.weak)
        return Boosted(cohesion(positions, scores, reach, bounds, sessions))
