"""A boost: short notes are read sooner."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap


class Brevity(Boost):
    """Adds weight / words of the text."""

    about: ClassVar[str] = "short notes count more"

    kind: Literal["brevity"]
    weight: float = option("what a text of one word adds", 1.0, ge=0.0, le=1000.0)

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gets."""
        records = ctx.fetch(slate.rows.tolist())
        words = np.array([np.nan if r is None else max(len(r.text.split()), 1) for r in records])
        return Boosted(snap(self.weight / words), {"words": words})
