"""The first pass: lanes are fused into one score per candidate, boosts change it, rows are sorted.

Every function takes a slate and returns one with more columns; no column is overwritten. `run`
calls `first_pass`; the second pass uses `Boosting`, `fused` and `order_of` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

import numpy as np

from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Matrix, Rows, Scores, among
from memoriter.core.slate import FIRST, ColumnOrLater, Op, Slate, Step
from memoriter.index.ties import ATTRIBUTES, tie_key
from memoriter.lanes.port import Context, RunningPart
from memoriter.pipeline.candidates import Candidates
from memoriter.pipeline.fusing import Fused, Fusion, Signals
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.stand_ins import OWED, stand_ins
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
    proposed = candidates.proposed
    pass_ = recipe.passes[0]
    fuse = recipe.fusion(has_model=ctx.has_model)
    slate = candidates.slate()
    lanes = [label for label in proposed if not recipe.lanes[label].brings]
    scaled = {
        label: made
        for label in lanes
        if (made := fuse.scaled(label, slate.columns[f"{label}.score"], proposed[label].coverage))
        is not None
    }
    slate, scaled = _stood_in(recipe, ctx, fuse, candidates=candidates, slate=slate, scaled=scaled)
    if scaled:
        slate = slate.with_details({f"{label}.scaled": made for label, made in scaled.items()})
    work = Boosting(recipe, ctx, {}, candidates.counted, lap)
    fused_boosts = [label for label in recipe.fused if label in boosts]
    if fused_boosts:
        # Rows that only a lane without scores (`brings`) added are no candidates yet: a weighted
        # boost alone must not lift them into the answer.
        raw = _stacked(slate, [f"{label}.score" for label in lanes])
        absent = np.logical_and.reduce(np.isnan(raw), axis=0)
        for label in fused_boosts:
            slate = work.with_values(slate, label, f"{label}.score", absent)
    labels = [*lanes, *fused_boosts]
    scores = [scaled[n] if n in scaled else slate.columns[f"{n}.score"] for n in labels]
    signals = Signals(
        labels,
        np.array(scores).reshape(len(labels), slate.rows.size),
        Later(partial(_stacked, slate, [f"{label}.rank" for label in labels])),
        np.array([label not in proposed or candidates.answered(label) for label in labels]),
    )
    slate = fused(slate, FIRST, labels, fuse.fuse(signals))
    applied = [label for label in pass_.boosts if label in boosts or label in proposed]
    slate = work.applied(slate, FIRST, applied)
    # Rows that still have no score were added by such a lane and no boost scored them. Rows beside
    # the candidates were scored only for the boosts.
    stays = ~np.isnan(slate.score)
    if candidates.scored_rows is not candidates.rows:
        stays &= among(candidates.rows, slate.rows)
    slate = slate if stays.all() else slate.take(np.flatnonzero(stays))
    return Scored(_sorted(slate, ctx, pass_.ties or recipe.ties), work.shows)


def _stood_in(
    recipe: Recipe,
    ctx: Context,
    fuse: Fusion,
    candidates: Candidates,
    slate: Slate,
    scaled: dict[str, Scores],
) -> tuple[Slate, dict[str, Scores]]:
    """(the slate with what is owed, the scaled scores with what stands for it)."""
    rows = slate.rows
    stand = stand_ins(recipe, ctx, fuse, scaled, answered=candidates.answered, rows=rows)
    if stand is None or not stand.by:
        return slate, scaled
    mean, out, details = stand.mean(scaled, rows.size), dict(scaled), dict[str, ColumnOrLater]()
    for label, mask in stand.owed.items():
        owed = mask & np.isnan(slate.columns[f"{label}.score"])
        if owed.any():
            details[f"{label}.{OWED}"] = np.where(owed, 1.0, np.nan)
            out[label] = np.where(owed, mean, scaled[label])
    return slate.with_details(details), out


def _stacked(slate: Slate, names: Sequence[str]) -> Matrix:
    """Some columns; NaN for one that does not exist."""
    out = np.full((len(names), slate.rows.size), np.nan)
    for own, name in zip(out, names, strict=True):
        if name in slate.columns:
            own[:] = slate.columns[name]
    return out


def fused(slate: Slate, stage: str, labels: Sequence[str], made: Fused) -> Slate:
    """The slate with the contribution of each signal and, as column `stage`, their sum."""
    inputs = tuple(f"{stage}.{label}" for label in labels)
    if not inputs:  # no lane ran: there is no candidate either
        return replace(
            slate,
            columns={**slate.columns, stage: np.full(slate.rows.size, np.nan)},
            steps=(*slate.steps, Step(stage, "sum", (), stage)),
        )
    new: dict[str, ColumnOrLater] = {}
    if made.weights is not None:
        empty = np.logical_and.reduce(np.isnan(made.contributions), axis=1)
        for n, label in enumerate(labels):
            if not empty[n] and f"{label}.weight" not in slate.columns:
                own, weight = made.contributions[n], float(made.weights[n])
                new[f"{label}.weight"] = Later(partial(_where_known, own, weight))
    if made.lifts is not None:
        for label, lift in zip(labels, made.lifts, strict=True):
            if not np.isnan(lift).all() and f"{label}.lift" not in slate.columns:
                new[f"{label}.lift"] = lift
    new |= zip(inputs, made.contributions, strict=True)
    return slate.scored(Step(stage, "sum", inputs, stage), new, made.contributions)


def _where_known(scores: Scores, value: float) -> Scores:
    """A value for each row that has a score."""
    return np.where(np.isnan(scores), np.nan, value)


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
        self._idle: set[str] = set()
        """Columns of boosts that apply to no row."""

    def with_values(self, slate: Slate, label: str, column: str, absent: Mask | None) -> Slate:
        """The slate with a boost's values, none for the absent rows, and its detail columns."""
        self._lap(FIRST)  # so far
        running = RunningPart(label, counted=self._counted.get(label))
        made = self._recipe.boosts[label].boost(self._ctx.changed(running=running), slate)
        self.shows[label] = made.shows
        values = made.values
        if not made.applies:
            self._idle.add(column)
        elif absent is not None:
            values = np.where(absent, np.nan, values)
        new = {column: values, **{f"{label}.{key}": v for key, v in made.details.items()}}
        self._lap(label)
        return slate.with_details(new)

    def applied(self, slate: Slate, stage: str, labels: Sequence[str]) -> Slate:
        """The slate after these boosts; consecutive boosts with the same operation are one step."""
        base = stage
        for n, group in enumerate(self._groups(labels)):
            op = self._op(group[0])
            names: list[str] = []
            absent = _absent(slate.columns[base])
            for label in group:
                name = self._column(label)
                if name not in slate.columns:
                    # "max" may score a row that fusion left without one (lane `sources`).
                    slate = self.with_values(slate, label, name, None if op == "max" else absent)
                names.append(name)
                counted = self._counted.get(label, slate.rows)
                if counted is not slate.rows:  # nobody reads the others from here on
                    read = among(counted, slate.rows)
                    if not read.all():
                        slate = slate.take(np.flatnonzero(read))
                        absent = _absent(slate.columns[base])
            masks = {} if op == "max" else self._masked(slate, names, absent)
            new = {f"{stage}.{name}": values for name, values in masks.items()}
            inputs = (base, *(f"{stage}.{name}" if name in masks else name for name in names))
            known = [name for name in inputs if name not in self._idle]
            out = f"{stage}.boosted" if n == 0 else f"{stage}.boosted.{n + 1}"
            slate = slate.scored(Step("boosted", op, inputs, out), new, known=known)
            base = out
        return slate

    def _masked(self, slate: Slate, names: Sequence[str], absent: Mask | None) -> dict[str, Scores]:
        """Those columns that have a value for an absent row, without these values."""
        if absent is None:
            return {}
        columns = {name: slate.columns[name] for name in names}
        return {
            name: np.where(absent, np.nan, values)
            for name, values in columns.items()
            if not np.isnan(values[absent]).all()
        }

    def _groups(self, labels: Sequence[str]) -> list[list[str]]:
        """Consecutive labels with one operation; one that reads the score starts a new group."""
        groups: list[list[str]] = []
        for label in labels:
            boost = self._recipe.boosts.get(label)
            reads = boost is not None and boost.reads_score
            if groups and not reads and self._op(label) == self._op(groups[-1][0]):
                groups[-1].append(label)
            else:
                groups.append([label])
        return groups

    def _op(self, label: str) -> Op:
        boost = self._recipe.boosts.get(label)
        return "sum" if boost is None else boost.op

    def _column(self, label: str) -> str:
        return f"{label}.score" if label in self._recipe.lanes else f"boost.{label}"


def _absent(scores: Scores) -> Mask | None:
    """The rows without a score; None if all have one."""
    absent = np.isnan(scores)
    return absent if absent.any() else None


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

    return top(scores, slate.rows, scores.size, by_row if tuple(ties) == ("row",) else keys)
