"""The handler of each operation: takes a parsed request, calls the memory, returns plain data.

`operations` lists the handlers. The HTTP server, the MCP server and the hook call them through
`Operation.run`; nothing here knows which of them did. Requests are annotated with the base models
of `requests`, since a type checker does not see the fields that are added when a model is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from memoriter.core.errors import InputError, NotFound
from memoriter.core.names import JsonObject
from memoriter.core.times import iso
from memoriter.doors import requests
from memoriter.doors.context_reply import context_reply, library_recipe
from memoriter.doors.spelled import spelled_override
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.options import DraftFields
from memoriter.pipeline.foreign_names import resolved_overrides
from memoriter.pipeline.load import library, overridden, recipe_of
from memoriter.pipeline.numbers import numbers_of
from memoriter.why.diff import diff as diff_receipts
from memoriter.why.drawing import draw_answer
from memoriter.why.hit import Hit
from memoriter.why.read_receipt import verify as verify_receipt
from memoriter.why.result import Result
from memoriter.why.strengths import judgement
from memoriter.why.versus import Versus

STEPS: Final = 4_000_000
"""How many steps `verify` and `diff` may take here: about a second. The library allows more."""


def _options(request: requests.QuestionRequest) -> JsonObject:
    """The options of a question as `Memory.recall` takes them."""
    options = request.options()
    # In Python a recipe may be the path of a file. Here only names are looked up: a caller over
    # the network must not be able to read files of the server.
    if isinstance(options.get("recipe"), str):
        options["recipe"] = library_recipe(options["recipe"])
    return options


# --- asking -----------------------------------------------------------------------------------


def recall(tenant_session: TenantSession, request: requests.DetailedQuestion) -> JsonObject:
    """Memories that answer a question, best first."""
    memory = tenant_session.memory(request)
    result = memory.recall(request.query, request.limit, **_options(request))
    return result_reply(tenant_session, result, request.detail)


def keywords(tenant_session: TenantSession, request: requests.DetailedQuestion) -> JsonObject:
    """Memories found by their words alone."""
    memory = tenant_session.memory(request)
    result = memory.keywords(request.query, request.limit, **_options(request))
    return result_reply(tenant_session, result, request.detail)


def reflections(tenant_session: TenantSession, request: requests.DetailedQuestion) -> JsonObject:
    """Reflections only."""
    memory = tenant_session.memory(request)
    result = memory.reflections(request.query, request.limit, **_options(request))
    return result_reply(tenant_session, result, request.detail)


def context(tenant_session: TenantSession, request: requests.ContextQuestion) -> JsonObject:
    """The answer as a block of text for a prompt."""
    memory = tenant_session.memory(request)
    result = memory.recall(request.query, request.limit, **_options(request))
    return context_reply(result, request.include, tenant_session.handle(result))


def bundles(tenant_session: TenantSession, request: requests.PagedQuestion) -> JsonObject:
    """Hits, each with the memories that are linked to it."""
    memory = tenant_session.memory(request)
    page = memory.bundles(request.query, request.limit, offset=request.offset, **_options(request))
    return page.to_dict()


def plan(tenant_session: TenantSession, request: requests.QuestionRequest) -> JsonObject:
    """The steps that a recall would run."""
    memory = tenant_session.memory(request)
    return memory.plan(request.query, request.limit, **_options(request)).to_dict()


def result_reply(tenant_session: TenantSession, result: Result, detail: str) -> JsonObject:
    """The reply to a question; `detail` is `drawn`, `full` or `brief`."""
    if detail == "drawn":
        return {**tenant_session.full_reply(result), "drawing": draw_answer(result)}
    if detail == "full":
        return tenant_session.full_reply(result)
    return {
        "status": result.status,
        "total": result.total,
        **judgement(result.relevance, result.strength, result.remarks),
        "hits": [_brief(hit) for hit in result],
        "receipt": tenant_session.handle(result),
        **({"skipped": result.skipped} if result.skipped else {}),
        **({"near": list(result.near)} if result.near else {}),
    }


def _brief(hit: Hit) -> JsonObject:
    """A hit without the arithmetic of its score."""
    record = hit.record
    optional = {
        "tags": list(record.tags),
        "superseded_by": list(hit.superseded_by),
        "copies": list(hit.copies),
        "owed": dict(hit.owed),
    }
    return {
        "id": hit.id,
        "rank": hit.rank,
        "score": hit.score,
        **judgement(hit.relevance, hit.strength),
        "text": record.text,
        "kind": record.kind,
        "created": iso(record.created),
        "trust": record.trust,
        **{key: value for key, value in optional.items() if value},
        "lanes": {
            label: {"rank": lane.rank, "score": lane.score} for label, lane in hit.lanes.items()
        },
        "matched": hit.matched,
    }


# --- proving ----------------------------------------------------------------------------------


def explain(tenant_session: TenantSession, request: requests.ExplainRequest) -> JsonObject:
    """Why a memory is among the hits, or what kept it out."""
    memory = tenant_session.memory(request)
    with tenant_session.usable_receipt(request.receipt) as receipt:
        hits = {hit.id: hit for hit in memory.replay(receipt).result}
        hit = hits.get(request.id)
        if hit is None:
            return {"why_not": memory.why_not(receipt, request.id).to_dict()}
        if request.versus is None:
            return {"hit": hit.to_dict()}
        return {"hit": hit.to_dict(), "versus": _versus(hits, request.versus, hit).to_dict()}


def _versus(hits: Mapping[str, Hit], id: str, hit: Hit) -> Versus:
    """The hit compared with another one of its answer; raises NotFound if there is none."""
    if id not in hits:
        raise NotFound(
            f"versus: {id!r} is not a hit of this answer",
            hint="to see what kept it out, send it as `id`, without `versus`",
            field="versus",
        )
    return hit.versus(hits[id])


def why_not(tenant_session: TenantSession, request: requests.WhyNotRequest) -> JsonObject:
    """What kept a memory out of the hits."""
    memory = tenant_session.memory(request)
    with tenant_session.usable_receipt(request.receipt) as receipt:
        return memory.why_not(receipt, request.id).to_dict()


def replay(tenant_session: TenantSession, request: requests.OfReceiptRequest) -> JsonObject:
    """The search of a receipt, run again on the view it had then."""
    memory = tenant_session.memory(request)
    with tenant_session.usable_receipt(request.receipt) as receipt:
        return memory.replay(receipt).to_dict()


def verify(tenant_session: TenantSession, request: requests.OfReceiptRequest) -> JsonObject:
    """Whether every number of a receipt follows from the others."""
    return verify_receipt(tenant_session.receipt(request.receipt), STEPS).to_dict()


def what_if(tenant_session: TenantSession, request: requests.WhatIfRequest) -> JsonObject:
    """The answer with other numbers in the recipe; lanes that stay the same do not run again."""
    sent = request.receipt
    if isinstance(sent, str):
        before = tenant_session.answer(sent)
    else:
        with tenant_session.usable_receipt(sent) as receipt:
            before = tenant_session.memory(request).replay(receipt).result
    after = before.what_if(request.overrides)
    reply = result_reply(tenant_session, after, request.detail)
    return {**reply, "spelled": spelled_override(after, request.overrides)}


def diff(tenant_session: TenantSession, request: requests.DifferRequest) -> JsonObject:
    """How the answers of two receipts differ."""
    with (
        tenant_session.usable_receipt(request.before) as before,
        tenant_session.usable_receipt(request.after) as after,
    ):
        return diff_receipts(before, after, STEPS).to_dict()


def receipt(tenant_session: TenantSession, request: requests.OfReceiptRequest) -> JsonObject:
    """The whole receipt of a recent answer."""
    document = tenant_session.receipt(request.receipt)
    return dict(document) if isinstance(document, dict) else dict(document.body)


# --- looking ----------------------------------------------------------------------------------


def browse(tenant_session: TenantSession, request: requests.BrowseArguments) -> JsonObject:
    """A page of memories by date."""
    memory = tenant_session.memory(request)
    options = _without_nulls(request.sent_fields("sort", "cursor", "limit"))
    page = memory.browse(request.sort, cursor=request.cursor, limit=request.limit, **options)
    return page.to_dict()


def get(tenant_session: TenantSession, request: requests.GetRequest) -> JsonObject:
    """One memory, as it is now or as it was known at a time."""
    return tenant_session.memory(request).get(request.id, known_at=request.known_at).to_dict()


def history(tenant_session: TenantSession, request: requests.HistoryRequest) -> JsonObject:
    """The newest versions of a memory."""
    versions = tenant_session.memory(request).history(
        request.id, known_at=request.known_at, limit=request.limit, upto=request.upto
    )
    return {"id": request.id, "versions": [version.to_dict() for version in versions]}


def links(tenant_session: TenantSession, request: requests.RecordRequest) -> JsonObject:
    """The links of a memory, in both directions."""
    edges = tenant_session.memory(request).links(request.id)
    return {"id": request.id, "links": [edge.to_dict() for edge in edges]}


def agents(tenant_session: TenantSession, request: requests.EmptyRequest) -> JsonObject:
    """All registered agents."""
    registered = tenant_session.memory(request).agents.list()
    return {"agents": [agent.to_dict() for agent in registered]}


def recipes(tenant_session: TenantSession, request: requests.EmptyRequest) -> JsonObject:
    """All recipes that can be read."""
    del tenant_session, request
    lines = (_recipe_line(name) for name in library())
    return {"recipes": [line for line in lines if line is not None]}


def _recipe_line(name: str) -> JsonObject | None:
    try:
        recipe = recipe_of(name)
    except InputError:  # a broken recipe of another package must not break the list
        return None
    return {"name": recipe.name, "version": recipe.version, "fingerprint": recipe.fingerprint}


def recipe(tenant_session: TenantSession, request: requests.RecipeRequest) -> JsonObject:
    """One recipe with its overrides, if any, and every default filled in."""
    own = library_recipe(request.recipe)
    by_path, _ = resolved_overrides(own, request.overrides or {})
    changed = overridden(own, by_path)
    numbers = numbers_of(own, changed, tenant_session.most)
    return {
        "fingerprint": changed.fingerprint,
        "recipe": changed.to_data(),
        "numbers": [number.to_dict() for number in numbers],
    }


def status(tenant_session: TenantSession, request: requests.StatusRequest) -> JsonObject:
    """Counts of the caller's tenant."""
    counts = tenant_session.memory(request).status(request.by, repeats=request.repeats).to_dict()
    # The names of the other tenants of the store are not the caller's to know.
    return {key: value for key, value in counts.items() if key != "tenants"}


# --- writing ----------------------------------------------------------------------------------


def remember(tenant_session: TenantSession, request: requests.DraftArguments) -> JsonObject:
    """Store one memory."""
    return tenant_session.memory(request).remember(**request.sent_fields()).to_dict()


def similar(tenant_session: TenantSession, request: requests.SimilarRequest) -> JsonObject:
    """The memories that a new one would copy, contradict or replace."""
    near = tenant_session.memory(request).similar(request.text, limit=request.limit)
    return {"similar": [each.to_dict() for each in near]}


def remember_many(tenant_session: TenantSession, request: requests.DraftsArguments) -> JsonObject:
    """Store memories in one commit; `check_sizes` has counted them."""
    drafts = [each if isinstance(each, str) else each.sent_fields() for each in request.memories]
    memory = tenant_session.memory(request)
    return memory.remember_many(cast("list[str | DraftFields]", drafts)).to_dict()


def remember_messages(
    tenant_session: TenantSession, request: requests.MessagesArguments
) -> JsonObject:
    """Store the turns of a conversation; `check_sizes` has counted them."""
    options = _without_nulls(request.sent_fields("messages"))
    memory = tenant_session.memory(request)
    return memory.remember_messages(request.messages, **options).to_dict()


def update(tenant_session: TenantSession, request: requests.UpdateArguments) -> JsonObject:
    """Change fields of a memory; a field sent as null is removed."""
    memory = tenant_session.memory(request)
    changes = request.sent_fields("id", "key")
    return memory.update(request.id, key=request.key, **changes).to_dict()


def expire(tenant_session: TenantSession, request: requests.ExpireRequest) -> JsonObject:
    """Make a memory expire: searches no longer return it."""
    memory = tenant_session.memory(request)
    return memory.expire(request.id, request.at, key=request.key).to_dict()


def link(tenant_session: TenantSession, request: requests.LinkArguments) -> JsonObject:
    """Link two memories."""
    memory = tenant_session.memory(request)
    options = request.sent_fields("source", "target", "kind", "key")
    commit = memory.link(request.source, request.target, request.kind, key=request.key, **options)
    return commit.to_dict()


def forget(tenant_session: TenantSession, request: requests.ForgetArguments) -> JsonObject:
    """Erase memories for good."""
    memory = tenant_session.memory(request)
    return memory.forget(request.id, **request.sent_fields("id")).to_dict()


def reflect(tenant_session: TenantSession, request: requests.ReflectArguments) -> JsonObject:
    """Sum up clusters of related memories as reflections."""
    options = _without_nulls(request.sent_fields("dry_run"))
    memory = tenant_session.memory(request)
    return memory.reflect(dry_run=request.dry_run, **options).to_dict()


def review(tenant_session: TenantSession, request: requests.ReviewRequest) -> JsonObject:
    """What memories would replace or contradict although they are trusted less."""
    claims = tenant_session.memory(request).review(limit=request.limit)
    return {"claims": [claim.to_dict() for claim in claims]}


def decide(tenant_session: TenantSession, request: requests.DecideRequest) -> JsonObject:
    """Accept or reject a claim of the review list."""
    memory = tenant_session.memory(request)
    return memory.decide(request.source, request.target, accept=request.accept).to_dict()


def agent(tenant_session: TenantSession, request: requests.AgentArguments) -> JsonObject:
    """Register an agent, or change its registry entry."""
    fields = _without_nulls(request.sent_fields("agent", "key"))
    registry = tenant_session.memory(request).agents
    return registry.upsert(request.agent, key=request.key, **fields).to_dict()


def _without_nulls(fields: JsonObject) -> JsonObject:
    """The fields that have a value: null stands for the default here, and removes nothing."""
    return {name: value for name, value in fields.items() if value is not None}


# --- keeping ----------------------------------------------------------------------------------


def maintain(tenant_session: TenantSession, request: requests.MaintainRequest) -> JsonObject:
    """Do pending work: embed memories that lack a vector, publish and merge segments."""
    return tenant_session.memory(request).maintain(limit=request.limit).to_dict()


def calibrate(tenant_session: TenantSession, request: requests.CalibrateRequest) -> JsonObject:
    """Measure a vector space and commit the numbers, if they differ from those in force."""
    return tenant_session.memory(request).calibrate(request.space).to_dict()
