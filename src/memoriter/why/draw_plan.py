"""What a drawing of a plan shows, as plain data: the funnel of a search, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from memoriter.core.names import JsonObject
from memoriter.text.figures import pairs
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan
    from memoriter.pipeline.steps import PlanStep

Colours = Mapping[str, int]
"""Label → number of its colour."""
HUES: Final = 8
"""Colours for lanes and boosts; the number after the last is for reranking and other stages."""
_SELECTED: Final = {
    "view": "all memories at this moment",
    "scope": "those of this agent, user and session",
    "hidden": "without what is archived, expired or superseded",
    "as_of": "those that were valid at the time",
    "where": "those that pass the filter",
}
"""What each step of the selection leaves."""
_STEPS: Final = {
    "fuse": "what any lane proposed; the lanes' scores are added",
    "again": "the best are scored a second time",
    "rerank": "the reranker reads the best and scores them anew",
    "min_score": "those at or above the minimum score",
    "min_relevance": "those at or above the minimum relevance",
    "limit": "the first ones, as many as were asked for",
    "budget": "what fits into the prompt",
}
"""What each step of the pipeline itself leaves."""
_AFTER: Final = "after "


def colours_of(labels: Iterable[str]) -> Colours:
    """A colour for each label, in order; the reranker has its own."""
    others = [label for label in dict.fromkeys(labels) if label != "rerank"]
    return {**{label: at % HUES for at, label in enumerate(others)}, "rerank": HUES}


def draw_plan(plan: Plan) -> JsonObject:
    """A plan by itself: which steps run, with which options, and which do not."""
    recipe = plan.recipe
    title = f"{recipe.name} v{recipe.version} · {plan.status} · tenant {one_line(plan.tenant)}"
    funnel = draw_funnel(plan, colours_of([*recipe.lanes, *recipe.boosts]))
    options = {step.name: one_line(pairs(step.shows)) for step in plan.steps}
    for stage in funnel:
        stage["options"] = "" if "skipped" in stage else options.get(stage["stage"], "")
    return {"draws": "plan", "title": title, "funnel": funnel}


def draw_funnel(
    plan: Plan, colours: Colours, timings: Mapping[str, float] | None = None
) -> list[JsonObject]:
    """Every step of a plan, with what it leaves, its time, or why it did not run.

    `share` is the length of its bar: the rows that it leaves, in percent of the most.
    """
    stages = list(_stages(plan, colours, timings or {}))
    most = max((stage["rows"] or 0 for stage in stages), default=0) or 1
    for stage in stages:
        stage["share"] = round(100 * (stage["rows"] or 0) / most, 3)
    return stages


def _stages(plan: Plan, colours: Colours, timings: Mapping[str, float]) -> Iterator[JsonObject]:
    for step in plan.steps:
        selected = [key for key in step.shows if key.startswith(_AFTER)]
        for key in selected:
            name = key.removeprefix(_AFTER)
            out: JsonObject = {"stage": name, "rows": step.shows[key]}
            if key == selected[-1] and step.name in timings:  # they are one piece of work
                out["ms"] = f"{timings[step.name]:.1f} ms for the selection"
            yield {**out, "about": _SELECTED.get(name, "")}
        if step.name != "select":
            yield _stage(plan, step, colours, timings)


def _stage(
    plan: Plan, step: PlanStep, colours: Colours, timings: Mapping[str, float]
) -> JsonObject:
    out: JsonObject = {"stage": step.name, "rows": step.rows, "about": part_about(plan, step.name)}
    if step.name in colours:
        out["hue"] = colours[step.name]
    if step.skipped is not None:
        out |= {"skipped": one_line(step.skipped), "missed": step.name in plan.missing}
    if step.name in timings:
        out["ms"] = f"{timings[step.name]:.1f} ms"
    if step.attempts[1:]:
        out["attempts"] = [one_line(f"{each.name}: {each.hits}") for each in step.attempts]
    return out


def part_about(plan: Plan, name: str) -> str:
    """What a step does, in the words of its kind."""
    recipe = plan.recipe
    orderings = {each.kind_name(): each for each in recipe.order}
    part = (
        recipe.lanes.get(name) or recipe.boosts.get(name) or orderings.get(name.partition(".")[0])
    )
    return _STEPS.get(name, "") if part is None else part.about
