"""Of one kind of record not more than a share of what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from memoriter.core.slate import Slate
from memoriter.index.reads import strings
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.pipeline.orderings.port import Moved, Ordering

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class Cap(Ordering):
    """Keeps the best of a kind, up to a share of the recipe's window, and drops the others."""

    kind: Literal["cap"]
    of: str = "reflection"
    """The kind of record."""
    share: float = Field(default=0.3, ge=0.0, le=1.0)
    """Of the recipe's window, rounded down."""

    def ready(self, ctx: Context, recipe: Recipe) -> Ready | Skipped:
        """Says so where none can be shown."""
        del ctx
        shown = int(self.share * recipe.window)
        told: dict[str, object] = {**self.shows(), "window": recipe.window, "at_most": shown}
        if not shown:
            told["warning"] = f"no {self.of} can be shown"
        return Ready(told)

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without what is too many."""
        kinds = strings(ctx.reading, slate.rows, "kind")
        mine = np.array([kind == self.of for kind in kinds], np.bool_)
        over = mine & (np.cumsum(mine) > int(self.share * recipe.window))
        return Moved(
            np.flatnonzero(~over),
            noted={"evicted": int(over.sum())},
            looked={"of": np.flatnonzero(mine).tolist()},
        )
