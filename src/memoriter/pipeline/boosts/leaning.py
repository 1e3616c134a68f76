"""A signal between 0 and 1 that is added, or that leans a score a little to one side."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from memoriter.core.ranking import Scores
from memoriter.pipeline.boosts.port import Boost, Op
from memoriter.rank.grid import snap


class Leaning(Boost):
    """A boost by a share: weight · share is added, or the score times 1 + alpha · (share − ½)."""

    weight: float = Field(default=1.0, ge=0.0, le=1000.0)
    """What the whole share adds; a boost that a fusion weighs leaves it at 1."""
    alpha: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """How far it leans a score instead."""

    @property
    def op(self) -> Op:
        """A product where it leans, else a sum."""
        return "sum" if self.alpha is None else "product"

    def worth(self, shares: Scores) -> Scores:
        """What shares are worth, on the grid; no share leans nowhere and adds nothing."""
        if self.alpha is None:
            return snap(self.weight * shares)
        return snap(1.0 + self.alpha * (np.where(np.isnan(shares), 0.5, shares) - 0.5))
