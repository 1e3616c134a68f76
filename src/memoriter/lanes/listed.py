"""Rankings that no search makes: a list that comes with the call, or all records by one column."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.index.columns import NUMBER_COLUMNS, TIME_COLUMNS
from memoriter.index.reads import numbers
from memoriter.index.ties import ATTRIBUTES, ties_of
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import Spec
from memoriter.rank.top import top


class Listed(Spec):
    """A list of the caller's own, under this lane's label."""

    kind: Literal["list"]
    enabled: bool = True
    pool: int = Field(default=100_000, ge=1, le=10_000_000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the call brings the list."""
        if ctx.label not in ctx.lists:
            return Skipped("the call brings no such list", idle=True)
        return Ready({"given": int(ctx.lists[ctx.label][0].size), "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """The rows of the list that may be found, by the caller's scores."""
        rows, scores = ctx.lists[ctx.label]
        places = np.isin(rows, ctx.selection.rows(ctx.reading))
        rows, scores = rows[places], scores[places]
        order = ctx.best(scores, rows, self.pool)
        left_out = int((~places).sum())
        noted = {"outside the filter": left_out} if left_out else {}
        return Ranking(rows[order], scores[order], noted=noted)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The caller's score of each row."""
        pairs = ctx.query.lists.get(ctx.label, ())
        return _told("given", ranking, rows, whole=all(isinstance(s, int) for _, s in pairs))


class By(Spec):
    """Every record that may be found, by one of its attributes."""

    kind: Literal["by"]
    enabled: bool = True
    by: Annotated[str, Field(pattern=r"^-?[a-z][a-z0-9_.]{0,63}$")]
    """The attribute, smallest first; a leading minus turns it round."""
    flat: bool = False
    """Whether all score 0 and only their order counts; else the attribute is the score."""
    blank: bool = False
    """Whether it answers blank questions alone, and finds nothing for any other."""
    pool: int = Field(default=100_000, ge=1, le=10_000_000)

    @model_validator(mode="after")
    def _can_be_ranked(self) -> Self:
        known = ATTRIBUTES if self.flat else (*NUMBER_COLUMNS, *TIME_COLUMNS)
        if self.by.removeprefix("-") not in known:
            raise ValueError(f"by: {self.by!r} is not one of {', '.join(known)}")
        return self

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready."""
        del ctx
        told = {"by": self.by, "flat": self.flat, "pool": self.pool}
        return Ready({**told, "blank": True} if self.blank else told)

    def rank(self, ctx: Context) -> Ranking:
        """Records that have the attribute; all of them where only the order counts."""
        if self.blank and ctx.query.text.strip():
            return Ranking.empty()
        rows = ctx.selection.rows(ctx.reading)
        if self.flat:
            order = top(np.zeros(rows.size), rows, self.pool, ties_of(ctx.reading, [self.by]))
            return Ranking(rows[order], np.zeros(order.size))
        values = numbers(ctx.reading, rows, self.by.removeprefix("-"))
        rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
        scores = values if self.by.startswith("-") else 0.0 - values
        order = ctx.best(scores, rows, self.pool)
        return Ranking(rows[order], scores[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The attribute of each row."""
        del ctx
        name = self.by.removeprefix("-")
        whole = not self.flat and name in ("cycle", "position", *TIME_COLUMNS)
        return _told(name, ranking, rows, whole=whole)


def _told(name: str, ranking: Ranking, rows: Rows, *, whole: bool) -> list[Explanation]:
    """The score of each row; a whole number beside it, where it was one."""
    score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    facts = [{"number": int(score[row])} if whole else {} for row in rows.tolist()]
    return [
        Explanation(name, score[row], facts=told)
        for row, told in zip(rows.tolist(), facts, strict=True)
    ]
