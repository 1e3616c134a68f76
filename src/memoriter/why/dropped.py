"""Which ordering dropped a row, why, and how it could have stayed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memoriter.lanes.port import Context
from memoriter.pipeline.orderings.port import Dropping, apply_move
from memoriter.pipeline.plan import BUDGET, ordering_steps
from memoriter.pipeline.run import Ran, first_scores
from memoriter.why.change import Change


@dataclass(frozen=True, slots=True)
class Drop:
    """Where a row was dropped, why, and what may keep it, the smallest change first."""

    stage: str
    reason: str
    options: tuple[Change, ...]


def dropped(ran: Ran, ctx: Context, row: int) -> Drop | None:
    """What dropped a candidate; None where nothing did."""
    recipe, slate = ran.plan.recipe, ran.scored
    orderings = list(ordering_steps(recipe).items())
    for name, move in ran.moves.items():
        if name == BUDGET:  # it comes after the limit
            break
        at = int(np.flatnonzero(slate.rows == row)[0])
        if at not in move.at:
            dropping = Dropping(ctx, recipe, slate, move, at)
            if name == "min_score":
                return _below(dropping)
            n = next(n for n, (label, _) in enumerate(orderings) if label == name)
            why = orderings[n][1].dropped(dropping)
            options = [_overriding(f"order.{n}.{key}", value) for key, value in why.options.items()]
            off = _overriding(f"order.{n}.enabled", value=False)
            return Drop(name, why.reason, (*options, off))
        slate = apply_move(slate, name, move)
    return None


def _overriding(path: str, value: object) -> Change:
    return {"overrides": {path: value}}


def _below(dropping: Dropping) -> Drop:
    score = float(first_scores(dropping.slate)[dropping.at])
    floor = dropping.recipe.final.min_score
    reason = f"its score of {score:.6g} lies below min_score = {floor:g}"
    return Drop("min_score", reason, (_overriding("final.min_score", score),))
