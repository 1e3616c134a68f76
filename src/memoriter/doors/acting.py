"""What each operation does: a request goes to the memory, the answer comes back as plain data."""

from __future__ import annotations

from typing import Any, Final

from memoriter.core.errors import InputError, UnknownRecipe
from memoriter.core.times import iso
from memoriter.doors import requests as ask
from memoriter.doors.desk import Desk
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


def recall(desk: Desk, asked: ask.Detailed) -> Plain:
    """The right memories, ranked."""
    result = desk.memory(asked).recall(asked.query, asked.limit, **_options(asked))
    return told(desk, result, asked.detail)


def keywords(desk: Desk, asked: ask.Detailed) -> Plain:
    """Memories by their words alone."""
    result = desk.memory(asked).keywords(asked.query, asked.limit, **_options(asked))
    return told(desk, result, asked.detail)


def reflections(desk: Desk, asked: ask.Detailed) -> Plain:
    """Reflections alone."""
    result = desk.memory(asked).reflections(asked.query, asked.limit, **_options(asked))
    return told(desk, result, asked.detail)


def context(desk: Desk, asked: ask.Question) -> Plain:
    """The answer as a block for a prompt."""
    result = desk.memory(asked).recall(asked.query, asked.limit, **_options(asked))
    handle = desk.handle(result)
    return {**result.context().to_dict(), "status": result.status, "receipt": handle}


def bundles(desk: Desk, asked: ask.Paged) -> Plain:
    """Hits with what hangs on them."""
    memory = desk.memory(asked)
    found = memory.bundles(asked.query, asked.limit, offset=asked.offset, **_options(asked))
    return found.to_dict()


def plan(desk: Desk, asked: ask.Question) -> Plain:
    """What a recall would do."""
    return desk.memory(asked).plan(asked.query, asked.limit, **_options(asked)).to_dict()


def told(desk: Desk, result: Result, detail: str) -> Plain:
    """An answer in full, or in brief."""
    if detail == "full":
        return desk.whole(result)
    return {
        "status": result.status,
        "total": result.total,
        "hits": [_brief(hit) for hit in result],
        "receipt": desk.handle(result),
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


def explain(desk: Desk, asked: ask.Explain) -> Plain:
    """Why a memory is among the hits, or why not."""
    memory = desk.memory(asked)
    with desk.handed(asked.receipt) as receipt:
        for hit in memory.replay(receipt).result:
            if hit.id == asked.id:
                return {"hit": hit.to_dict()}
        return {"why_not": memory.why_not(receipt, asked.id).to_dict()}


def why_not(desk: Desk, asked: ask.Explain) -> Plain:
    """Why a memory is not among the hits."""
    with desk.handed(asked.receipt) as receipt:
        return desk.memory(asked).why_not(receipt, asked.id).to_dict()


def replay(desk: Desk, asked: ask.OfReceipt) -> Plain:
    """A search again, on its own view."""
    with desk.handed(asked.receipt) as receipt:
        return desk.memory(asked).replay(receipt).to_dict()


def verify(desk: Desk, asked: ask.OfReceipt) -> Plain:
    """Every number of a receipt, derived again."""
    return verified(desk.receipt(asked.receipt)).to_dict()


def diff(desk: Desk, asked: ask.Differ) -> Plain:
    """How two answers differ."""
    with desk.handed(asked.before) as before, desk.handed(asked.after) as after:
        return compared(before, after).to_dict()


def receipt(desk: Desk, asked: ask.OfReceipt) -> Plain:
    """The whole receipt of a late answer."""
    found = desk.receipt(asked.receipt)
    return dict(found) if isinstance(found, dict) else dict(found.body)


# -- looking -------------------------------------------------------------------------------------


def browse(desk: Desk, asked: ask.Sorted) -> Plain:
    """A page of memories."""
    look = {key: v for key, v in asked.given("sort", "cursor", "limit").items() if v is not None}
    memory = desk.memory(asked)
    return memory.browse(asked.sort, cursor=asked.cursor, limit=asked.limit, **look).to_dict()


def get(desk: Desk, asked: ask.Get) -> Plain:
    """One memory."""
    return desk.memory(asked).get(asked.id, known_at=asked.known_at).to_dict()


def history(desk: Desk, asked: ask.Get) -> Plain:
    """All versions of a memory."""
    versions = desk.memory(asked).history(asked.id, known_at=asked.known_at)
    return {"id": asked.id, "versions": [version.to_dict() for version in versions]}


def links(desk: Desk, asked: ask.Named) -> Plain:
    """The links at a memory."""
    edges = desk.memory(asked).links(asked.id)
    return {"id": asked.id, "links": [edge.to_dict() for edge in edges]}


def agents(desk: Desk, asked: ask.Nothing) -> Plain:
    """All registered agents."""
    return {"agents": [agent.to_dict() for agent in desk.memory(asked).agents.list()]}


def recipes(desk: Desk, asked: ask.Nothing) -> Plain:
    """All recipes."""
    del desk, asked
    return {"recipes": [line for name in library() if (line := _line(name)) is not None]}


def _line(name: str) -> Plain | None:
    try:
        found = recipe_of(name)
    except InputError:  # of another package
        return None
    return {"name": found.name, "version": found.version, "fingerprint": found.fingerprint}


def recipe(desk: Desk, asked: ask.OfRecipe) -> Plain:
    """One recipe, every default written out."""
    del desk
    found = named(asked.recipe)
    return {"fingerprint": found.fingerprint, "recipe": found.to_data()}


def status(desk: Desk, asked: ask.Count) -> Plain:
    """How much there is; other tenants are nobody's business."""
    found = desk.memory(asked).status(asked.by).to_dict()
    return {key: value for key, value in found.items() if key != "tenants"}


# -- writing -------------------------------------------------------------------------------------


def remember(desk: Desk, asked: ask.New) -> Plain:
    """Keep one memory."""
    return desk.memory(asked).remember(**asked.given()).to_dict()


def remember_many(desk: Desk, asked: ask.Several) -> Plain:
    """Keep many memories."""
    if len(asked.memories) > BATCH:
        raise InputError(
            f"memories: {len(asked.memories):,} at once, at most {BATCH:,} are taken",
            hint="send them in several requests",
            field="memories",
        )
    drafts = [draft.given() for draft in asked.memories]
    return desk.memory(asked).remember_many(drafts).to_dict()


def update(desk: Desk, asked: ask.Changed) -> Plain:
    """Change fields of a memory."""
    return desk.memory(asked).update(asked.id, key=asked.key, **asked.given("id", "key")).to_dict()


def expire(desk: Desk, asked: ask.Expire) -> Plain:
    """Let a memory leave all answers."""
    return desk.memory(asked).expire(asked.id, asked.at, key=asked.key).to_dict()


def link(desk: Desk, asked: ask.Ends) -> Plain:
    """Connect two memories."""
    rest = asked.given("source", "target", "kind", "key")
    memory = desk.memory(asked)
    return memory.link(asked.source, asked.target, asked.kind, key=asked.key, **rest).to_dict()


def forget(desk: Desk, asked: ask.Ids) -> Plain:
    """Erase memories."""
    return desk.memory(asked).forget(asked.id, **asked.given("id")).to_dict()


def reflect(desk: Desk, asked: ask.Dry) -> Plain:
    """Sum up clusters of related memories."""
    how = {key: v for key, v in asked.given("dry_run").items() if v is not None}
    return desk.memory(asked).reflect(dry_run=asked.dry_run, **how).to_dict()


def agent(desk: Desk, asked: ask.NamedAgent) -> Plain:
    """Register an agent, or change what is known of it."""
    rest = {key: v for key, v in asked.given("agent", "key").items() if v is not None}
    return desk.memory(asked).agents.upsert(asked.agent, key=asked.key, **rest).to_dict()


# -- keeping -------------------------------------------------------------------------------------


def maintain(desk: Desk, asked: ask.Maintain) -> Plain:
    """Pay what is owed."""
    return desk.memory(asked).maintain(limit=asked.limit).to_dict()
