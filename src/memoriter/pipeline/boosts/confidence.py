"""The boost `confidence`: adds weight · confidence of the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.decay import confidence


class ConfidenceBoost(Boost):
    """The confidence of a record; a record without one gains nothing."""

    about: ClassVar[str] = "the confidence of a record"

    kind: Literal["confidence"]
    weight: float = option("what a confidence of 1 adds to the score", 0.1, ge=0.0, le=1000.0)

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Weight · confidence."""
        values = numbers(ctx.view, slate.rows, "confidence")
        return Boosted(confidence(values, self.weight))

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """The confidence."""
        return {"confidence": numbers(ctx.view, slate.rows, "confidence")}
