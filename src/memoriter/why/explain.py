"""Builds explanations of scores, ranks and relevance from the columns and steps of the slate.

It only reads what the pipeline wrote; there is no formula in this file. `why.answer` calls it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Rows
from memoriter.core.slate import Slate, pass_of, signal_of
from memoriter.lanes.spec import RecipePart
from memoriter.pipeline.orderings.budget import SIZES
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import RELEVANCE
from memoriter.pipeline.run import Ran
from memoriter.pipeline.stand_ins import OWED

KNOTS = "knots"
"""The fact that holds the two knots around the evidence of a relevance."""
FROM = ".from"
"""The suffix of columns that hold the rank of a row before a stage."""
_WHOLE = ("rank", OWED, *SIZES)
"""Details of the pipeline itself that are integers, although columns hold floats."""
Ids = Callable[[Rows], list[str]]
"""Rows → ids of their records."""


def explain_relevance(ran: Ran, row: int) -> Explanation | None:
    """The relevance of a candidate with its parts as facts; None if the recipe has none."""
    if ran.relevance is None:
        return None
    rows, judged = ran.relevance
    at = int(np.flatnonzero(rows == row)[0])
    parts = {
        name: float(values[at]) if isinstance(values, np.ndarray) else float(values)
        for name, values in judged.parts.items()
    }
    knots = [list(knot) for knot in judged.rule.knots_around(parts["evidence"])]
    return Explanation(RELEVANCE, float(judged.values[at]), facts={**parts, KNOTS: knots})


class Reasons:
    """Explains rows of one slate; its columns are grouped by owner once, for all rows."""

    def __init__(self, slate: Slate, recipe: Recipe, ids: Ids) -> None:
        self._steps = slate.steps
        self._ids = ids
        self._parts: dict[str, RecipePart] = {**recipe.boosts, **recipe.ordering_steps}
        """The boosts and orderings by the names that their details have."""
        self._columns = {key: column.tolist() for key, column in slate.columns.items()}
        self._inside = {key for step in slate.steps for key in (*step.inputs, step.out)}
        """Columns that are part of a score; the others are details about it."""
        self._facts: dict[str, dict[str, list[float]]] = {}
        """Owner → its details: name of the detail → column."""
        self._stages: dict[str, list[float]] = {}
        """Stage that moved rows → their ranks before it."""
        for key, column in self._columns.items():
            owner, _, detail = key.partition(".")
            if key.endswith(FROM):
                self._stages[key.removesuffix(FROM)] = column
            elif key not in self._inside:
                self._facts.setdefault(owner, {})[detail] = column

    def score(self, at: int) -> Explanation:
        """The score of the row at a place, as the tree of the columns that it was computed from.

        Parts without a value (NaN) are left out. The root is the last step with a value for the
        row: a row that the second pass did not score has the score of the first.
        """
        known: dict[str, Explanation] = {}
        root = Explanation("nothing", 0.0)
        for step in self._steps:
            value = self._columns[step.out][at]
            if math.isnan(value):
                continue
            parts = tuple(
                known.get(key) or self._leaf(key, at)
                for key in step.inputs
                if not math.isnan(self._columns[key][at])
            )
            root = known[step.out] = Explanation(step.stage, value, step.op, parts)
        return root

    def _leaf(self, key: str, at: int) -> Explanation:
        """The value of a column, with the details of its owner as facts."""
        owner = signal_of(key)
        facts = self._detailed(owner, self._facts.get(owner, {}), at)
        return Explanation(owner, self._columns[key][at], facts=facts)

    def _detailed(
        self, owner: str, columns: Mapping[str, list[float]], at: int
    ) -> dict[str, object]:
        """The details of an owner about a row: rows as ids, counts as integers."""
        part = self._parts.get(owner)
        rows = () if part is None else part.row_details
        whole = _WHOLE if part is None else (*_WHOLE, *part.whole_details)
        out: dict[str, object] = {}
        for detail, column in columns.items():
            value = column[at]
            if not math.isnan(value):
                number = int(value) if detail.rpartition(".")[2] in whole else value
                out[detail] = self._names[int(value)] if detail in rows else number
        return out

    @cached_property
    def _names(self) -> dict[int, str]:
        """The id of every row that some detail names, read at once."""
        rows: set[int] = set()
        for owner, columns in (*self._facts.items(), *self._details.items()):
            part = self._parts.get(owner)
            for detail in () if part is None else part.row_details:
                rows.update(int(row) for row in columns.get(detail, ()) if not math.isnan(row))
        known = sorted(rows)
        return dict(zip(known, self._ids(np.array(known, np.int64)), strict=True))

    def moves(self, at: int) -> dict[str, dict[str, object]]:
        """For each pass and ordering that moved rows, the row's rank before it and its details.

        A pass that gave the row a new score adds the score before and the new one.
        """
        out: dict[str, dict[str, object]] = {}
        for stage, ranks in self._stages.items():
            details = self._detailed(stage, self._details[stage], at)
            out[stage] = {"from": int(ranks[at]), **details, **self._rescored(stage, at)}
        return out

    def _rescored(self, stage: str, at: int) -> dict[str, float]:
        """The score before a pass and after it; empty if the pass did not score the row."""
        before, after = math.nan, math.nan
        for step in self._steps:
            value = self._columns[step.out][at]
            if pass_of(step.out) == stage:
                after = after if math.isnan(value) else value
            elif not math.isnan(value):
                before = value
        return {} if math.isnan(after) else {"before": before, "score": after}

    @cached_property
    def _details(self) -> dict[str, dict[str, list[float]]]:
        """Stage → its details."""
        out: dict[str, dict[str, list[float]]] = {stage: {} for stage in self._stages}
        for key, column in self._columns.items():
            stages = [stage for stage in self._stages if key.startswith(f"{stage}.")]
            if stages and not key.endswith(FROM) and key not in self._inside:
                owner = max(stages, key=len)  # `mmr.2.penalty` belongs to `mmr.2`, not to `mmr`
                out[owner][key.removeprefix(f"{owner}.")] = column
        return out
