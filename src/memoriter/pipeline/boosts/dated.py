"""Does the question ask when or how long, and does a record have words for a time?

"When did Ann move?" is answered by a record with a weekday, a month, a date, a clock time or "ago",
and rarely by one without.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, best_records
from memoriter.rank.grid import snap
from memoriter.text.time_words import asks_when, has_time_words


class DatedBoost(Boost):
    """Plus the weight for records with words for a time, when the question asks for one."""

    about: ClassVar[str] = "records with words for a time, when the question asks when or how long"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"times": "whether it has words for a time"}
    )
    reads_score: ClassVar[bool] = True

    kind: Literal["dated"]
    weight: float = option("what such a record gains", 0.1, ge=0.0, le=1000.0)
    head: int = option("maximum candidates looked at, the best first", 100, ge=1, le=10_000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question asks when or how long."""
        if not asks_when(ctx.query.text):
            return Skipped("the question asks for no time", idle=True)
        return Ready(self.shows())

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The weight, with a mark beside it."""
        mark = np.full(slate.rows.size, np.nan)
        for at, record in best_records(ctx, slate, self.head):
            if has_time_words(record.text):
                mark[at] = 1.0
        return Boosted(snap(self.weight * mark), {"times": mark})
