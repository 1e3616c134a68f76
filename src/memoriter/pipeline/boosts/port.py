"""What a boost is: a number for each candidate that changes its score, and why.

A boost brings no candidate and takes none away. A recipe either weighs it beside its lanes, as one
more signal of a weighted fusion, or applies it to the score of a pass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import chain_length, numbers, strings
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import RecipePart, option
from memoriter.rank.decay import priority
from memoriter.rank.grid import snap

Op = Literal["sum", "product", "max"]


@dataclass(frozen=True, slots=True)
class Boosted:
    """A value per row of the slate, on the grid; NaN where the boost says nothing of a row."""

    values: Scores
    beside: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Numbers that say where a value comes from: a distance, an age."""
    noted: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows after it ran."""


class Boost(RecipePart):
    """A boost as a recipe declares it."""

    reads_score: ClassVar[bool] = False
    """Whether its values follow from the score so far, not only from columns and records."""

    enabled: bool = option("whether it runs", default=True)

    @property
    def excludes(self) -> str | None:
        """A boost that cannot run beside it."""
        return None

    @property
    def op(self) -> Op:
        """How its value changes a score."""
        return "sum"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run."""
        del ctx
        return Ready(self.shows())

    @abstractmethod
    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Its values for the rows of a slate."""

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """What it read of records, as far as it is numbers: inputs of the receipt, by name."""
        del ctx, slate
        return {}


class Leaning(Boost):
    """A boost by a share: weight · share is added, or the score times 1 + alpha · (share − ½)."""

    weight: float = option("what the whole share adds", 1.0, ge=0.0, le=1000.0)
    alpha: Annotated[float, Field(ge=0.0, le=1.0)] | None = option(
        "multiplies the score by 1 + alpha · (share − ½) instead", None
    )

    @property
    def op(self) -> Op:
        """A product where it leans, else a sum."""
        return "sum" if self.alpha is None else "product"

    def worth(self, shares: Scores) -> Scores:
        """What shares are worth, on the grid; no share leans nowhere and adds nothing."""
        if self.alpha is None:
            return snap(self.weight * shares)
        return snap(1.0 + self.alpha * (np.where(np.isnan(shares), 0.5, shares) - 0.5))


def lane_scores(slate: Slate, label: str) -> Scores:
    """What a lane said of each row; NaN where it said nothing, or has no part in the search."""
    return slate.columns.get(f"{label}.score", np.full(slate.rows.size, np.nan))


def by_table(ctx: Context, slate: Slate, attribute: str, table: Mapping[str, float]) -> Scores:
    """What a table says of an attribute of each row; 0 for what it does not name."""
    return priority(strings(ctx.view, slate.rows, attribute), table)


def positions_of(ctx: Context, slate: Slate) -> dict[str, Scores]:
    """Where records stand among all, and how many there are: inputs of a receipt."""
    count = float(chain_length(ctx.view))
    return {
        "position": numbers(ctx.view, slate.rows, "position"),
        "length": np.full(slate.rows.size, count),
    }
