"""Which ordering dropped a row, why, and how it could have stayed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.ids import ids_of
from memoriter.index.reads import strings
from memoriter.lanes.port import Context
from memoriter.pipeline.orderings.cap import Cap
from memoriter.pipeline.orderings.collapse import Collapse
from memoriter.pipeline.orderings.mmr import Mmr
from memoriter.pipeline.orderings.port import Moved, Ordering, moved
from memoriter.pipeline.plan import BUDGET, named
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran, first_scores
from memoriter.why.change import Change


@dataclass(frozen=True, slots=True)
class Dropped:
    """Where a row was dropped, and what may keep it, the smallest change first."""

    stage: str
    reason: str
    options: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Before:
    """An ordering and what it was given."""

    ctx: Context
    recipe: Recipe
    slate: Slate
    move: Moved
    at: int
    """Where the row stood."""


def dropped(ran: Ran, ctx: Context, row: int) -> Dropped | None:
    """What dropped a candidate; None where nothing did."""
    recipe, slate = ran.plan.recipe, ran.scored
    orderings = list(named(recipe).items())
    for name, move in ran.moves.items():
        if name == BUDGET:  # it comes after the limit
            break
        at = int(np.flatnonzero(slate.rows == row)[0])
        if at not in move.at:
            before = _Before(ctx, recipe, slate, move, at)
            if name == "min_score":
                return _below(before)
            n = next(n for n, (label, _) in enumerate(orderings) if label == name)
            reason, options = _told(orderings[n][1], before, f"order.{n}")
            return Dropped(name, reason, (*options, _overriding(f"order.{n}.enabled", value=False)))
        slate = moved(slate, name, move)
    return None


def _overriding(path: str, value: object) -> Change:
    return {"overrides": {path: value}}


def _below(before: _Before) -> Dropped:
    score = float(first_scores(before.slate)[before.at])
    floor = before.recipe.final.min_score
    reason = f"its score of {score:.6g} lies below min_score = {floor:g}"
    return Dropped("min_score", reason, (_overriding("final.min_score", score),))


def _told(ordering: Ordering, before: _Before, path: str) -> tuple[str, list[Change]]:
    match ordering:
        case Cap():
            return _capped(ordering, before, path)
        case Collapse():
            return _collapsed(ordering, before, path)
        case Mmr():
            told = f"{before.move.at.size} rows were taken, and it was none of them"
            return told, [_overriding(f"{path}.drop", value=False)]
        case _:
            return "it was dropped there", []


def _capped(cap: Cap, before: _Before, path: str) -> tuple[str, list[Change]]:
    kinds = strings(before.ctx.reading, before.slate.rows[: before.at + 1], "kind")
    nth, window = kinds.count(cap.of), before.recipe.window
    most = int(cap.share * window)
    reason = f"it is {cap.of} number {nth}, and at most {most} are shown"
    share = nth / window
    while int(share * window) < nth:  # the quotient may lie a bit too low
        share = math.nextafter(share, math.inf)
    return reason, [_overriding(f"{path}.share", share)] if share <= 1.0 else []


def _collapsed(collapse: Collapse, before: _Before, path: str) -> tuple[str, list[Change]]:
    size = int(before.move.beside["group"][before.at])
    stands = [name for name in _standing(collapse, before) if name]
    told = f"{stands[0]} stands for it" if stands else "others stand for it"
    options: list[Change] = []
    for most in range(collapse.most + 1, size + 1):
        wider = collapse.model_copy(update={"most": most})
        if before.at in wider.move(before.ctx, before.recipe, before.slate).at:
            options.append(_overriding(f"{path}.most", most))
            break
    return f"{size} records are one by {collapse.by}: {told}", options


def _standing(collapse: Collapse, before: _Before) -> Iterator[str]:
    """The ids of rows that stayed and, looked at beside it, are one with it."""
    groups = before.move.beside["group"]
    alone = collapse.model_copy(update={"most": 1})
    for at in before.move.at.tolist():
        if groups[at] != groups[before.at]:
            continue
        pair = before.slate.take(np.array(sorted((at, before.at)), np.intp))
        if alone.move(before.ctx, before.recipe, pair).at.size == 1:
            yield ids_of(before.ctx.reading, before.slate.rows[[at]])[0]
