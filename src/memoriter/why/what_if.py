"""A finished search with other numbers in its recipe: the answer that `recall` would give.

The view, the question and its vector stay. `run_plan` reuses the ranking of every lane whose
options are the same, so that a changed weight costs a fusion and no search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from memoriter.core.errors import BadQuery, Expired
from memoriter.core.names import metadata
from memoriter.core.where import EVERYTHING
from memoriter.index.read_once import EachOnce
from memoriter.lanes.port import Context
from memoriter.pipeline.bind import asked_text
from memoriter.pipeline.foreign_names import resolved_overrides
from memoriter.pipeline.load import overridden
from memoriter.pipeline.plan import plan
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import RELEVANCE
from memoriter.pipeline.run import Ran, run_plan
from memoriter.why.case import Generations, with_outcomes
from memoriter.why.result import Result

_FIXED: Final = ("select", "analyzer", "ties", "apart")
"""Parts of a recipe that decide which records a search reads, and how: they stay."""
_HINT: Final = "recall again with these overrides"


def what_if(
    ran: Ran,
    ctx: Context,
    overrides: Mapping[str, object],
    answer: Callable[[Ran, Context], Result],
) -> Result:
    """The answer with overrides; raises BadQuery if they change what the search reads.

    Raises Expired if a memory that decides the answer was forgotten since.
    """
    checked, tests = resolved_overrides(ran.plan.recipe, metadata(overrides, "overrides", BadQuery))
    if tests != EVERYTHING:
        raise BadQuery(
            "overrides: the filter of a finished recall cannot be changed",
            hint=_HINT,
            field="where",
        )
    recipe = overridden(ran.plan.recipe, checked)
    query = replace(ctx.query, overrides=cast("Any", {**ctx.query.overrides, **checked}))
    _check_same_reading(ran.plan.recipe, recipe, ctx, checked)
    fetch = ctx.effects.fetch
    # A record that was forgotten since the first search must not come back with its text.
    effects = replace(ctx.effects, fetch=fetch.anew() if isinstance(fetch, EachOnce) else fetch)
    changed = replace(ctx, query=query, effects=effects, memo={})
    _check_vectors(plan(recipe, changed).running, recipe, ctx)
    again = run_plan(plan(recipe, changed), changed, before=ran)
    _check_still_there(again, changed)
    through = Generations(**cast("dict[str, Any]", ran.outcomes["generations"]))
    return answer(with_outcomes(again, changed, through), changed)


def _check_still_there(ran: Ran, ctx: Context) -> None:
    """Raise Expired if what decides the answer was forgotten: the view is older than that."""
    rows: list[int] = ran.shown.rows.tolist()
    relevance = ran.scored.columns.get(RELEVANCE)
    if relevance is not None and relevance.size:
        rows.append(int(ran.scored.rows[int(relevance.argmax())]))
    if None in ctx.fetch(rows):
        raise Expired("a memory of this answer was forgotten since", hint=_HINT)


def _check_same_reading(
    before: Recipe, after: Recipe, ctx: Context, overrides: Mapping[str, object]
) -> None:
    for part in _FIXED:
        if getattr(before, part) != getattr(after, part):
            raise BadQuery(
                f"overrides: `{part}` of the recipe cannot be changed after a recall",
                hint=_HINT,
                field=part,
            )
    if asked_text(ctx.query, after) != ctx.asked:
        raise BadQuery(
            f"overrides: {', '.join(overrides)} would change the text that is embedded, and what_if"
            " does not embed again",
            hint=f"leave them out, or {_HINT}",
            field="overrides",
        )


def _check_vectors(running: tuple[str, ...], recipe: Recipe, ctx: Context) -> None:
    """A lane that reads vectors can start to run only if the question was embedded."""
    serving = ctx.spaces[0]
    if serving.vector is not None or serving.lacks is not None:
        return
    if needing := [name for name in running if recipe.lanes[name].generation == "vectors"]:
        raise BadQuery(
            f"overrides: lane {needing[0]} needs the vector of the question, but the question was"
            " not embedded for this answer",
            hint=_HINT,
            field=needing[0],
        )
