"""The boost `importance`: adds or subtracts by the distance of the importance from one half."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, lane_scores
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import importance


class ImportanceBoost(Boost):
    """(importance − ½) · `unmatched`, or · `matched` · the lane's score if it found the record."""

    about: ClassVar[str] = "an importance above ½ adds to the score, one below takes away"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"given": "the importance of the memory, 0 to 1"}
    )

    kind: Literal["importance"]
    lane: Label = option("lane whose raw scores the option `matched` multiplies", "words")
    matched: float = option(
        "factor for records that `lane` found; such a record gains factor · (importance − ½) ·"
        " raw score",
        0.3,
        ge=0.0,
        le=1000.0,
    )
    unmatched: float = option(
        "factor for records that `lane` did not find; such a record gains factor · (importance −"
        " ½)",
        0.1,
        ge=0.0,
        le=1000.0,
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Each row's gain or loss."""
        values = numbers(ctx.view, slate.rows, "importance")
        scores = lane_scores(slate, self.lane)
        return Boosted(importance(values, scores, self.matched, self.unmatched), {"given": values})
