"""The lane `by`: all records of the selection, ordered by one attribute."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.core.validation import Bounds
from memoriter.index.columns import NUMBER_COLUMNS, TIME_COLUMNS
from memoriter.index.reads import numbers
from memoriter.index.ties import ATTRIBUTES, tie_keys
from memoriter.lanes.port import Context, Lane, Miss, Ready, Skipped, plain_evidence
from memoriter.lanes.spec import option
from memoriter.rank.top import top


class ByLane(Lane):
    """Every record of the selection, ordered by one of its attributes."""

    about: ClassVar[str] = "all records, ordered by an attribute"

    kind: Literal["by"]
    by: Annotated[str, Bounds(pattern=r"^-?[a-z][a-z0-9_.]{0,63}$")] = option(
        "attribute to order by, smallest value first; a leading `-` means largest value first"
    )
    flat: bool = option(
        "whether every record scores 0, so that only the order counts", default=False
    )
    then: tuple[str, ...] = option(
        "attributes that order records with the same value of `by`; allowed only if `flat` is true",
        (),
    )
    blank: bool = option(
        "whether the lane answers only empty questions; it then finds nothing for a question with"
        " text",
        default=False,
    )
    pool: int = option("how many candidates the lane returns at most", 100_000, ge=1, le=10_000_000)

    def check(self) -> None:
        """`by` and `then` must name attributes that can be ranked."""
        known = ATTRIBUTES if self.flat else (*NUMBER_COLUMNS, *TIME_COLUMNS)
        if self.by.removeprefix("-") not in known:
            raise ValueError(f"by: {self.by!r} is not one of {', '.join(known)}")
        if self.then and not self.flat:
            raise ValueError(
                "then: is allowed only if `flat` is true: set `flat = true`, or remove `then` and"
                " order equal scores by the recipe's `ties`"
            )
        if unknown := [name for name in self.then if name.removeprefix("-") not in ATTRIBUTES]:
            raise ValueError(f"then: {unknown[0]!r} is not one of {', '.join(ATTRIBUTES)}")

    @classmethod
    def for_list(cls, value: object) -> dict[str, object] | None:
        """The name of an attribute, whose largest values come first."""
        return {"kind": cls.kind_name(), "by": f"-{value}"} if isinstance(value, str) else None

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready; a blank-only lane returns nothing for a query with text."""
        del ctx
        shows = {"by": self.by, "flat": self.flat, "pool": self.pool}
        return Ready({**shows, "blank": True} if self.blank else shows)

    def rank(self, ctx: Context) -> Ranking:
        """Records that have the attribute; all records if `flat`."""
        if self.blank and ctx.query.text.strip():
            return Ranking.empty()
        rows = ctx.selection.rows(ctx.view)
        if self.flat:
            order = top(np.zeros(rows.size), rows, self.pool, tie_keys(ctx.view, self.ties))
            return Ranking(rows[order], np.zeros(order.size))
        values = numbers(ctx.view, rows, self.by.removeprefix("-"))
        rows, values = rows[~np.isnan(values)], values[~np.isnan(values)]
        # Scores sort descending, so "smallest first" is negated; 0.0 - x avoids a negative zero.
        scores = values if self.by.startswith("-") else 0.0 - values
        order = ctx.best(scores, rows, self.pool)
        return Ranking(rows[order], scores[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The attribute of each row."""
        del ctx
        name = self.by.removeprefix("-")
        whole = not self.flat and name in ("cycle", "position", *TIME_COLUMNS)
        return plain_evidence(name, ranking, rows, whole=whole)

    def missed(self, ctx: Context, row: int) -> Miss:
        """The record lacks the attribute."""
        del ctx, row
        return Miss("it does not have that attribute")

    @property
    def ties(self) -> tuple[str, ...]:
        """The attributes that decide the order, if all scores are 0."""
        return (self.by, *self.then) if self.flat else ()
