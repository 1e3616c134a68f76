"""Runs a plan: lanes, first pass, second pass, orderings, limit, budget.

`run_plan` reads top to bottom; each stage takes the slate of the one before. Called by
`memory/search.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Attempt, Ranking, Rows
from memoriter.core.slate import FIRST, Slate
from memoriter.kernel.jobs import AboutFound, Started, all_started
from memoriter.lanes.kernel_lane import KernelLane
from memoriter.lanes.port import Context, Seeded, Skipped
from memoriter.pipeline.candidates import Candidates, complete
from memoriter.pipeline.first_pass import Scored, first_pass
from memoriter.pipeline.orderings.budget import fit_budget
from memoriter.pipeline.orderings.port import Moved, apply_move
from memoriter.pipeline.plan import Plan, plan_after
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import (
    RELEVANCE,
    Judged,
    QuestionFacts,
    question_facts,
)
from memoriter.pipeline.second_pass import AGAIN, RERANK, fused_again, reranked
from memoriter.pipeline.slate_relevance import slate_relevance
from memoriter.pipeline.steps import BUDGET, PlanStep
from memoriter.pipeline.threshold import outside_pools
from memoriter.pipeline.waves import seed_rows

_MS: Final = 1000.0


class Stopwatch:
    """Records the time since the last lap under a name: for people, never for the answer."""

    def __init__(self, **before: float) -> None:
        self.laps = dict(before)
        """Milliseconds by name, in the order of the first lap of each."""
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Add the time since the last lap to this name."""
        self.lap_of({name: 1.0})

    def lap_of(self, shares: Mapping[str, float]) -> None:
        """Add the time since the last lap to some names, by the share of each."""
        now, whole = time.perf_counter(), sum(shares.values())
        for name, share in shares.items():
            own = share / whole if whole else 0.0
            self.laps[name] = self.laps.get(name, 0.0) + own * _MS * (now - self._last)
        self._last = now


class RowRelevance(NamedTuple):
    """The relevance of rows."""

    rows: Rows
    judged: Judged


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished search: the plan with row counts, the candidates, the slate."""

    plan: Plan
    candidates: Candidates
    """What the lanes found, and the scores of all lanes."""
    slate: Slate
    """The answer before limit and budget."""
    shown: Slate
    """The answer."""
    scored: Slate
    """Every candidate after the passes, before anything was dropped."""
    moves: Mapping[str, Moved] = field(default_factory=dict[str, Moved])
    """The move of each ordering, by step."""
    outcomes: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the reranker answered, by step: inputs of the receipt."""
    seeds: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """The seed rows, by lane."""
    question: QuestionFacts | None = None
    """What relevance depends on besides the scores; None if the recipe has none."""
    relevance: RowRelevance | None = None
    """How well each candidate answers, and what that is made from; None if the recipe has none."""
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    """Milliseconds by step, for people: no part of the answer or of its receipt."""

    @property
    def proposed(self) -> Mapping[str, Ranking]:
        """The ranking of each lane before the others' candidates were added."""
        return self.candidates.proposed

    @property
    def rankings(self) -> Mapping[str, Ranking]:
        """The ranking of each lane with all candidates; made when somebody looks."""
        return self.candidates.rankings


def run_plan(plan: Plan, ctx: Context, before: Ran | None = None) -> Ran:
    """Run a plan on the context it was made for.

    `before` is an earlier run on the same context, with another recipe: lanes that are the same in
    both do not run again.
    """
    watch = Stopwatch(select=ctx.selected_ms)
    proposed, seeds = run_lanes(plan, ctx, watch, before)
    plan = _with_skipped(
        plan,
        {
            label: f"no seeds: nothing was found by {', '.join(_seeding(plan, label))}"
            for label in plan.running
            if label not in proposed
        },
    )
    candidates = complete(plan.recipe, ctx, proposed, seeds, plan.boosting)
    scored = first_pass(plan.recipe, ctx, candidates, plan.boosting, watch.lap)
    first = scored.slate
    counts = {label: ranking.rows.size for label, ranking in proposed.items()}
    counts |= {"select": ctx.selection.count, FIRST: first.rows.size}
    rule = plan.recipe.relevance
    question = None if rule is None else question_facts(ctx, rule, proposed)
    relevance = None
    if question is not None:
        judged = slate_relevance(plan.recipe, ctx, question, first)
        relevance = RowRelevance(first.rows, judged)
        scored = Scored(first.with_details({RELEVANCE: judged.values}), scored.shows)
    watch.lap(FIRST)
    plan, scored, outcomes = _second_pass(plan, ctx, scored, proposed)
    if second := next((name for name in (AGAIN, RERANK) if plan.runs(name)), None):
        watch.lap(second)
    slate, moves = _ordered(plan, ctx, scored.slate, watch)
    counts |= {name: move.at.size for name, move in moves.items()}
    shown = _cut(ctx, slate, moves, counts)
    watch.lap("limit")
    shows = {**scored.shows, **{name: move.shows for name, move in moves.items()}}
    finish = _Finish(plan, ctx, proposed, first, counts=counts, shows=shows)
    return Ran(
        plan=plan_after(plan, {}, finish, _attempts(plan, proposed)),
        candidates=candidates,
        slate=slate,
        shown=shown,
        scored=scored.slate,
        moves=moves,
        outcomes=outcomes,
        seeds=seeds,
        question=question,
        relevance=relevance,
        timings=watch.laps,
    )


def _cut(ctx: Context, slate: Slate, moves: dict[str, Moved], counts: dict[str, int]) -> Slate:
    """The hits within the limit and the token budget; adds the move and the counts of both."""
    shown = slate.head(ctx.query.limit)
    counts["limit"] = shown.rows.size
    if ctx.query.budget:
        moves[BUDGET] = move = fit_budget(ctx, shown)
        shown = apply_move(shown, BUDGET, move)
        counts[BUDGET] = shown.rows.size
    return shown


def boosted_count(slate: Slate, label: str) -> int:
    """The number of candidates for which a boost has a value."""
    names = (f"boost.{label}", f"{label}.score")
    known = [slate.columns[name] for name in names if name in slate.columns]
    return int(max((~np.isnan(column)).sum() for column in known)) if known else 0


def _second_pass(
    plan: Plan, ctx: Context, scored: Scored, proposed: Mapping[str, Ranking]
) -> tuple[Plan, Scored, dict[str, object]]:
    """(plan, scored slate, outcomes) after the second pass, if there is one."""
    if plan.runs(AGAIN):
        return plan, fused_again(plan.recipe, ctx, scored, plan.boosting), {}
    if not plan.runs(RERANK):
        return plan, scored, {}
    scored, reranking = reranked(plan.recipe, ctx, scored, proposed, plan.boosting)
    if reranking.skipped is not None:
        plan = _with_skipped(plan, {RERANK: reranking.skipped}, missed=reranking.missed)
    return plan, scored, {RERANK: reranking.outcome}


def _ordered(
    plan: Plan, ctx: Context, slate: Slate, watch: Stopwatch
) -> tuple[Slate, dict[str, Moved]]:
    """(slate after all orderings and `min_score`, the move of each)."""
    moves: dict[str, Moved] = {}
    for name, ordering in plan.recipe.ordering_steps.items():
        if plan.runs(name):
            moves[name] = move = ordering.move(ctx, plan.recipe, slate)
            slate = apply_move(slate, name, move)
            watch.lap(name)
    # `min_score` is on the scale of the first pass: a reranker's scores are not comparable.
    floor = plan.recipe.final.min_score
    if floor is not None:
        move = Moved(np.flatnonzero(slate.first_score >= floor))
        moves["min_score"] = move
        slate = apply_move(slate, "min_score", move)
    least = plan.recipe.final.min_relevance
    if least is not None:
        moves["min_relevance"] = move = Moved(np.flatnonzero(slate.columns[RELEVANCE] >= least))
        slate = apply_move(slate, "min_relevance", move)
    return slate, moves


def run_lanes(
    plan: Plan, ctx: Context, watch: Stopwatch | None = None, before: Ran | None = None
) -> tuple[dict[str, Ranking], dict[str, Rows]]:
    """(rankings in the recipe's order, seed rows by lane); lanes run after those that seed them."""
    ranked: dict[str, Ranking] = {}
    seeds: dict[str, Rows] = {}
    watch = watch or Stopwatch()
    running = plan.running
    completes = plan.recipe.passes[0].complete
    boosts = (plan.recipe.boosts[label] for label in (plan.boosting if completes else ()))
    about_found = [about for boost in boosts for about in boost.about_found(ctx)]
    for wave in plan.recipe.waves:
        started: dict[str, Started[Ranking]] = {}
        for label in wave:
            lane = plan.recipe.lanes[label]
            if label not in running:
                continue
            if isinstance(lane, Seeded):
                seeding = _together(plan.recipe, ctx, lane, ranked) if lane.together else ranked
                seeds[label] = seed_rows(label, lane, ctx, seeding)
                # Without seeds the lane has no ranking at all; `run_plan` marks it as skipped.
                if not seeds[label].size:
                    continue
            reused = _reusable_ranking(plan, before, label, seeds)
            if reused is not None:
                ranked[label] = reused
            else:
                at = ctx.at(label, seeds, scores_further=completes)
                kernel = isinstance(lane, KernelLane)
                started[label] = lane.start(at) if kernel else Started(partial(lane.rank, at))
            watch.lap(label)
        _finish_lanes(started, ranked, watch, about_found)
    return {label: ranked[label] for label in running if label in ranked}, seeds


def _finish_lanes(
    started: Mapping[str, Started[Ranking]],
    ranked: dict[str, Ranking],
    watch: Stopwatch,
    about_found: Sequence[AboutFound],
) -> None:
    """Run the jobs of some lanes in one call of the kernel, then add the ranking of each lane."""
    if all_started(started.values()).asking(*about_found).run():
        watch.lap_of({name: sum(job.ms for job in each.jobs) for name, each in started.items()})
    for label, each in started.items():
        ranked[label] = each.finish()
        watch.lap(label)


def _reusable_ranking(
    plan: Plan, before: Ran | None, label: str, seeds: Mapping[str, Rows]
) -> Ranking | None:
    """The ranking that a lane gave before, if it would give the same again; else None."""
    if before is None or label not in before.proposed:
        return None
    then, now = before.plan.recipe, plan.recipe
    same_options = then.lanes[label] == now.lanes[label]
    same_completion = then.passes[0].complete == now.passes[0].complete
    same_seeds = label not in seeds or np.array_equal(before.seeds[label], seeds[label])
    same = same_options and same_completion and same_seeds
    return before.proposed[label] if same else None


def _together(
    recipe: Recipe, ctx: Context, lane: Seeded, ranked: Mapping[str, Ranking]
) -> dict[str, Ranking]:
    """The seeding lanes fused as in the first pass, as one ranking under the first label."""
    own = {
        label: ranked[label] for label in recipe.lanes if label in lane.seeds and label in ranked
    }
    if not own:
        return {}
    slate = first_pass(recipe, ctx, Candidates(own), ()).slate
    return {next(iter(own)): Ranking(slate.rows, slate.score)}


def _seeding(plan: Plan, label: str) -> tuple[str, ...]:
    lane = plan.recipe.lanes[label]
    return lane.seeds if isinstance(lane, Seeded) else ()


# -- the plan after it ran -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Finish:
    """What the steps of a plan that ran show; made when somebody looks."""

    plan: Plan
    ctx: Context
    proposed: Mapping[str, Ranking]
    first: Slate
    """The slate before the second pass: the proof is about it."""
    counts: Mapping[str, int]
    shows: Mapping[str, Mapping[str, object]]

    def __call__(self, steps: tuple[PlanStep, ...]) -> tuple[PlanStep, ...]:
        """The steps with the rows after each, what each shows and the attempts of lanes."""
        plan, first, proposed = self.plan, self.first, self.proposed
        rows = {**self.counts, **{name: boosted_count(first, name) for name in plan.boosting}}
        proof = outside_pools(plan.recipe, self.ctx, proposed, first.score, plan.boosting)
        shows = {**self.shows, FIRST: proof}
        ranked = {label: ranking.shows for label, ranking in proposed.items()}
        return tuple(
            PlanStep(
                step.name,
                {**step.shows, **ranked.get(step.name, {}), **shows.get(step.name, {})},
                skipped=step.skipped,
                rows=rows.get(step.name, step.rows),
                attempts=proposed[step.name].attempts if step.name in proposed else step.attempts,
                idle=step.idle,
            )
            for step in steps
        )


def _attempts(plan: Plan, rankings: Mapping[str, Ranking]) -> tuple[Attempt, ...]:
    """The attempts of all lanes, in the order of the recipe."""
    ran = [rankings[label] for label in plan.recipe.lanes if label in rankings]
    return tuple(attempt for ranking in ran for attempt in ranking.attempts)


def _with_skipped(plan: Plan, reasons: Mapping[str, str], *, missed: bool = False) -> Plan:
    """The plan with steps marked as skipped that had nothing to do, or (`missed`) that failed."""
    if not reasons:
        return plan
    skipped = {name: Skipped(reason, idle=not missed) for name, reason in reasons.items()}
    return plan_after(
        plan,
        skipped,
        lambda steps: tuple(
            replace(s, skipped=reasons[s.name], idle=not missed) if s.name in reasons else s
            for s in steps
        ),
    )
