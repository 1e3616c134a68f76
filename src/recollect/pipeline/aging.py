"""A score that forgets: what a search found, blended with how fresh it is by the caller's cycle."""

from __future__ import annotations

from typing import Final

import numpy as np

from recollect.core.ranking import Scores
from recollect.core.slate import Slate, Step
from recollect.rank.fade import by_cycle
from recollect.rank.grid import snap

WEIGHT: Final = 0.1
HALF_LIFE: Final = 50.0


def aged(slate: Slate, cycles: Scores, current: int) -> Slate:
    """0.9 · score + 0.1 · recency, for each row; no cycle, no recency. The order stays."""
    fresh = by_cycle(cycles, current, HALF_LIFE)
    there = ~np.isnan(fresh)
    weight = np.full(slate.rows.size, 1.0 - WEIGHT)
    step = Step("similarity", "product", (slate.steps[-1].out, "similarity.weight"), "similarity")
    slate = slate.scored(step, {"similarity.weight": weight})
    columns = {
        "recency.score": fresh,
        "recency.weight": np.where(there, WEIGHT, np.nan),
        "blend.recency": snap(WEIGHT * fresh),
    }
    return slate.scored(Step("blend", "sum", ("similarity", "blend.recency"), "blend"), columns)
