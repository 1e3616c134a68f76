"""A recall, step by step: view, selection, plan, lanes, fusion, answer."""

from __future__ import annotations

from recollect.core.query import Query
from recollect.memory.parts import Parts
from recollect.pipeline.bind import bind
from recollect.pipeline.plan import Plan, plan
from recollect.pipeline.recipe import Recipe
from recollect.pipeline.run import run
from recollect.text.analyzers import analyzer
from recollect.why.answer import answer
from recollect.why.bundles import Bundles, bundle
from recollect.why.result import Result


def search(parts: Parts, query: Query, recipe: Recipe) -> Result:
    """Answer a query."""
    tenant = query.scope.tenant
    fetch = parts.fetch(tenant)
    reader = analyzer(recipe.analyzer)
    reading, unread = parts.read_by(reader, tenant, query.known_at)
    vector = parts.vector(query) if needs_vector(recipe, query.mode) else None
    ctx = bind(query, recipe, reading, fetch, (reader, vector, unread, parts.kin))
    return answer(run(plan(recipe, ctx), ctx), ctx, fetch)


def planned(parts: Parts, query: Query, recipe: Recipe) -> Plan:
    """What answering a query would do; the embedder is not asked."""
    tenant = query.scope.tenant
    reader = analyzer(recipe.analyzer)
    reading, unread = parts.read_by(reader, tenant, query.known_at)
    vector = None if parts.shop.embedder is not None else parts.vector(query)
    ctx = bind(query, recipe, reading, parts.fetch(tenant), (reader, vector, unread, parts.kin))
    return plan(recipe, ctx)


def bundled(parts: Parts, query: Query, recipe: Recipe, offset: int) -> Bundles:
    """The hits of the word lane, each with what hangs on it."""
    tenant = query.scope.tenant
    fetch = parts.fetch(tenant)
    reader = analyzer(recipe.analyzer)
    reading, unread = parts.read_by(reader, tenant, query.known_at)
    ctx = bind(query, recipe, reading, fetch, (reader, None, unread, parts.kin))
    return bundle(recipe, ctx, fetch, offset)


def needs_vector(recipe: Recipe, mode: str | None) -> bool:
    """Whether some lane that is on compares vectors."""
    wanted = recipe.mode(mode).lanes
    return any(
        lane.enabled and lane.kind == "vector" and label in wanted
        for label, lane in recipe.lanes.items()
    )
