"""Which records mean something like the query? Cosine over the selection, best part first.

Exact up to a number of vectors that the recipe names; above it, by codes first (`lanes.nearest`),
and the plan says so.
"""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Ranking, Rows
from recollect.index.held import holds
from recollect.lanes.nearest import Nearest, scan_of
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Spec
from recollect.rank.grid import snap


class Meaning(Spec):
    """Cosine between the query's vector and each record's."""

    kind: Literal["vector"]
    enabled: bool = True
    pool: int = Field(ge=1, le=10_000_000)
    min_cosine: float = Field(ge=-1.0, le=1.0)
    exact_up_to: int = Field(default=300_000, ge=0, le=2**31)
    """Of more vectors than these the best are found by codes: nearly all of them, much faster."""
    fresh: float = Field(default=1.0, ge=0.0, le=1000.0)
    """What a cosine counts when every record has its vector."""
    stale: float = Field(default=1.0, ge=0.0, le=1000.0)
    """What it counts when some have none yet."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has a vector and the view has some to compare it with."""
        if isinstance(ctx.vector, Skipped):
            return ctx.vector
        if ctx.reading.total and not holds(ctx.reading):
            return Skipped("no record has a vector yet")
        scan = scan_of(ctx.reading, ctx.selection.masks, self.exact_up_to)
        shows: dict[str, object] = {
            "min_cosine": self.min_cosine, "pool": self.pool, "scan": scan,
        }  # fmt: skip
        if behind := ctx.reading.behind:
            shows["vectors"] = f"{behind} row{'' if behind == 1 else 's'} behind"
        if (weight := self._weight(ctx)) != 1.0:
            shows["weight"] = weight
        return Ready(shows)

    def _weight(self, ctx: Context) -> float:
        return self.stale if ctx.reading.behind else self.fresh

    def rank(self, ctx: Context) -> Ranking:
        """Records with a vector, by the cosine of their best part."""
        query = cast("NDArray[np.float32]", ctx.vector)
        near = Nearest(ctx.reading, ctx.selection.masks, query)
        rows, cosines, scan = near.found(self.pool, self.min_cosine, self.exact_up_to)
        found = cosines >= self.min_cosine
        rows, cosines = rows[found], cosines[found]
        weighed = _weighed(cosines, self._weight(ctx))
        order = ctx.best(weighed, rows, self.pool)
        return Ranking(rows[order], weighed[order], noted={"scan": scan}, memo=cosines[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's cosine."""
        weight = self._weight(ctx)
        place = {row: at for at, row in enumerate(ranking.rows.tolist())}
        cosines = cast("NDArray[np.float64]", ranking.memo)
        leaves = [Explanation("cosine", float(cosines[place[row]])) for row in rows.tolist()]
        if weight == 1.0:
            return leaves
        return [
            Explanation(
                "meaning", float(ranking.scores[place[row]]), "product",
                (leaf, Explanation("freshness", weight)),
            )
            for row, leaf in zip(rows.tolist(), leaves, strict=True)
        ]  # fmt: skip


def _weighed(scores: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    return scores if weight == 1.0 else snap(weight * scores)
