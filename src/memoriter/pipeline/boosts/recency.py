"""The boost `recency`: newer records gain; age in positions, cycles or time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import chain_length, numbers
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boosted, ShareBoost, lane_scores, positions_of
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import by_clock, by_cycle, by_position
from memoriter.rank.grid import snap

_DAY = 86_400e6


class RecencyBoost(ShareBoost):
    """Newer records count more. The current time is the query's `now`, so that replays agree."""

    about: ClassVar[str] = "newer records count more"

    kind: Literal["recency"]
    unit: Literal["position", "cycle", "seconds", "days"] = option(
        "how the age of a record is measured; the older the record, the smaller its share",
        "position",
        values={
            "position": "by order of writing (the newest record has the share 1, the oldest 0)",
            "cycle": "in cycles of your time counter (the share halves every `half_life` cycles)",
            "seconds": "in seconds (the share halves every `half_life` seconds)",
            "days": "in days (the share is 1 / (1 + days))",
        },
    )
    half_life: float = option(
        "age at which the share is ½, in cycles or seconds; used only if `unit` is cycle or"
        " seconds",
        50.0,
        gt=0.0,
        le=1e12,
    )
    of: Literal["created", "committed", "occurred"] = option(
        "time of a record from which its age is counted; used only if `unit` is seconds or days",
        "created",
    )
    beside: Label | None = option(
        "label of the lane whose hits gain; none: every record gains",
        None,
    )
    rival: Label | None = option(
        "label of a boost that must not run with this one; if both would run, the search fails",
        None,
    )

    def shows(self) -> dict[str, object]:
        """The options that apply to this unit."""
        unused = {"position": ("half_life", "of"), "cycle": ("of",), "days": ("half_life",)}
        left_out = {"rival", *unused.get(self.unit, ())}
        return {key: value for key, value in super().shows().items() if key not in left_out}

    @property
    def takes(self) -> tuple[str, ...]:
        """The cycle, if it counts in cycles."""
        return ("cycle",) if self.unit == "cycle" else ()

    @property
    def excludes(self) -> str | None:
        """The recency boost of another unit, if the recipe names one as `rival`."""
        return self.rival

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready, except that the unit `cycle` needs the call to name its cycle."""
        if self.unit == "cycle" and ctx.query.cycle is None:
            return Skipped("no cycle is given: recall(…, cycle=…)", idle=True)
        return Ready(self.shows())

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Each row's share of newness."""
        shares = self._shares(ctx, slate)
        if self.beside is not None:
            shares = np.where(np.isnan(lane_scores(slate, self.beside)), np.nan, shares)
        return Boosted(self.worth(shares))

    def _shares(self, ctx: Context, slate: Slate) -> Scores:
        view, rows = ctx.view, slate.rows
        match self.unit:
            case "position":
                return by_position(numbers(view, rows, "position"), chain_length(view), 1.0)
            case "cycle":
                cycles = numbers(view, rows, "cycle")
                return by_cycle(cycles, ctx.query.cycle or 0, self.half_life)
            case "seconds":
                return by_clock(numbers(view, rows, self.of), ctx.query.now, self.half_life)
            case "days":
                ages = (ctx.query.now - numbers(view, rows, self.of)) / _DAY
                return snap(1.0 / (1.0 + np.maximum(ages, 0.0)))

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """Positions, cycles or times, by unit."""
        if self.unit == "position":
            return positions_of(ctx, slate)
        name = "cycle" if self.unit == "cycle" else self.of
        return {name: numbers(ctx.view, slate.rows, name)}
