"""Boosts by what a record says of itself: confidence, priority, trust, being a reflection."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import numbers, strings
from memoriter.lanes.port import Context
from memoriter.pipeline.boosts.leaning import Leaning
from memoriter.pipeline.boosts.port import Boost, Boosted, Op
from memoriter.rank.decay import confidence, priority


class Confidence(Boost):
    """The confidence of a record; none is worth nothing."""

    kind: Literal["confidence"]
    weight: float = Field(default=0.1, ge=0.0, le=1000.0)

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Weight · confidence."""
        values = numbers(ctx.reading, slate.rows, "confidence")
        return Boosted(confidence(values, self.weight))


class Priority(Leaning):
    """The priority of a record, by a table; one that it does not name is worth nothing."""

    kind: Literal["priority"]
    table: dict[str, float] = Field(
        default_factory=lambda: {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0}
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What the table says."""
        return Boosted(self.worth(_tabled(ctx, slate, "priority", self.table)))


class Trust(Leaning):
    """Where a record comes from, by a table."""

    kind: Literal["trust"]
    table: dict[str, float] = Field(
        default_factory=lambda: {"system": 1.0, "learned": 0.5, "external": 0.0}
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What the table says."""
        return Boosted(self.worth(_tabled(ctx, slate, "trust", self.table)))


class Reflections(Boost):
    """The score of a reflection times a factor; other records keep theirs."""

    kind: Literal["reflection"]
    factor: float = Field(default=1.0, ge=0.0, le=1000.0)

    @property
    def op(self) -> Op:
        """A factor."""
        return "product"

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The factor, where a record is a reflection."""
        kinds = strings(ctx.reading, slate.rows, "kind")
        mine = np.array([kind == "reflection" for kind in kinds], np.bool_)
        return Boosted(np.where(mine, self.factor, np.nan))


def _tabled(ctx: Context, slate: Slate, name: str, table: dict[str, float]) -> Scores:
    return priority(strings(ctx.reading, slate.rows, name), table)
