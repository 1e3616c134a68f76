"""A recall, step by step: view, selection, plan, lanes, fusion, answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memoriter.core.errors import BadQuery
from memoriter.core.query import Query
from memoriter.core.ranking import Scores
from memoriter.lanes.port import Context, Effects, Judge, Skipped, Wording
from memoriter.memory.engine import Engine
from memoriter.pipeline.bind import bind
from memoriter.pipeline.plan import Plan, plan, reranks
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import run_plan
from memoriter.rerank.call import Failed, ask_reranker
from memoriter.text.analyzers import analyzer
from memoriter.why.answer import answer
from memoriter.why.bundles import Bundles, bundle
from memoriter.why.case import Generations, with_outcomes
from memoriter.why.result import Result

_ASKED: Final = "pass.1.enabled"
"""The override that switches a reranker on or off."""
_SKIPPED: Final = "result.trace.rerank_skipped"


def search(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Answer a query by the recipe that the caller chose."""
    _must_rerank(engine, query, recipe)
    return by_lanes(engine, query, recipe)


def by_lanes(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Answer a query by a recipe that a verb made, whether it asks a reranker or not."""
    ctx = bound_to(engine, query, recipe)
    if needs_vector(recipe, query.mode):
        ctx = engine.spaces(ctx, asking=True)
    return _answered(engine, recipe, ctx)


def planned(engine: Engine, query: Query, recipe: Recipe) -> Plan:
    """What answering a query would do; the embedder is not asked."""
    _must_rerank(engine, query, recipe)
    return plan(recipe, engine.spaces(bound_to(engine, query, recipe), asking=False))


def _must_rerank(engine: Engine, query: Query, recipe: Recipe) -> None:
    """Refuse a question that would ignore the reranker of this memory, unless it says so itself."""
    if engine.reranker is None or query.overrides.get(_ASKED) is False:
        return
    if not reranks(recipe):
        raise BadQuery(
            f"recipe {recipe.name!r} would ignore the reranker of this memory",
            hint="open the memory without a reranker, or recall by a recipe that asks one:"
            " memoriter",
            field="recipe",
        )
    off = recipe.passes[1].enabled is False
    shown = _SKIPPED in recipe.names.values()  # its users read there that a mode leaves it out
    if off or not (recipe.mode(query.mode).rerank or shown):
        of = f"recipe {recipe.name!r}" if off else f"mode {query.mode!r}"
        asks = f'overrides={{"{_ASKED}": True}}' if off else "another mode, or none"
        raise BadQuery(
            f"{of} would ignore the reranker of this memory",
            hint=f'ask it: {asks}; or leave it out: overrides={{"{_ASKED}": False}}',
            field="recipe" if off else "mode",
        )


def reflections(engine: Engine, query: Query, recipe: Recipe) -> Result:
    """Reflections by a recipe that keeps to them; without a question, all of them."""
    if recipe.select.reflections != "only":
        raise BadQuery(
            f"recipe: {recipe.name} does not keep to reflections",
            hint='its [select] needs reflections = "only"',
            field="recipe",
        )
    ctx = bound_to(engine, query, recipe)
    if query.given is not None or query.text.strip():
        ctx = engine.spaces(ctx, asking=True)
    else:
        none = Skipped("nothing to compare with", idle=True)
        ctx = replace(ctx, spaces=tuple(replace(each, lacks=none) for each in ctx.spaces))
    return _answered(engine, recipe, ctx)


def _answered(engine: Engine, recipe: Recipe, ctx: Context) -> Result:
    """The answer, with what its receipt has to say of the memory it was asked of."""
    words = ctx.wording.analyzer if ctx.wording.unread is None else engine.write_context.analyzer
    kin = None if engine.kin is None else engine.kin.fingerprint
    through = Generations(words.fingerprint, engine.write_context.space, kin)
    ran = with_outcomes(run_plan(plan(recipe, ctx), ctx), ctx, through)
    return answer(ran, ctx, engine.fetch(ctx.query.scope.tenant))


def bundled(engine: Engine, query: Query, recipe: Recipe, offset: int) -> Bundles:
    """The hits of the word lane, each with what hangs on it."""
    ctx = bound_to(engine, query, recipe)
    return bundle(recipe, ctx, engine.fetch(query.scope.tenant), offset)


def bound_to(engine: Engine, query: Query, recipe: Recipe) -> Context:
    """The view, what may be found in it, and all that lanes look at but vectors."""
    tenant = query.scope.tenant
    reader = analyzer(recipe.analyzer)
    view, unread = engine.read_by(reader, tenant, query.known_at)
    recorded = None
    if query.as_of is not None and recipe.select.as_of == "append":
        recorded = min(engine.log.seq_at(tenant, query.as_of), view.seq)
    effects = Effects(engine.fetch(tenant), judge_of(engine, query))
    wording = Wording(reader, unread, engine.kin)
    return bind(query, recipe, view, effects, wording, recorded)


def judge_of(engine: Engine, query: Query) -> Judge | None:
    """How the reranker is asked about a query; None where there is none."""
    reranker = engine.reranker
    if reranker is None:
        return None

    def judge(rows: Sequence[int], texts: Sequence[str], timeout_ms: int) -> Scores | str:
        del rows
        made = ask_reranker(reranker, query.text, texts, timeout_ms)
        return made.reason if isinstance(made, Failed) else made.values

    return judge


def needs_vector(recipe: Recipe, mode: str | None) -> bool:
    """Whether some lane compares vectors that is on, or that answers when no other can."""
    mine = recipe.mode(mode)
    asked = {label for label in mine.lanes if recipe.lanes[label].enabled} | {mine.otherwise}
    lanes = recipe.lanes.items()
    return any(lane.generation == "vectors" and label in asked for label, lane in lanes)
