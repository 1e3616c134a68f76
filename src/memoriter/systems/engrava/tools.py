"""The MCP tools of engrava, on the recipe `engrava`: hybrid search and keyword search."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from memoriter import Hit, Result
from memoriter.core.errors import BadFilter
from memoriter.core.names import JsonObject
from memoriter.doors.port import ForeignTool
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request
from memoriter.doors.tenant_session import TenantSession
from memoriter.pipeline.load import recipe_of
from memoriter.systems.wording import RecallArgs, option_fields, recall_args

NAME: Final = "engrava"
KEYWORDS: Final = ("include_archived", "include_reflections", "fts_top_k")
KNOBS: Final = (
    "query_vector", "current_cycle", "recency_now", "fts_weight", "vector_weight",
    "recency_weight", "priority_weight", "graph_weight", "recency_half_life",
    "recency_now_half_life", "graph_edge_decay", "max_neighbors_per_candidate",
    "reflection_boost", "vector_top_k", "graph_expansion_enabled", *KEYWORDS,
)  # fmt: skip
_PATH: Final = re.compile(r"\$((?:\.[A-Za-z0-9_-]+)+)")


class Predicate(BaseModel):
    """A test of metadata."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: Annotated[str, Field(description="$.name.name")]
    op: Annotated[
        Literal["EQ", "IN"],
        Field(description="EQ: the field equals `value`; IN: it is one of the list `value`."),
    ] = "EQ"
    value: Any


class ThoughtQuery(Request):
    """A query."""

    query_text: Annotated[
        str,
        Field(description='Words, or an expression with "phrases", AND, OR, NOT or content:word.'),
    ]
    top_k: Annotated[int, Field(ge=1, le=1000, description="How many thoughts at most.")] = 10
    filters: Annotated[
        list[Predicate] | None,
        Field(description="Tests of the metadata; a thought must pass all of them."),
    ] = None


class FreeQuery(ThoughtQuery):
    """A query that may have no words."""

    query_text: Annotated[
        str,
        Field(description='Words, "phrases", AND, OR, NOT and content:word; may be blank.'),
    ]


Keywords = create_model("Keywords", __base__=ThoughtQuery, **option_fields(NAME, KEYWORDS))
Hybrid = create_model("Hybrid", __base__=FreeQuery, **option_fields(NAME, KNOBS))


class SignalHits(Reply):
    """Thoughts, best first, and the signals that contributed."""

    results: list[JsonObject]
    backends_used: list[str]
    reflections_evicted: int


def search_keywords(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Search by keywords only."""
    args = _args(tenant_session, request)
    result = tenant_session.memory(request).keywords(
        request.query_text, request.top_k, **args.options_with()
    )
    called = recipe_of(NAME).called
    return _reply(tenant_session, result, [called(f"lanes.{label}") for label in result.used])


def search_memory(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Search by all signals, weighted."""
    args = _args(tenant_session, request)
    if request.recency_now is not None:
        # Giving a reference time selects the recency by clock instead of by cycle.
        args.overrides["boosts.recency_now.enabled"] = True
    result = tenant_session.memory(request).recall(
        request.query_text, request.top_k, **args.options_with()
    )
    return _reply(tenant_session, result, list(result.signals))


def _args(tenant_session: TenantSession, request: Any) -> RecallArgs:
    args = recall_args(NAME, tenant_session, request, apart=("query_text", "top_k", "filters"))
    args.tests.extend(_test(each) for each in request.filters or ())
    return args


def _test(predicate: Predicate) -> JsonObject:
    """A predicate on metadata as a filter test. Raises `BadFilter` for an invalid path."""
    path = _PATH.fullmatch(predicate.path)
    if path is None:
        raise BadFilter(
            f"filters: {predicate.path[:80]!r} is not a valid path",
            hint="write $.name or $.name.name",
            field="filters",
        )
    return {f"metadata{path[1]}": {predicate.op.lower(): predicate.value}}


def _reply(tenant_session: TenantSession, result: Result, signals: list[str]) -> JsonObject:
    cap = [step.shows.get("evicted", 0) for step in result.plan.steps if step.name == "cap"]
    return {
        "results": [_thought(hit) for hit in result],
        "backends_used": signals,
        "reflections_evicted": cap[0] if cap else 0,
        "receipt": tenant_session.handle(result),
    }


def _thought(hit: Hit) -> JsonObject:
    record = hit.record
    return {
        "id": record.id,
        "score": hit.score,
        "type": record.kind.upper(),
        "essence": record.essence,
        "content": record.text,
        "priority": record.priority,
        "lifecycle": "ARCHIVED" if record.archived else "ACTIVE",
        "updated_cycle": record.cycle,
        "confidence": record.confidence,
        "metadata": record.metadata,
    }


TOOLS: Final = (
    ForeignTool("search_memory", NAME, Hybrid, SignalHits, search_memory,
           "engrava: find thoughts by keywords, vectors, recency, priority and neighbours."),
    ForeignTool("search_keywords", NAME, Keywords, SignalHits, search_keywords,
           "engrava: find thoughts by keywords alone."),
)  # fmt: skip
