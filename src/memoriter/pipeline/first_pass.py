"""The first pass: lanes are fused into one score per candidate, boosts change it, rows are sorted.

Every function takes a slate and returns one with more columns; no column is overwritten. `run`
calls `first_pass`; the second pass uses `Boosting`, `fused` and `order_of` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby

import numpy as np

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows, Scores, among
from memoriter.core.slate import FIRST, Op, Slate, Step
from memoriter.index.ties import ATTRIBUTES, tie_key
from memoriter.lanes.port import Context, RunningPart
from memoriter.pipeline.candidates import Candidates
from memoriter.pipeline.fusing import Fused, Signals
from memoriter.pipeline.recipe import Recipe
from memoriter.rank.top import by_row, top


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored and sorted slate, and by boost what the plan shows for it."""

    slate: Slate
    shows: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )


def first_pass(
    recipe: Recipe,
    ctx: Context,
    candidates: Candidates,
    boosts: Sequence[str],
    lap: Callable[[str], None] = lambda name: None,
) -> Scored:
    """Fuse lanes and weighted boosts, apply the other boosts, sort.

    `boosts` are the labels of those that can run; `lap` records the time of each, for people.
    """
    rankings = candidates.rankings
    pass_ = recipe.passes[0]
    fuse = recipe.fusion(has_model=ctx.has_model)
    slate = candidates.slate()
    lanes = [label for label in rankings if not recipe.lanes[label].brings]
    scaled = {
        f"{label}.scaled": made
        for label in lanes
        if (made := fuse.scaled(label, slate.columns[f"{label}.score"], rankings[label].coverage))
        is not None
    }
    slate = slate.with_details(scaled)
    # Rows that only a lane without scores (`brings`) added are no candidates yet: a weighted boost
    # alone must not lift them into the answer.
    candidate = _any(slate, [f"{label}.score" for label in lanes])
    work = Boosting(recipe, ctx, {}, candidates.counted, lap)
    fused_boosts = [label for label in recipe.fused if label in boosts]
    for label in fused_boosts:
        slate = work.with_values(slate, label, f"{label}.score", candidate)
    labels = [*lanes, *fused_boosts]
    inputs = [f"{n}.scaled" if f"{n}.scaled" in scaled else f"{n}.score" for n in labels]
    signals = Signals(
        labels,
        _stacked(slate, inputs),
        _stacked(slate, [f"{label}.rank" for label in labels]),
        np.array([label not in rankings or rankings[label].rows.size > 0 for label in labels]),
    )
    slate = fused(slate, FIRST, labels, fuse.fuse(signals))
    applied = [label for label in pass_.boosts if label in boosts or label in rankings]
    slate = work.applied(slate, FIRST, applied)
    # Rows that still have no score were added by such a lane and no boost scored them. Support was
    # scored only for the boosts.
    stays = ~np.isnan(slate.score)
    if candidates.support:
        stays &= among(candidates.rows, slate.rows)
    slate = slate if stays.all() else slate.take(np.flatnonzero(stays))
    return Scored(_sorted(slate, ctx, pass_.ties or recipe.ties), work.shows)


def _any(slate: Slate, names: Sequence[str]) -> Mask:
    """Rows with a value in at least one of these columns."""
    if not names:
        return np.zeros(slate.rows.size, np.bool_)
    return np.logical_or.reduce(~np.isnan(_stacked(slate, names)), axis=0)


def _stacked(slate: Slate, names: Sequence[str]) -> np.ndarray:
    none = np.full(slate.rows.size, np.nan)
    if not names:
        return none[None, :][:0]
    return np.stack([slate.columns.get(name, none) for name in names])


def fused(slate: Slate, stage: str, labels: Sequence[str], made: Fused) -> Slate:
    """The slate with the contribution of each signal and, as column `stage`, their sum."""
    details = {
        f"{label}.{key}": matrix[at]
        for key, matrix in made.details.items()
        for at, label in enumerate(labels)
        if not np.isnan(matrix[at]).all() and f"{label}.{key}" not in slate.columns
    }
    inputs = tuple(f"{stage}.{label}" for label in labels)
    new = dict(zip(inputs, made.contributions, strict=True))
    if not inputs:  # no lane ran: there is no candidate either
        return replace(
            slate,
            columns={**slate.columns, stage: np.full(slate.rows.size, np.nan)},
            steps=(*slate.steps, Step(stage, "sum", (), stage)),
        )
    return slate.with_details(details).scored(Step(stage, "sum", inputs, stage), new)


class Boosting:
    """Applies boosts to a slate; each is computed once per search."""

    def __init__(
        self,
        recipe: Recipe,
        ctx: Context,
        shows: dict[str, Mapping[str, object]],
        counted: Mapping[str, Rows] | None = None,
        lap: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._recipe = recipe
        self._lap = lap
        self._ctx = ctx
        self.shows = shows
        self._counted = counted or {}

    def with_values(self, slate: Slate, label: str, column: str, where: Mask) -> Slate:
        """The slate with a boost's values, limited to some rows, and its detail columns."""
        self._lap(FIRST)  # so far
        running = RunningPart(label, counted=self._counted.get(label))
        made = self._recipe.boosts[label].boost(self._ctx.running_as(running), slate)
        self.shows[label] = made.shows
        details = {f"{label}.{key}": values for key, values in made.details.items()}
        values = np.where(where, made.values, np.nan)
        self._lap(label)
        return slate.with_details({column: values, **details})

    def applied(self, slate: Slate, stage: str, labels: Sequence[str]) -> Slate:
        """The slate after these boosts; consecutive boosts with the same operation are one step."""
        base = stage
        for n, group in enumerate(self._groups(labels)):
            op = self._op(group[0])
            names: list[str] = []
            for label in group:
                name = self._column(label)
                if name not in slate.columns:
                    # "max" may score a row that fusion left without one (lane `sources`).
                    known = ~np.isnan(slate.columns[base])
                    where = known if op != "max" else np.ones(known.size, np.bool_)
                    slate = self.with_values(slate, label, name, where)
                names.append(name)
                counted = self._counted.get(label, slate.rows)
                if counted is not slate.rows:  # nobody reads the others from here on
                    read = among(counted, slate.rows)
                    slate = slate if read.all() else slate.take(np.flatnonzero(read))
            known = ~np.isnan(slate.columns[base])
            masked = [self._masked(slate, name, f"{stage}.{name}", known, op) for name in names]
            new = {name: values for name, values in masked if name not in slate.columns}
            out = f"{stage}.boosted" if n == 0 else f"{stage}.boosted.{n + 1}"
            inputs = (base, *(name for name, _ in masked))
            slate = slate.scored(Step("boosted", op, inputs, out), new)
            base = out
        return slate

    def _masked(
        self, slate: Slate, name: str, other: str, known: Mask, op: Op
    ) -> tuple[str, Scores]:
        """(name, values) of a column; a masked copy as `other` if some rows have no score."""
        values = slate.columns[name]
        if op == "max" or not (~np.isnan(values) & ~known).any():
            return name, values
        return other, np.where(known, values, np.nan)

    def _groups(self, labels: Sequence[str]) -> list[list[str]]:
        """Consecutive labels with one operation; one that reads the score starts a new group."""
        at = 0
        marks: list[tuple[int, str]] = []
        for label in labels:
            boost = self._recipe.boosts.get(label)
            at += boost is not None and boost.reads_score
            marks.append((at, label))
        grouped = groupby(marks, key=lambda mark: (mark[0], self._op(mark[1])))
        return [[label for _, label in group] for _, group in grouped]

    def _op(self, label: str) -> Op:
        boost = self._recipe.boosts.get(label)
        return "sum" if boost is None else boost.op

    def _column(self, label: str) -> str:
        return f"{label}.score" if label in self._recipe.lanes else f"boost.{label}"


def _sorted(slate: Slate, ctx: Context, ties: Sequence[str]) -> Slate:
    """All rows by score; ties by columns and record attributes."""
    order = order_of(slate, slate.score, ctx, ties)
    return slate.take(order, ctx.view.part(slate.rows, order))


def order_of(slate: Slate, scores: Scores, ctx: Context, ties: Sequence[str]) -> np.ndarray:
    """The places of the rows, best score first; ties by columns and record attributes."""

    def keys(rows: Rows) -> list[Scores]:
        order = np.argsort(slate.rows)
        at = order[np.searchsorted(slate.rows, rows, sorter=order)]
        out: list[Scores] = []
        for name in ties:
            bare, down = name.removeprefix("-"), name.startswith("-")
            if bare in ATTRIBUTES:
                out.append(tie_key(ctx.view, rows, name))
            elif bare in slate.columns:
                column = slate.columns[bare][at]
                out.append(np.where(np.isnan(column), np.inf, -column if down else column))
        return out

    plain = tuple(ties) == ("row",)
    return top(scores, slate.rows, scores.size, by_row if plain else keys)
