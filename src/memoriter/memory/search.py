"""Runs a search: view, selection, plan, lanes, fusion, result. `Memory.recall` calls it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from memoriter.core.errors import BadQuery
from memoriter.core.query import Query
from memoriter.core.ranking import Scores
from memoriter.index.read_once import EachOnce
from memoriter.kernel.turns import TURNS
from memoriter.lanes.effects import AskReranker, Effects
from memoriter.lanes.port import Context, Skipped, Wording
from memoriter.memory.engine import AnalyzedView, Engine
from memoriter.pipeline.bind import bind
from memoriter.pipeline.passes import not_asked
from memoriter.pipeline.plan import Plan, plan, plan_after
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import run_plan
from memoriter.pipeline.steps import PlanStep
from memoriter.rerank.call import Failed, ask_reranker
from memoriter.text.analyzers import analyzer
from memoriter.why.answer import answer
from memoriter.why.case import Generations, with_outcomes
from memoriter.why.result import Result

if TYPE_CHECKING:
    from memoriter.why.bundles import Bundles

_RERANK_OVERRIDE: Final = "pass.1.enabled"
"""The override that switches a reranker on or off."""
_SKIPPED_PATH: Final = "result.trace.rerank_skipped"


def search(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Run a query; raises BadQuery if the recipe would ignore the reranker of this memory."""
    _must_rerank(engine, query, recipe)
    return run_recipe(engine, query, recipe)


def keyword_search(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Run a query by a recipe of word lanes; the result says that no reranker was asked."""
    return _unless_reranked(engine, run_recipe(engine, query, recipe), "keywords")


def _unless_reranked(engine: Engine, result: Result, verb: str) -> Result:
    """The result; it names the reranker of the memory as skipped if the recipe has none."""
    if engine.reranker is None or result.plan.recipe.reranks:
        return result
    why = Skipped(not_asked(verb), idle=True)
    left_out = PlanStep("rerank", {}, why.reason, idle=True)
    more = plan_after(result.plan, {"rerank": why}, lambda steps: (*steps, left_out))
    return replace(result, plan=more)


def run_recipe(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Run a query, whether its recipe uses the reranker or not."""
    with TURNS.turn():
        ctx = bind_query(engine, query, recipe)
        if needs_vector(recipe, query.mode):
            ctx = engine.with_spaces(ctx, embed=True)
        return _result(engine, recipe, ctx)


def plan_search(engine: Engine, query: Query, recipe: Recipe) -> Plan:
    """The plan of a query; the embedder is not called."""
    _must_rerank(engine, query, recipe)
    made = plan(recipe, engine.with_spaces(bind_query(engine, query, recipe), embed=False))
    _ = made.steps  # made now, so that a plan that somebody keeps does not keep the view
    return made


def _must_rerank(engine: Engine, query: Query, recipe: Recipe) -> None:
    """Raise BadQuery if the recipe or mode would silently ignore the memory's reranker.

    Who opens a memory with a reranker expects it to be used; an override can switch it off.
    """
    if engine.reranker is None or query.overrides.get(_RERANK_OVERRIDE) is False:
        return
    if not recipe.reranks:
        raise BadQuery(
            f"recipe {recipe.name!r} would ignore the reranker of this memory",
            hint="open the memory without a reranker, or use a recipe that uses a reranker, such"
            " as memoriter",
            field="recipe",
        )
    off = recipe.passes[1].enabled is False
    # A recipe that gives this field of the trace a name reports there that a mode asks no reranker.
    reported = _SKIPPED_PATH in recipe.names.values()
    if off or not (recipe.mode(query.mode).rerank or reported):
        of = f"recipe {recipe.name!r}" if off else f"mode {query.mode!r}"
        on = f'pass overrides={{"{_RERANK_OVERRIDE}": True}}'
        asks = on if off else "use another mode, or leave `mode` out"
        raise BadQuery(
            f"{of} would ignore the reranker of this memory",
            hint=f"to use the reranker: {asks}; to search without it:"
            f' pass overrides={{"{_RERANK_OVERRIDE}": False}}',
            field="recipe" if off else "mode",
        )


def reflections(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Search reflections; without a query, all of them.

    Raises BadQuery if the recipe does not select reflections only.
    """
    if recipe.select.reflections != "only":
        raise BadQuery(
            f"recipe: {recipe.name} also finds memories that are not reflections, and this"
            " call returns reflections only",
            hint='set reflections = "only" in the table [select] of the recipe, or leave the'
            " recipe out",
            field="recipe",
        )
    ctx = bind_query(engine, query, recipe)
    if query.vector is not None or query.text.strip():
        ctx = engine.with_spaces(ctx, embed=True)
    else:
        none = Skipped("nothing to compare with", idle=True)
        ctx = replace(ctx, spaces=tuple(replace(each, lacks=none) for each in ctx.spaces))
    return _unless_reranked(engine, _result(engine, recipe, ctx), "reflections")


def _result(engine: Engine, recipe: Recipe, ctx: Context) -> Result:
    """Run the plan; the result records which analyzer, space and kin table were read."""
    words = ctx.wording.analyzer if ctx.wording.unread is None else engine.analyzer
    kin = None if engine.kin is None else engine.kin.fingerprint
    through = Generations(words.fingerprint, engine.vectors.name, kin)
    # Boosts, orderings and the answer read the same records.
    effects = ctx.effects
    once = Effects(EachOnce(effects.fetch), effects.reranker, effects.work)
    ctx = ctx.changed(effects=once)
    ran = with_outcomes(run_plan(plan(recipe, ctx), ctx), ctx, through)
    return answer(ran, ctx)


def run_bundles(engine: Engine, query: Query, recipe: Recipe, offset: int) -> Bundles:
    """The hits of the word lane, each with its linked records."""
    from memoriter.why.bundles import bundle  # noqa: PLC0415  # few searches need it

    ctx = bind_query(engine, query, recipe)
    return bundle(recipe, ctx, engine.fetch(query.scope.tenant), offset)


def bind_query(engine: Engine, query: Query, recipe: Recipe) -> Context:
    """Bind a query to its view: selection, fetching, reranker and analyzer, but no vectors yet."""
    return _bound(engine, query, recipe, _view_for(engine, query, recipe))


def _view_for(engine: Engine, query: Query, recipe: Recipe) -> AnalyzedView:
    """The view that a query reads, with the words of the recipe's analyzer if there are any."""
    return engine.view_through(analyzer(recipe.analyzer), query.scope.tenant, query.known_at)


def _bound(engine: Engine, query: Query, recipe: Recipe, seen: AnalyzedView) -> Context:
    tenant = query.scope.tenant
    reader, view, unread = analyzer(recipe.analyzer), seen.view, seen.unread
    recorded = None
    if query.as_of is not None and recipe.select.as_of == "append":
        recorded = min(engine.log.seq_at(tenant, query.as_of), view.seq)
    reranker, work = live_reranker(engine, query), engine.filter_limit()
    effects = Effects(engine.fetch(tenant), reranker, work)
    wording = Wording(reader, unread, engine.kin)
    return bind(query, recipe, view=view, effects=effects, wording=wording, recorded=recorded)


def live_reranker(engine: Engine, query: Query) -> AskReranker | None:
    """A function that reranks texts for a query; None without a reranker."""
    reranker = engine.reranker
    if reranker is None:
        return None

    def ask(rows: Sequence[int], texts: Sequence[str], timeout_ms: int) -> Scores | str:
        del rows
        made = TURNS.beside(lambda: ask_reranker(reranker, query.text, texts, timeout_ms))
        return made.reason if isinstance(made, Failed) else made.values

    return ask


def needs_vector(recipe: Recipe, mode: str | None) -> bool:
    """Whether a vector lane is enabled in this mode, or is the fallback of the mode."""
    chosen = recipe.mode(mode)
    return any(
        lane.generation == "vectors"
        and (label == chosen.otherwise or (lane.enabled and label in chosen.lanes))
        for label, lane in recipe.lanes.items()
    )
