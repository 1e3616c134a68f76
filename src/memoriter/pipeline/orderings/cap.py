"""The ordering `cap`: limits one kind of record to a share of the hits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.reads import strings
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Dropped, Dropping, Moved, Ordering

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class CapOrdering(Ordering):
    """Keeps the best of a kind, up to a share of the recipe's window, and drops the others."""

    about: ClassVar[str] = "limits the share of one kind of record among the hits"

    kind: Literal["cap"]
    of: str = option("kind of record whose number is limited", "reflection")
    share: float = option(
        "maximum number of these records, as a share of the recipe's `window`; the number is"
        " rounded down",
        0.3,
        ge=0.0,
        le=1.0,
        always=True,
    )

    def ready(self, ctx: Context, recipe: Recipe) -> Ready | Skipped:
        """Always ready; the plan warns if the share rounds down to 0."""
        del ctx
        shown = int(self.share * recipe.window)
        shows: dict[str, object] = {**self.shows(), "window": recipe.window, "at_most": shown}
        if not shown:
            shows["warning"] = f"no {self.of} can be shown"
        return Ready(shows)

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without those above the limit."""
        kinds = strings(ctx.view, slate.rows, "kind")
        of_kind = np.array([kind == self.of for kind in kinds], np.bool_)
        over = of_kind & (np.cumsum(of_kind) > int(self.share * recipe.window))
        return Moved(
            np.flatnonzero(~over),
            shows={"evicted": int(over.sum())},
            looked={"of": np.flatnonzero(of_kind).tolist()},
        )

    def dropped(self, dropping: Dropping) -> Dropped:
        """The limit was reached above the row; the option is the smallest share that keeps it."""
        kinds = strings(dropping.ctx.view, dropping.slate.rows[: dropping.at + 1], "kind")
        nth, window = kinds.count(self.of), dropping.recipe.window
        most = int(self.share * window)
        reason = f"it is {self.of} number {nth}, and at most {most} are shown"
        share = nth / window
        while int(share * window) < nth:  # the quotient may be rounded down
            share = math.nextafter(share, math.inf)
        return Dropped(reason, {"share": share} if share <= 1.0 else {})
