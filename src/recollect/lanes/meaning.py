"""Which records mean something like the query? Exact cosine over the selection, best part first."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Ranking, Rows
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Spec
from recollect.rank.grid import cosines, snap
from recollect.rank.top import top


class Meaning(Spec):
    """Cosine between the query's vector and each record's."""

    kind: Literal["vector"]
    enabled: bool = True
    pool: int = Field(ge=1, le=100_000)
    min_cosine: float = Field(ge=-1.0, le=1.0)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has a vector and the view has some to compare it with."""
        if isinstance(ctx.vector, Skipped):
            return ctx.vector
        found = sum(int(segment.arrays["vectors.rows"].size) for segment in ctx.reading.segments)
        if ctx.reading.total and not found:
            return Skipped("no record has a vector yet")
        return Ready({"min_cosine": self.min_cosine, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """Records with a vector, by the cosine of their best part."""
        rows = ctx.selection.rows(ctx.reading)
        best = np.full(rows.size, -np.inf)
        for at, scores in self._scored(ctx, rows):
            np.maximum.at(best, at, scores)
        found = best >= self.min_cosine
        order = top(best[found], rows[found], self.pool)
        return Ranking(rows[found][order], best[found][order])

    def _scored(
        self, ctx: Context, rows: Rows
    ) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """(places in rows, cosines) of every vector whose row is wanted and which the view sees."""
        out: list[tuple[NDArray[np.intp], NDArray[np.float64]]] = []
        query = cast("NDArray[np.float32]", ctx.vector)
        for segment in ctx.reading.segments if rows.size else ():
            owners = segment.arrays["vectors.rows"]
            seen = segment.arrays["vectors.seqs"] <= ctx.reading.seq
            at = np.minimum(np.searchsorted(rows, owners), rows.size - 1)
            wanted = seen & (rows[at] == owners)
            if wanted.any():
                matrix = segment.arrays["vectors.matrix"]
                out.append((at[wanted], snap(cosines(matrix[wanted], query))))
        return out

    def evidence(self, ctx: Context, rows: Rows) -> list[Explanation]:
        """Each row's cosine."""
        order = np.argsort(rows)
        best = np.full(rows.size, -np.inf)
        for at, scores in self._scored(ctx, rows[order]):
            np.maximum.at(best, order[at], scores)
        return [Explanation("cosine", float(value)) for value in best]
