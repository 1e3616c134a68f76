"""engrava's tools: all signals together, and keywords alone, on the recipe `engrava`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from memoriter.core.errors import BadFilter
from memoriter.doors.compat.speech import Said, knobs, said
from memoriter.doors.compat.tool import Compat
from memoriter.doors.desk import Desk
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request
from memoriter.pipeline.load import recipe_of
from memoriter.why.result import Hit, Result

Plain = dict[str, Any]
RECIPE: Final = "engrava"
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
    op: Annotated[Literal["EQ", "IN"], Field(description="Equal, or one of.")] = "EQ"
    value: Any


class Asked(Request):
    """A question."""

    query_text: Annotated[
        str, Field(description='Words; "phrases", AND, OR, NOT, content: make an expression.')
    ]
    top_k: Annotated[int, Field(ge=1, le=1000, description="How many at most.")] = 10
    filters: Annotated[
        list[Predicate] | None, Field(description="Tests of metadata that all hold.")
    ] = None


class Free(Asked):
    """A question that may have no words."""

    query_text: Annotated[str, Field(description="Words, as in search_keywords; may be blank.")]


Keywords = create_model("Keywords", __base__=Asked, **knobs(RECIPE, KEYWORDS))
Hybrid = create_model("Hybrid", __base__=Free, **knobs(RECIPE, KNOBS))


class Answer(Reply):
    """Thoughts, best first, and the signals that took part."""

    results: list[Plain]
    backends_used: list[str]
    reflections_evicted: int


def keywords(desk: Desk, asked: Any) -> Plain:
    """The keyword signal alone."""
    told = _said(desk, asked)
    found = desk.memory(asked).keywords(asked.query_text, asked.top_k, **told.ask())
    called = recipe_of(RECIPE).called
    return _told(desk, found, [called(f"lanes.{label}") for label in found.used])


def memory(desk: Desk, asked: Any) -> Plain:
    """All signals, weighted."""
    told = _said(desk, asked)
    if asked.recency_now is not None:
        told.overrides["boosts.recency_now.enabled"] = True
    found = desk.memory(asked).recall(asked.query_text, asked.top_k, **told.ask())
    signals = [signal.removesuffix("_now") for signal in found.signals]
    return _told(desk, found, signals)


def _said(desk: Desk, asked: Any) -> Said:
    told = said(RECIPE, desk, asked, "query_text", "top_k", "filters")
    told.tests.extend(_test(each) for each in asked.filters or ())
    return told


def _test(predicate: Predicate) -> Plain:
    """A test of metadata in our words."""
    found = _PATH.fullmatch(predicate.path)
    if found is None:
        raise BadFilter(
            f"filters: {predicate.path[:80]!r} is no path", hint="write $.name", field="filters"
        )
    return {f"metadata{found[1]}": {predicate.op.lower(): predicate.value}}


def _told(desk: Desk, found: Result, signals: list[str]) -> Plain:
    cap = [step.shows.get("evicted", 0) for step in found.plan.steps if step.name == "cap"]
    return {
        "results": [_thought(hit) for hit in found],
        "backends_used": signals,
        "reflections_evicted": cap[0] if cap else 0,
        "receipt": desk.handle(found),
    }


def _thought(hit: Hit) -> Plain:
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
    Compat("search_memory", RECIPE, Hybrid, Answer, memory,
           "engrava: find thoughts by keywords, vectors, recency, priority and neighbours."),
    Compat("search_keywords", RECIPE, Keywords, Answer, keywords,
           "engrava: find thoughts by keywords alone."),
)  # fmt: skip
