"""Does the question ask when or how long, and does a record have words for a time?

"When did Ann move?" is answered by a record with a weekday, a month, a date, a clock time or "ago",
and rarely by one without. A long text has such a word somewhere, so it gains less.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import numbers, text_lengths
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap
from memoriter.text.time_words import asks_when


class DatedBoost(Boost):
    """Plus the weight for records with words for a time, when the question asks for one."""

    about: ClassVar[str] = "records with words for a time, when the question asks when or how long"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"times": "whether it has words for a time"}
    )

    kind: Literal["dated"]
    weight: float = option(
        "score that a record gains if its text names a time, such as Monday or 7:30; applies only"
        " if the question asks when or how long",
        0.1,
        ge=0.0,
        le=1000.0,
    )
    words: int = option(
        "length in words above which a record gains less; the gain of a longer record is"
        " multiplied by `words` / length",
        80,
        ge=1,
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question asks when or how long."""
        if not asks_when(ctx.query.text):
            return Skipped("the question asks for no time", idle=True)
        return super().ready(ctx)

    def largest_gain(self, best: float) -> float:
        """The weight."""
        del best
        return self.weight

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The weight, less for a long record, with a mark beside it."""
        mark = numbers(ctx.view, slate.rows, "text.times")
        mark[mark == 0.0] = np.nan
        short = np.minimum(1.0, self.words / text_lengths(ctx.view, slate.rows))
        return Boosted(snap(self.weight * short * mark), {"times": mark})

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """How long the text of each record is, in words."""
        return {"words": text_lengths(ctx.view, slate.rows)}
