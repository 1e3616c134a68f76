"""A lane: what somebody pinned, newest first."""

from __future__ import annotations

from typing import ClassVar, Literal

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context, Lane, Ready, Skipped, plain_evidence
from memoriter.lanes.spec import option


class Pinned(Lane):
    """Pinned records that may be found, by their position."""

    about: ClassVar[str] = "records that somebody pinned, newest first"

    kind: Literal["pinned"]
    pool: int = option("maximum candidates", 100, ge=1, le=10_000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready."""
        del ctx
        return Ready({"pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The pinned rows of the selection."""
        rows = ctx.selection.rows(ctx.view)
        rows = rows[numbers(ctx.view, rows, "pinned") == 1.0]
        scores = numbers(ctx.view, rows, "position") + 1.0
        order = ctx.best(scores, rows, self.pool)
        return Ranking(rows[order], scores[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The place of each record among all."""
        del ctx
        return plain_evidence("position", ranking, rows)
