"""What each operation does: a request goes to the memory, the answer comes back as plain data."""

from __future__ import annotations

from typing import Any, Final

from memoriter.core.errors import InputError, UnknownRecipe
from memoriter.core.times import iso
from memoriter.doors import requests as ask
from memoriter.doors.tenant_session import TenantSession
from memoriter.pipeline.load import library, recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.why.diff import diff as compared
from memoriter.why.receipt import verify as verified
from memoriter.why.result import Hit, Result

Plain = dict[str, Any]
BATCH: Final = 1000
"""How many memories one request may bring."""


def _options(asked: ask.Question) -> Plain:
    """What the library takes; a door names recipes of the library and never a file."""
    told = asked.options()
    if isinstance(told.get("recipe"), str):
        told["recipe"] = named(told["recipe"])
    return told


def named(recipe: str) -> Recipe:
    """A recipe of the library."""
    if recipe not in library():
        raise UnknownRecipe(
            f"recipe: there is no {recipe[:80]!r}",
            hint=f"known: {', '.join(library())}",
            field="recipe",
        )
    return recipe_of(recipe)


# -- asking --------------------------------------------------------------------------------------


def recall(tenant_session: TenantSession, asked: ask.Detailed) -> Plain:
    """The right memories, ranked."""
    result = tenant_session.memory(asked).recall(asked.query, asked.limit, **_options(asked))
    return told(tenant_session, result, asked.detail)


def keywords(tenant_session: TenantSession, asked: ask.Detailed) -> Plain:
    """Memories by their words alone."""
    result = tenant_session.memory(asked).keywords(asked.query, asked.limit, **_options(asked))
    return told(tenant_session, result, asked.detail)


def reflections(tenant_session: TenantSession, asked: ask.Detailed) -> Plain:
    """Reflections alone."""
    result = tenant_session.memory(asked).reflections(asked.query, asked.limit, **_options(asked))
    return told(tenant_session, result, asked.detail)


def context(tenant_session: TenantSession, asked: ask.Question) -> Plain:
    """The answer as a block for a prompt."""
    result = tenant_session.memory(asked).recall(asked.query, asked.limit, **_options(asked))
    handle = tenant_session.handle(result)
    return {**result.context().to_dict(), "status": result.status, "receipt": handle}


def bundles(tenant_session: TenantSession, asked: ask.Paged) -> Plain:
    """Hits with what hangs on them."""
    memory = tenant_session.memory(asked)
    found = memory.bundles(asked.query, asked.limit, offset=asked.offset, **_options(asked))
    return found.to_dict()


def plan(tenant_session: TenantSession, asked: ask.Question) -> Plain:
    """What a recall would do."""
    return tenant_session.memory(asked).plan(asked.query, asked.limit, **_options(asked)).to_dict()


def told(tenant_session: TenantSession, result: Result, detail: str) -> Plain:
    """An answer in full, or in brief."""
    if detail == "full":
        return tenant_session.whole(result)
    return {
        "status": result.status,
        "total": result.total,
        "hits": [_brief(hit) for hit in result],
        "receipt": tenant_session.handle(result),
        **({"skipped": result.skipped} if result.skipped else {}),
        **({"near": list(result.near)} if result.near else {}),
    }


def _brief(hit: Hit) -> Plain:
    record = hit.record
    shown = {"tags": list(record.tags), "superseded_by": list(hit.superseded_by)}
    return {
        "id": hit.id,
        "rank": hit.rank,
        "score": hit.score,
        "text": record.text,
        "kind": record.kind,
        "created": iso(record.created),
        "trust": record.trust,
        **{key: value for key, value in shown.items() if value},
        "lanes": {
            label: {"rank": lane.rank, "score": lane.score} for label, lane in hit.lanes.items()
        },
        "matched": hit.matched,
    }


# -- proving -------------------------------------------------------------------------------------


def explain(tenant_session: TenantSession, asked: ask.Explain) -> Plain:
    """Why a memory is among the hits, or why not."""
    memory = tenant_session.memory(asked)
    with tenant_session.handed(asked.receipt) as receipt:
        for hit in memory.replay(receipt).result:
            if hit.id == asked.id:
                return {"hit": hit.to_dict()}
        return {"why_not": memory.why_not(receipt, asked.id).to_dict()}


def why_not(tenant_session: TenantSession, asked: ask.Explain) -> Plain:
    """Why a memory is not among the hits."""
    with tenant_session.handed(asked.receipt) as receipt:
        return tenant_session.memory(asked).why_not(receipt, asked.id).to_dict()


def replay(tenant_session: TenantSession, asked: ask.OfReceipt) -> Plain:
    """A search again, on its own view."""
    with tenant_session.handed(asked.receipt) as receipt:
        return tenant_session.memory(asked).replay(receipt).to_dict()


def verify(tenant_session: TenantSession, asked: ask.OfReceipt) -> Plain:
    """Every number of a receipt, derived again."""
    return verified(tenant_session.receipt(asked.receipt)).to_dict()


def diff(tenant_session: TenantSession, asked: ask.Differ) -> Plain:
    """How two answers differ."""
    with tenant_session.handed(asked.before) as before, tenant_session.handed(asked.after) as after:
        return compared(before, after).to_dict()


def receipt(tenant_session: TenantSession, asked: ask.OfReceipt) -> Plain:
    """The whole receipt of a late answer."""
    found = tenant_session.receipt(asked.receipt)
    return dict(found) if isinstance(found, dict) else dict(found.body)


# -- looking -------------------------------------------------------------------------------------


def browse(tenant_session: TenantSession, asked: ask.Sorted) -> Plain:
    """A page of memories."""
    look = {key: v for key, v in asked.given("sort", "cursor", "limit").items() if v is not None}
    memory = tenant_session.memory(asked)
    return memory.browse(asked.sort, cursor=asked.cursor, limit=asked.limit, **look).to_dict()


def get(tenant_session: TenantSession, asked: ask.Get) -> Plain:
    """One memory."""
    return tenant_session.memory(asked).get(asked.id, known_at=asked.known_at).to_dict()


def history(tenant_session: TenantSession, asked: ask.Get) -> Plain:
    """All versions of a memory."""
    versions = tenant_session.memory(asked).history(asked.id, known_at=asked.known_at)
    return {"id": asked.id, "versions": [version.to_dict() for version in versions]}


def links(tenant_session: TenantSession, asked: ask.Named) -> Plain:
    """The links at a memory."""
    edges = tenant_session.memory(asked).links(asked.id)
    return {"id": asked.id, "links": [edge.to_dict() for edge in edges]}


def agents(tenant_session: TenantSession, asked: ask.Nothing) -> Plain:
    """All registered agents."""
    return {"agents": [agent.to_dict() for agent in tenant_session.memory(asked).agents.list()]}


def recipes(tenant_session: TenantSession, asked: ask.Nothing) -> Plain:
    """All recipes."""
    del tenant_session, asked
    return {"recipes": [line for name in library() if (line := _line(name)) is not None]}


def _line(name: str) -> Plain | None:
    try:
        found = recipe_of(name)
    except InputError:  # of another package
        return None
    return {"name": found.name, "version": found.version, "fingerprint": found.fingerprint}


def recipe(tenant_session: TenantSession, asked: ask.OfRecipe) -> Plain:
    """One recipe, every default written out."""
    del tenant_session
    found = named(asked.recipe)
    return {"fingerprint": found.fingerprint, "recipe": found.to_data()}


def status(tenant_session: TenantSession, asked: ask.Count) -> Plain:
    """How much there is; other tenants are nobody's business."""
    found = tenant_session.memory(asked).status(asked.by).to_dict()
    return {key: value for key, value in found.items() if key != "tenants"}


# -- writing -------------------------------------------------------------------------------------


def remember(tenant_session: TenantSession, asked: ask.New) -> Plain:
    """Keep one memory."""
    return tenant_session.memory(asked).remember(**asked.given()).to_dict()


def remember_many(tenant_session: TenantSession, asked: ask.Several) -> Plain:
    """Keep many memories."""
    if len(asked.memories) > BATCH:
        raise InputError(
            f"memories: {len(asked.memories):,} at once, at most {BATCH:,} are taken",
            hint="send them in several requests",
            field="memories",
        )
    drafts = [draft.given() for draft in asked.memories]
    return tenant_session.memory(asked).remember_many(drafts).to_dict()


def update(tenant_session: TenantSession, asked: ask.Changed) -> Plain:
    """Change fields of a memory."""
    return (
        tenant_session.memory(asked)
        .update(asked.id, key=asked.key, **asked.given("id", "key"))
        .to_dict()
    )


def expire(tenant_session: TenantSession, asked: ask.Expire) -> Plain:
    """Let a memory leave all answers."""
    return tenant_session.memory(asked).expire(asked.id, asked.at, key=asked.key).to_dict()


def link(tenant_session: TenantSession, asked: ask.Ends) -> Plain:
    """Connect two memories."""
    rest = asked.given("source", "target", "kind", "key")
    memory = tenant_session.memory(asked)
    return memory.link(asked.source, asked.target, asked.kind, key=asked.key, **rest).to_dict()


def forget(tenant_session: TenantSession, asked: ask.Ids) -> Plain:
    """Erase memories."""
    return tenant_session.memory(asked).forget(asked.id, **asked.given("id")).to_dict()


def reflect(tenant_session: TenantSession, asked: ask.Dry) -> Plain:
    """Sum up clusters of related memories."""
    how = {key: v for key, v in asked.given("dry_run").items() if v is not None}
    return tenant_session.memory(asked).reflect(dry_run=asked.dry_run, **how).to_dict()


def agent(tenant_session: TenantSession, asked: ask.NamedAgent) -> Plain:
    """Register an agent, or change what is known of it."""
    rest = {key: v for key, v in asked.given("agent", "key").items() if v is not None}
    return tenant_session.memory(asked).agents.upsert(asked.agent, key=asked.key, **rest).to_dict()


# -- keeping -------------------------------------------------------------------------------------


def maintain(tenant_session: TenantSession, asked: ask.Maintain) -> Plain:
    """Pay what is owed."""
    return tenant_session.memory(asked).maintain(limit=asked.limit).to_dict()
