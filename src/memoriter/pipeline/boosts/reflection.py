"""The boost `reflection`: multiplies the score of reflections by a factor."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.reads import strings
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, Op


class ReflectionBoost(Boost):
    """The score of a reflection times a factor; other records keep theirs."""

    about: ClassVar[str] = "a factor for reflections"

    kind: Literal["reflection"]
    factor: float = option(
        "the score of a reflection (a summary of other memories) is multiplied by this factor; 1:"
        " no change",
        1.0,
        ge=0.0,
        le=1000.0,
        always=True,
    )

    @property
    def op(self) -> Op:
        """The score is multiplied."""
        return "product"

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The factor, where a record is a reflection."""
        kinds = strings(ctx.view, slate.rows, "kind")
        is_reflection = np.array([kind == "reflection" for kind in kinds], np.bool_)
        return Boosted(np.where(is_reflection, self.factor, np.nan))
