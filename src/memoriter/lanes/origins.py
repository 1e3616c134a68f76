"""What were the reflections made from that other lanes found? Brought in, without a score."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.sources import sources_of
from memoriter.lanes.spec import Seeded


class Origins(Seeded):
    """The sources of reflections; the boost `sources` gives them their score."""

    kind: Literal["sources"]
    enabled: bool = True
    pool: int = Field(default=1000, ge=1, le=100_000)
    kinds: tuple[str, ...] | None = None
    """Which kinds of records may be brought in; None for all."""
    brings: ClassVar[bool] = True

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready: whether there are reflections is seen when other lanes have run."""
        del ctx
        return Ready({"seeds": list(self.seeds), "seed_count": self.seed_count, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The sources, all alike."""
        found = sources_of(ctx, ctx.seeds, self.kinds)
        rows = np.unique(found.targets[found.wanted])
        order = ctx.best(np.zeros(rows.size), rows, self.pool)
        return Ranking(rows[order], np.zeros(order.size))

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """A source has no score of its own."""
        del ctx, ranking
        return [Explanation("source of a reflection", 0.0) for _ in rows]
