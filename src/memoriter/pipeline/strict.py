"""The check for `missing = "refuse"`: every enabled lane must run, and every input must be used.

Called by `plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memoriter.core.errors import BadQuery, Unavailable
from memoriter.core.query import Query
from memoriter.pipeline.recipe import Recipe

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan

_OFF = "switch it off: overrides={{'lanes.{}.enabled': False}}"


def refuse_unused(plan: Plan, query: Query, reasons: Mapping[str, str]) -> None:
    """Raise if an enabled lane cannot run, or if no lane uses the query's text or vector.

    `reasons` says why steps do not run.
    """
    recipe = plan.recipe
    wanted = recipe.mode(plan.mode).lanes
    on = [label for label, lane in recipe.lanes.items() if lane.enabled and label in wanted]
    if not on:
        raise BadQuery(
            f"recipe {recipe.name}: no lane is enabled",
            hint=f"enable at least one of its lanes: {', '.join(recipe.lanes)}",
            field="lanes",
        )
    for label in on:
        if label in reasons:
            raise _cannot_run(recipe, label, reasons[label], query)
    for field in _inputs(query):
        if not any(_takes(recipe, label, field, query) for label in on):
            raise BadQuery(
                f"{field}: no enabled lane uses the {field} of this call",
                hint=f"enable a lane that does, or leave the {field} out",
                field=field,
            )


def _inputs(query: Query) -> list[str]:
    present = {"query": bool(query.text.strip()), "vector": query.vector is not None}
    return [field for field, is_present in present.items() if is_present]


def _takes(recipe: Recipe, label: str, field: str, query: Query) -> bool:
    """Whether a lane uses the text or the vector; with a vector it does not need the text."""
    reads = recipe.lanes[label].reads
    return field in reads and not (field == "query" and "vector" in reads and query.vector)


def _cannot_run(recipe: Recipe, label: str, reason: str, query: Query) -> BadQuery | Unavailable:
    """The error for an enabled lane that cannot run; its field is what the call lacks."""
    present = _inputs(query)
    lacking = [field for field in recipe.lanes[label].reads if field not in present]
    hint = _OFF.format(label)
    if lacking:
        message = f"{lacking[0]}: lane {label!r} needs one: {reason}"
        return BadQuery(message, hint=hint, field=lacking[0])
    if "query" in recipe.lanes[label].reads and "vector" not in recipe.lanes[label].reads:
        return BadQuery(f"query: lane {label!r} cannot read it: {reason}", hint=hint, field="query")
    return Unavailable(f"lane {label!r} cannot run: {reason}", hint=hint, field=f"lanes.{label}")
