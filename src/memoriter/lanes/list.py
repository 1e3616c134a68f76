"""The lane `list`: a ranked list that comes with the call."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.port import Context, Lane, Miss, Ready, Skipped, plain_evidence
from memoriter.lanes.spec import option


class ListLane(Lane):
    """The caller's list that has this lane's label as its name."""

    about: ClassVar[str] = "a ranked list that comes with the call"
    listed: ClassVar[bool] = True

    kind: Literal["list"]
    pool: int = option("how many candidates the lane returns at most", 100_000, ge=1, le=10_000_000)

    @classmethod
    def for_list(cls, value: object) -> dict[str, object] | None:
        """A list of ids and scores."""
        return None if isinstance(value, str) else {"kind": cls.kind_name()}

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the call brings the list."""
        if ctx.label not in ctx.call.lists:
            return Skipped("the call has no list of this name", idle=True)
        return Ready({"given": int(ctx.call.lists[ctx.label][0].size), "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The rows of the list that are in the selection, by the caller's scores."""
        rows, scores = ctx.call.lists[ctx.label]
        places = np.isin(rows, ctx.selection.rows(ctx.view))
        rows, scores = rows[places], scores[places]
        order = ctx.best(scores, rows, self.pool)
        left_out = int((~places).sum())
        shows = {"outside the filter": left_out} if left_out else {}
        return Ranking(rows[order], scores[order], shows=shows)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The caller's score of each row."""
        pairs = ctx.query.lists.get(ctx.label, ())
        whole = all(isinstance(score, int) for _, score in pairs)
        return plain_evidence("given", ranking, rows, whole=whole)

    def missed(self, ctx: Context, row: int) -> Miss:
        """The list does not name the record."""
        del ctx, row
        return Miss("it is not on the list")
