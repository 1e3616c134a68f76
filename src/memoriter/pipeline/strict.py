"""Where a recipe wants all or nothing: every lane that is on runs, all that is given is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoriter.core.errors import BadQuery, Unavailable
from memoriter.core.query import Query
from memoriter.pipeline.recipe import Recipe

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan

_OFF = "switch it off: overrides={{'lanes.{}.enabled': False}}"


def refuse(plan: Plan, query: Query) -> None:
    """Refuse a question of which a lane, the text or the vector would be dropped."""
    recipe = plan.recipe
    wanted = recipe.mode(plan.mode).lanes
    on = [label for label, lane in recipe.lanes.items() if lane.enabled and label in wanted]
    if not on:
        raise BadQuery(
            f"recipe {recipe.name}: at least one lane must be on",
            hint=f"its lanes: {', '.join(recipe.lanes)}",
            field="lanes",
        )
    reasons = {step.name: step.skipped for step in plan.steps if step.skipped is not None}
    for label in on:
        if label in reasons:
            raise _stuck(recipe, label, reasons[label], query)
    for field in _given(query):
        if not any(_takes(recipe, label, field, query) for label in on):
            raise BadQuery(
                f"{field}: is given, but no lane that is on takes it",
                hint=f"switch such a lane on, or leave the {field} out",
                field=field,
            )


def _given(query: Query) -> list[str]:
    told = {"query": bool(query.text.strip()), "vector": query.vector is not None}
    return [field for field, given in told.items() if given]


def _takes(recipe: Recipe, label: str, field: str, query: Query) -> bool:
    """Whether a lane uses the text or the vector; a vector that is given needs no text."""
    reads = recipe.lanes[label].reads
    return field in reads and not (field == "query" and "vector" in reads and query.vector)


def _stuck(recipe: Recipe, label: str, reason: str, query: Query) -> BadQuery | Unavailable:
    """Why a lane that is on cannot run, under the name of what the call leaves out."""
    given = _given(query)
    lacking = [field for field in recipe.lanes[label].reads if field not in given]
    hint = _OFF.format(label)
    if lacking:
        told = f"{lacking[0]}: lane {label!r} needs one: {reason}"
        return BadQuery(told, hint=hint, field=lacking[0])
    if "query" in recipe.lanes[label].reads and "vector" not in recipe.lanes[label].reads:
        return BadQuery(f"query: lane {label!r} cannot read it: {reason}", hint=hint, field="query")
    return Unavailable(f"lane {label!r} cannot run: {reason}", hint=hint, field=f"lanes.{label}")
