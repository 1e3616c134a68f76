"""The engine on one screen: lanes, passes, orderings. Reads top to bottom; nothing flows back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from memoriter.core.ranking import Ranking, Rows
from memoriter.core.slate import Slate, pass_of
from memoriter.lanes.port import Context, Seeded
from memoriter.pipeline.first_pass import FIRST, FirstPass, first_pass
from memoriter.pipeline.orderings.budget import within
from memoriter.pipeline.orderings.port import Moved, moved
from memoriter.pipeline.outcome import counted, noted, without
from memoriter.pipeline.plan import BUDGET, Plan, named
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.second_pass import AGAIN, RERANK, fused_again, reranked
from memoriter.pipeline.waves import starts, waves_of


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished search: the plan with its counts, each lane's ranking, the slate."""

    plan: Plan
    rankings: Mapping[str, Ranking]
    slate: Slate
    """The answer before its limit."""
    shown: Slate
    """The answer."""
    scored: Slate
    """Every candidate after the passes, before anything was dropped."""
    moves: Mapping[str, Moved] = field(default_factory=dict[str, Moved])
    """What each ordering did."""
    outcomes: Mapping[str, object] = field(default_factory=dict[str, object])
    """What effects answered while it ran."""
    seeds: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """The rows that lanes started from."""


def run(plan: Plan, ctx: Context) -> Ran:
    """Run a plan on the context it was made for."""
    rankings, seeds = _waves(plan, ctx)
    plan = without(
        plan,
        {
            label: f"no seeds: nothing was found by {', '.join(_seeding(plan, label))}"
            for label in plan.running
            if label not in rankings
        },
    )
    scored = first_pass(plan.recipe, ctx, rankings, plan.boosting)
    counts = {label: ranking.rows.size for label, ranking in rankings.items()}
    counts |= {"select": ctx.selection.count, "fuse": scored.slate.rows.size}
    counts |= {label: spoken(scored.slate, label) for label in plan.boosting}
    plan, scored, outcomes = _second_pass(plan, ctx, scored, rankings)
    slate, moves = _ordered(plan, ctx, scored.slate)
    counts |= {name: move.at.size for name, move in moves.items()}
    shown = slate.head(ctx.query.limit)
    counts["limit"] = shown.rows.size
    if ctx.query.budget:
        moves[BUDGET] = move = within(ctx, shown)
        shown = moved(shown, BUDGET, move)
        counts[BUDGET] = shown.rows.size
    notes = {**scored.noted, **{name: move.noted for name, move in moves.items()}}
    plan = noted(counted(plan, counts, rankings), notes)
    return Ran(plan, rankings, slate, shown, scored.slate, moves, outcomes, seeds)


def spoken(slate: Slate, label: str) -> int:
    """Of how many candidates a boost says something."""
    names = (f"boost.{label}", f"{label}.score")
    known = [slate.columns[name] for name in names if name in slate.columns]
    return int(max((~np.isnan(column)).sum() for column in known)) if known else 0


def _second_pass(
    plan: Plan, ctx: Context, scored: FirstPass, rankings: Mapping[str, Ranking]
) -> tuple[Plan, FirstPass, dict[str, object]]:
    """The plan, the slate and the outcomes after the second pass, where there is one."""
    if plan.runs(AGAIN):
        return plan, fused_again(plan.recipe, ctx, scored, plan.boosting), {}
    if not plan.runs(RERANK):
        return plan, scored, {}
    scored, judged = reranked(plan.recipe, ctx, scored, rankings, plan.boosting)
    if judged.skipped is not None:
        plan = without(plan, {RERANK: judged.skipped}, missed=judged.missed)
    return plan, scored, {RERANK: judged.outcome}


def _ordered(plan: Plan, ctx: Context, slate: Slate) -> tuple[Slate, dict[str, Moved]]:
    """The slate after every ordering, and what each did."""
    moves: dict[str, Moved] = {}
    for name, ordering in named(plan.recipe).items():
        if plan.runs(name):
            moves[name] = move = ordering.move(ctx, plan.recipe, slate)
            slate = moved(slate, name, move)
    floor = plan.recipe.final.min_score
    if floor is not None:
        move = Moved(np.flatnonzero(first_scores(slate) >= floor))
        moves["min_score"] = move
        slate = moved(slate, "min_score", move)
    return slate, moves


def first_scores(slate: Slate) -> np.ndarray:
    """The scores that the first pass gave."""
    steps = tuple(step for step in slate.steps if pass_of(step.out) == FIRST)
    return replace(slate, steps=steps).score


def _waves(plan: Plan, ctx: Context) -> tuple[dict[str, Ranking], dict[str, Rows]]:
    """(what the lanes found, in the recipe's order; what they started from)."""
    ranked: dict[str, Ranking] = {}
    seeds: dict[str, Rows] = {}
    running = plan.running
    for wave in waves_of(plan.recipe.lanes):
        for label in wave:
            lane = plan.recipe.lanes[label]
            if label not in running:
                continue
            if isinstance(lane, Seeded):
                seeding = _together(plan.recipe, ctx, lane, ranked) if lane.together else ranked
                seeds[label] = starts(label, lane, ctx, seeding)
                if not seeds[label].size:
                    continue
            ranked[label] = lane.rank(ctx.at(label, seeds))
    return {label: ranked[label] for label in running if label in ranked}, seeds


def _together(
    recipe: Recipe, ctx: Context, lane: Seeded, ranked: Mapping[str, Ranking]
) -> dict[str, Ranking]:
    """What some lanes found, fused as the first pass does, in place of the first of them."""
    own = {
        label: ranked[label] for label in recipe.lanes if label in lane.seeds and label in ranked
    }
    if not own:
        return {}
    slate = first_pass(recipe, ctx, own, ()).slate
    return {next(iter(own)): Ranking(slate.rows, slate.score)}


def _seeding(plan: Plan, label: str) -> tuple[str, ...]:
    lane = plan.recipe.lanes[label]
    return lane.seeds if isinstance(lane, Seeded) else ()
