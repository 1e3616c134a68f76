"""The trace of a search as flat data: modes, signals, attempts, counts, reranking, numbers.

`Result.trace` and `Result.signals` return it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoriter.pipeline.boosts.port import Boost
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.load import value_at

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan
    from memoriter.pipeline.steps import PlanStep


def signals_of(plan: Plan) -> tuple[str, ...]:
    """The lanes that ran and the boosts that touched a candidate, as the recipe names them.

    If the recipe names some of them, those are its signals, and the others are left out.
    """
    recipe = plan.recipe
    effective = {step.name for step in plan.steps if step.rows}
    lanes = [f"lanes.{label}" for label in plan.running]
    boosts = [f"boosts.{label}" for label in plan.boosting if label in effective]
    return tuple(recipe.called(path) for path in (*lanes, *boosts) if recipe.is_called(path))


def trace_of(plan: Plan) -> dict[str, object]:
    """The trace of a plan that ran."""
    recipe = plan.recipe
    steps = {step.name: step for step in plan.steps}
    return {
        "requested_mode": plan.mode,
        "effective_mode": _effective(plan),
        "status": plan.status,
        "fell_back": plan.fell_back,
        "signals": list(signals_of(plan)),
        "skipped": plan.skipped,
        **_traced(plan, steps),
        "used_retry": len(plan.attempts) > 1,
        "attempts": [attempt.to_dict() for attempt in plan.attempts],
        "embedder_used": any(recipe.lanes[label].generation == "vectors" for label in plan.running),
        **_reranking(steps.get("rerank")),
        "agreements": _shown(steps, "rerank", "agreements"),
        "counts": {s.name: s.rows for s in plan.steps if s.rows is not None},
        "numbers": _numbers(plan),
    }


def _effective(plan: Plan) -> str | None:
    """The mode whose lanes are exactly those that ran, the requested one first; else None."""
    recipe = plan.recipe
    fits = [
        name
        for name, mode in recipe.modes.items()
        if set(mode.lanes) == set(plan.running) and not mode.may_miss
    ]
    return plan.mode if plan.mode in fits else next(iter(fits), None)


def _traced(plan: Plan, steps: dict[str, PlanStep]) -> dict[str, object]:
    """What boosts show in the trace; None for what none of this recipe does."""
    boosts = plan.recipe.boosts
    every = (each for each in kinds("boosts") if issubclass(each, Boost))
    out: dict[str, object] = {key: None for each in every for key in each.traced}
    for label, boost in boosts.items():
        out |= {key: _shown(steps, label, key) for key in boost.traced}
    return out


def _shown(steps: dict[str, PlanStep], name: str, key: str) -> object:
    return steps[name].shows.get(key) if name in steps else None


def _reranking(step: PlanStep | None) -> dict[str, object]:
    """Whether a reranker ordered the rows; if not, a short code and the full reason."""
    if step is None or step.skipped is None:
        return {"reranked": step is not None, "rerank_skipped": None, "rerank_reason": None}
    code = step.skipped.partition(":")[0]
    # A timeout is a failure too: users of the trace know one code for both.
    failed = "rerank_failed" if code.startswith("rerank_") else code
    return {"reranked": False, "rerank_skipped": failed, "rerank_reason": step.skipped}


def _numbers(plan: Plan) -> dict[str, object]:
    """The options of the recipe that have a name of their own, with their values."""
    data = plan.recipe.to_data()
    out: dict[str, object] = {}
    for name, paths in plan.recipe.names.items():
        path = paths if isinstance(paths, str) else paths[0]  # of several, the first is shown
        value = value_at(data, path)
        if isinstance(value, bool | int | float | str):
            out[name] = value
    return out
