"""How new is a record: by its place among all, by the caller's cycles, or by a clock?"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import length, numbers
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.pipeline.boosts.leaning import Leaning
from memoriter.pipeline.boosts.port import Boosted
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import by_clock, by_cycle, by_position
from memoriter.rank.grid import snap

_DAY = 86_400e6


class Recency(Leaning):
    """Newer records count more. No clock is read: the query says when it is asked."""

    kind: Literal["recency"]
    unit: Literal["position", "cycle", "seconds", "days"] = "position"
    """`position`: evenly from the first record to the last. `cycle` and `seconds`: half after each
    half-life. `days`: 1 / (1 + age in days)."""
    half_life: float = Field(default=50.0, gt=0.0, le=1e12)
    of: Literal["created", "committed", "occurred"] = "created"
    """The time that `seconds` and `days` go by."""

    beside: Label | None = None
    """A lane that must know a record; what it does not know has no age."""

    rival: Label | None = None
    """A boost that goes by another clock: both at once are an error."""

    def shows(self) -> dict[str, object]:
        """What the plan prints: what this unit goes by."""
        unused = {"position": ("half_life", "of"), "cycle": ("of",), "days": ("half_life",)}
        told = {key: value for key, value in super().shows().items() if key != "rival"}
        return {key: told[key] for key in told if key not in unused.get(self.unit, ())}

    @property
    def excludes(self) -> str | None:
        """The one that goes by another clock."""
        return self.rival

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Cycles need the call to say which one it is."""
        if self.unit == "cycle" and ctx.query.cycle is None:
            return Skipped("no cycle is given: recall(…, cycle=…)", idle=True)
        return Ready(self.shows())

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Each row's share of newness."""
        shares = self._shares(ctx, slate)
        if self.beside is not None:
            none = np.full(slate.rows.size, np.nan)
            known = slate.columns.get(f"{self.beside}.score", none)
            shares = np.where(np.isnan(known), np.nan, shares)
        return Boosted(self.worth(shares))

    def _shares(self, ctx: Context, slate: Slate) -> Scores:
        reading, rows = ctx.reading, slate.rows
        match self.unit:
            case "position":
                return by_position(numbers(reading, rows, "position"), length(reading), 1.0)
            case "cycle":
                cycles = numbers(reading, rows, "cycle")
                return by_cycle(cycles, ctx.query.cycle or 0, self.half_life)
            case "seconds":
                return by_clock(numbers(reading, rows, self.of), ctx.query.now, self.half_life)
            case "days":
                ages = (ctx.query.now - numbers(reading, rows, self.of)) / _DAY
                return snap(1.0 / (1.0 + np.maximum(ages, 0.0)))
