"""The lane `sources`: adds the records that found reflections were made from, with score 0.

The boost of the same name gives them their score.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.port import Context, Miss, Ready, Seeded, Skipped
from memoriter.lanes.reflection_sources import sources_of
from memoriter.lanes.spec import option


class SourcesLane(Seeded):
    """The sources of reflections; the boost `sources` gives them their score."""

    about: ClassVar[str] = "records that the reflections among good hits were made from"
    brings: ClassVar[bool] = True

    kind: Literal["sources"]
    pool: int = option("how many candidates the lane returns at most", 1000, ge=1, le=100_000)
    kinds: tuple[str, ...] | None = option(
        "kinds of records that the lane may find; none: all kinds", None
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready: the reflections are known only when other lanes have run."""
        del ctx
        return Ready({"seeds": list(self.seeds), "seed_count": self.seed_count, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The sources, all with score 0."""
        sources = sources_of(ctx, ctx.seeds, self.kinds)
        rows = np.unique(sources.targets[sources.wanted])
        order = ctx.best(np.zeros(rows.size), rows, self.pool)
        return Ranking(rows[order], np.zeros(order.size))

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """A leaf of 0 for each row: the boost `sources` scores them."""
        del ctx, ranking
        return [Explanation("source of a reflection", 0.0) for _ in rows]

    def missed(self, ctx: Context, row: int) -> Miss:
        """No reflection among the seeds was made from the record."""
        del ctx, row
        return Miss("no reflection that was found was made from it")
