"""The interface of a boost: a number for each candidate that changes its score.

A boost neither adds nor removes candidates. A recipe either weights it together with its lanes, as
one more signal of a weighted fusion, or applies it to the score of a pass (`pass.boosts`).
`first_pass.Boosting` calls it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Rows, Scores
from memoriter.core.record import Record
from memoriter.core.slate import Op, Slate
from memoriter.core.validation import Bounds
from memoriter.index.reads import chain_length, numbers, strings
from memoriter.kernel.jobs import AboutFound
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import RecipePart, option
from memoriter.rank.decay import priority
from memoriter.rank.grid import snap
from memoriter.text.figures import NodeText


@dataclass(frozen=True, slots=True)
class Boosted:
    """A value per row of the slate, on the grid; NaN if the boost does not apply to a row."""

    values: Scores
    details: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Columns that explain the values, such as a distance or an age."""
    shows: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows for it after it ran."""
    applies: bool = True
    """False if no row has a value."""

    @classmethod
    def nothing(cls, size: int, *details: str) -> Boosted:
        """No value for any row; `details` are the columns that explain values."""
        none = np.full(size, np.nan)
        return cls(none, dict.fromkeys(details, none), applies=False)


class Boost(RecipePart, ABC):
    """A boost as a recipe declares it. Its annotated attributes are the recipe's options."""

    reads_score: ClassVar[bool] = False
    """Whether its values depend on the score so far. Such a boost starts a new step."""

    traced: ClassVar[tuple[str, ...]] = ()
    """What it shows in the plan that the flat trace of a search repeats."""

    enabled: bool = option("whether the boost runs", default=True)

    @property
    def excludes(self) -> str | None:
        """The label of a boost that must not run together with it."""
        return None

    @property
    def op(self) -> Op:
        """How its value is combined with the score."""
        return "sum"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run."""
        del ctx
        return self._ready

    @cached_property
    def _ready(self) -> Ready:
        return Ready(self.shows())

    def reads_scores_of(self, ctx: Context, rows: Rows) -> Rows:
        """The rows beside these whose scores its values depend on, whether candidates or not.

        A pass with `complete` scores them too, so that no value depends on the size of a pool.
        """
        del ctx, rows
        return np.zeros(0, np.int64)

    def asked_without(self, ctx: Context, question: str) -> str:
        """The question without the words that this boost reads and that need no embedding."""
        del ctx
        return question

    def largest_gain(self, best: float) -> float | None:
        """The most that it can add to any score if `best` is the highest; None if unknown."""
        del best
        return None

    def about_found(self, ctx: Context) -> tuple[AboutFound, ...]:
        """Jobs of the native kernel about what the lanes find; `boost` reads their results."""
        del ctx
        return ()

    @abstractmethod
    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """A value for each row of the slate."""

    def node_text(self, node: Explanation) -> NodeText:
        """The facts of its value; a record that the value comes from is shown as `from`."""
        facts = {"from" if key in self.row_details else key: v for key, v in node.facts.items()}
        return super().node_text(replace(node, facts=facts))

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """The numbers of records that its values follow from: columns `of.NAME` of the receipt."""
        del ctx, slate
        return {}


class ShareBoost(Boost):
    """A boost by a share between 0 and 1.

    Adds weight · share; with `alpha`, multiplies the score by 1 + alpha · (share − ½) instead.
    """

    weight: float = option(
        "score that a record with the share 1 gains; the boost gives each record a share from 0 to"
        " 1, and adds `weight` · share",
        1.0,
        ge=0.0,
        le=1000.0,
    )
    alpha: Annotated[float, Bounds(ge=0.0, le=1.0)] | None = option(
        "strength of the boost as a factor: the score is multiplied by 1 + `alpha` · (share − ½);"
        " if `alpha` is set, `weight` is not used",
        None,
    )

    @property
    def op(self) -> Op:
        """A product with `alpha`, else a sum."""
        return "sum" if self.alpha is None else "product"

    def worth(self, shares: Scores) -> Scores:
        """The value of each share, on the grid; without a share (NaN) the score does not change."""
        if self.alpha is None:
            return snap(self.weight * shares)
        return snap(1.0 + self.alpha * (np.where(np.isnan(shares), 0.5, shares) - 0.5))


def lane_scores(slate: Slate, label: str) -> Scores:
    """A lane's raw score of each row; NaN if it did not find the row, or did not run."""
    return slate.columns.get(f"{label}.score", np.full(slate.rows.size, np.nan))


def best_records(ctx: Context, slate: Slate, head: int) -> Iterator[tuple[int, Record]]:
    """(place in the slate, record) of the best candidates so far; one that is gone is left out.

    Each costs a read, so a boost that needs texts looks at the head only.
    """
    best = np.argsort(-np.nan_to_num(slate.score, nan=-np.inf), kind="stable")[:head]
    for at, record in zip(best.tolist(), ctx.fetch(slate.rows[best].tolist()), strict=True):
        if record is not None:
            yield at, record


def by_table(ctx: Context, slate: Slate, attribute: str, table: Mapping[str, float]) -> Scores:
    """The table's value for an attribute of each row; 0 for values that it does not name."""
    return priority(strings(ctx.view, slate.rows, attribute), table)


def positions_of(ctx: Context, slate: Slate) -> dict[str, Scores]:
    """Positions of the records and the number of records: inputs of a receipt."""
    count = float(chain_length(ctx.view))
    return {
        "position": numbers(ctx.view, slate.rows, "position"),
        "length": np.full(slate.rows.size, count),
    }
