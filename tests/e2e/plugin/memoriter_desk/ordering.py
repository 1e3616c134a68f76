"""An ordering: nobody fills the desk alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.reads import strings
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Moved, Ordering

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class Spread(Ordering):
    """Keeps the best few records of each agent."""

    about: ClassVar[str] = "each agent has at most a few records"

    kind: Literal["spread"]
    most: int = option("maximum records of an agent", 2, ge=1, le=1000)

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without those that are too many."""
        del recipe
        seen: Counter[str | None] = Counter()
        places: list[int] = []
        for at, agent in enumerate(strings(ctx.view, slate.rows, "agent")):
            seen[agent] += 1
            if seen[agent] <= self.most:
                places.append(at)
        dropped = slate.rows.size - len(places)
        return Moved(np.array(places, np.intp), shows={"dropped": dropped})
