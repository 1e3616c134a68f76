"""Every record that may be found, by its id: for answers that must leave nothing out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Ranking, Rows
from recollect.index.ids import ids_of
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Spec


class Listed(Spec):
    """All of the selection, each with a score of 0."""

    kind: Literal["listed"]
    enabled: bool = True
    pool: int = Field(ge=1, le=10_000_000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready."""
        del ctx  # a list needs nothing
        return Ready({"by": "id", "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The selection by id."""
        rows = ctx.selection.rows(ctx.reading)
        ids = ids_of(ctx.reading, rows)
        order = sorted(range(rows.size), key=ids.__getitem__)[: self.pool]
        return Ranking(rows[np.array(order, np.intp)], np.zeros(len(order)))

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Being there is all."""
        del ctx, ranking
        return [Explanation("listed", 0.0) for _ in rows]
