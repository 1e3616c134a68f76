"""The JSON-RPC methods of Comis, in its words, over the recipe of its name.

What its fields mean here is read from the recipe's own table of names: a field that leads to a
test filters, one that leads to a number of the recipe overrides it, one that leads to a field of
a record is written or shown. Its times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from memoriter.core.errors import BadRecord, InputError, NotFound
from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.doors.operations import Right
from memoriter.doors.port import ForeignTool
from memoriter.doors.replies import Reply
from memoriter.doors.requests import EmptyRequest, Request, parse_request
from memoriter.doors.tenant_session import TenantSession, without_tenant
from memoriter.pipeline.load import recipe_of
from memoriter.why.result import Hit

NAME: Final = "comis"
Plain = dict[str, Any]
_SEARCH: Final[Plain] = {"trustLevels": None, "order.0.enabled": False}
"""What a search does otherwise than the recall that the recipe tells: all trust, all copies."""
_TIMES: Final = (
    "created", "occurred", "expires", "valid_from", "valid_until", "committed",
)  # fmt: skip
_MILLI: Final = 1000
_CUT: Final = 500
"""Characters of a text that a list shows."""
_SOURCE: Final = {"who": "sourceWho", "channel": "sourceChannel", "path": "sourcePath"}
_SESSION: Final = "sourceSessionKey"
Trust = Annotated[str | None, Field(description="system, learned or external.")]
Kind = Annotated[str | None, Field(description="working, episodic, semantic or procedural.")]
Agent = Annotated[str | None, Field(description="Of this agent.")]
Tags = Annotated[list[str] | None, Field(description="Labels; as a filter all of them.")]
Milli = int | str
"""Milliseconds since 1970, or ISO 8601."""


class MemoryFilters(Request):
    """Which memories."""

    scoping = False
    agentId: Agent = None  # noqa: N815  # the names of another system, here and below
    memoryType: Kind = None  # noqa: N815
    trustLevel: Trust = None  # noqa: N815
    tags: Tags = None


class MemorySearch(MemoryFilters):
    """A question."""

    query: Annotated[str, Field(description="What to look for.")]
    limit: Annotated[int | None, Field(description="How many at most (5).")] = None
    minScore: Annotated[float | None, Field(description="From 0 to 1 (0.1).")] = None  # noqa: N815
    trustLevels: Annotated[list[str] | None, Field(description="Some of the three.")] = None  # noqa: N815


class MemoryPage(MemoryFilters):
    """A page of memories by date."""

    sort: Annotated[Literal["newest", "oldest"], Field(description="Which come first.")] = "newest"
    offset: Annotated[int, Field(description="How many to leave out.")] = 0
    limit: Annotated[int, Field(description="How many at most.")] = 20


class MemoryStore(Request):
    """Something to keep."""

    scoping = False
    content: Annotated[str, Field(description="What to keep.")]
    tags: Tags = None
    trustLevel: Trust = None  # noqa: N815
    memoryType: Kind = None  # noqa: N815
    agentId: Agent = None  # noqa: N815
    userId: Annotated[str | None, Field(description="Whom it concerns.")] = None  # noqa: N815
    createdAt: Annotated[Milli | None, Field(description="When it was made.")] = None  # noqa: N815
    occurredAt: Annotated[Milli | None, Field(description="When it happened.")] = None  # noqa: N815
    expiresAt: Annotated[Milli | None, Field(description="When it goes.")] = None  # noqa: N815


class MemoryDelete(Request):
    """Which memories."""

    id: Annotated[str | None, Field(description="One id.")] = None
    ids: Annotated[list[str] | None, Field(description="Several ids.")] = None


class MemoryInspect(Request):
    """One memory, or all in numbers."""

    id: Annotated[str | None, Field(description="An id.")] = None


@dataclass(frozen=True, slots=True)
class Method:
    """One method of Comis."""

    name: str
    right: Right
    request: type[Request]
    act: Callable[[TenantSession, Any], Plain]

    def run(self, tenant_session: TenantSession, data: object, *, spelled: bool = False) -> Plain:
        """Check what is asked, do it, answer."""
        fields = without_tenant(tenant_session.tenant, data)
        if isinstance(fields, dict):
            fields = {_camel(key): value for key, value in cast("Plain", fields).items()}
        return self.act(
            tenant_session, parse_request(self.request, cast("object", fields), spelled=spelled)
        )


def search(tenant_session: TenantSession, asked: MemorySearch) -> Plain:
    """Memories, best first, each with its score, its source and all of its fields."""
    given = {k: v for k, v in asked.sent_fields("query", "limit").items() if v is not None}
    result = tenant_session.memory(asked).recall(
        asked.query, asked.limit, recipe=recipe_of(NAME), overrides={**_SEARCH, **given}
    )
    return {
        "results": [_result(hit) for hit in result],
        "total": result.total,
        "receipt": tenant_session.handle(result),
    }


def browse(tenant_session: TenantSession, asked: MemoryPage) -> Plain:
    """A page by date, with a true total."""
    page = tenant_session.memory(asked).browse(
        asked.sort, limit=asked.limit, offset=asked.offset, where=_where(asked)
    )
    entries = [entry(record) for record in page.records]
    return {
        "entries": [{**each, "content": each["content"][:_CUT]} for each in entries],
        "total": page.total,
        "offset": asked.offset,
        "limit": asked.limit,
        "hasMore": page.cursor is not None,
    }


def stats(tenant_session: TenantSession, asked: Request) -> Plain:
    """All memories of the tenant in numbers; the size of the file is that of others too."""
    memory = tenant_session.memory(asked)
    kinds, trust, agents, sessions = (
        memory.status(by) for by in ("memory_type", "trust", "agent", "session")
    )
    oldest = memory.browse("oldest", limit=1).records
    return {
        "totalEntries": kinds.records,
        "byType": kinds.counts,
        "byTrustLevel": trust.counts,
        "byAgent": agents.counts,
        "totalSessions": sessions.distinct,
        "embeddedEntries": max(0, kinds.records - kinds.debt),
        "dbSizeBytes": None,
        "oldestCreatedAt": to_micros(oldest[0].created) // _MILLI if oldest else None,
    }


def store(tenant_session: TenantSession, asked: MemoryStore) -> Plain:
    """Keep one memory."""
    fields: Plain = {
        _leads(name): _micro(name, value)
        for name, value in asked.sent_fields().items()
        if value is not None
    }
    commit = tenant_session.memory(asked).remember(**fields)
    return {"id": commit.ids[0], "stored": True}


def delete(tenant_session: TenantSession, asked: MemoryDelete) -> Plain:
    """Erase memories; those that are not there are counted as failed."""
    wanted = list(asked.ids or []) + ([] if asked.id is None else [asked.id])
    if not wanted:
        raise InputError("ids: must not be empty", hint="name what is to go", field="ids")
    deleted = sum(_gone(tenant_session, asked, each) for each in dict.fromkeys(wanted))
    total = len(set(wanted))
    return {"deleted": deleted, "failed": total - deleted, "total": total}


def inspect(tenant_session: TenantSession, asked: MemoryInspect) -> Plain:
    """One memory, or all in numbers."""
    if asked.id is None:
        return {"stats": stats(tenant_session, asked)}
    return {"entry": entry(tenant_session.memory(asked).get(asked.id))}


class MemoryHits(Reply):
    """What Comis answers to a search."""

    results: list[Plain]
    total: int


METHODS: Final = (
    Method("memory.search", "read", MemorySearch, search),
    Method("memory.browse", "read", MemoryPage, browse),
    Method("memory.stats", "read", EmptyRequest, stats),
    Method("memory.inspect", "read", MemoryInspect, inspect),
    Method("memory.store", "write", MemoryStore, store),
    Method("memory.delete", "write", MemoryDelete, delete),
)
"""What Comis answers to."""

TOOLS: Final = (
    ForeignTool("comis_memory_search", NAME, MemorySearch, MemoryHits, search,
                "Comis: find memories by words and vectors, each with its score and source."),
)  # fmt: skip
"""Its own name, memory_search, is jeffs-brain's here, whose text names it as a tool."""


# -- the words of either side ----------------------------------------------------------------------


def entry(record: Record) -> Plain:
    """A record under Comis' names; a field that it has no name for keeps its own."""
    fields = cast("Plain", record.to_dict())
    moments = {key: to_micros(getattr(record, key)) // _MILLI for key in _TIMES if key in fields}
    source = {_SOURCE[key]: value for key, value in fields.pop("source", {}).items()}
    named = {_named().get(key, key): value for key, value in {**fields, **moments}.items()}
    return {"tags": [], **named, **source}


def _result(hit: Hit) -> Plain:
    lanes = {label: {"rank": lane.rank, "score": lane.score} for label, lane in hit.lanes.items()}
    return {**entry(hit.record), "score": hit.score, "source": hit.source, "lanes": lanes}


@cache
def _leading() -> dict[str, str]:
    """From Comis' names to fields of a record: those told as such, and those that filters test."""
    out = {"session": "session"}
    for name, leads in recipe_of(NAME).names.items():
        path = leads if isinstance(leads, str) else leads[0]
        place, _, rest = path.partition(".")
        if place == "record":
            out[name] = rest
        elif place == "where":
            out[name] = rest.rpartition(".")[0]
    return out


@cache
def _named() -> dict[str, str]:
    return {field: name for name, field in _leading().items()} | {"session": _SESSION}


def _leads(name: str) -> str:
    return _leading()[name]


def _where(asked: MemoryFilters) -> Plain | None:
    """The tests that the given filters lead to."""
    recipe = recipe_of(NAME)
    tests: list[Plain] = []
    for name in MemoryFilters.model_fields:
        value = getattr(asked, name)
        if value is None:
            continue
        known = recipe.values.get(name)
        if known is not None and value not in known:
            raise InputError(
                f"{name}: {value!r} is not one of {', '.join(known)}",
                hint=f"known: {', '.join(known)}",
                field=name,
            )
        attribute, _, op = str(recipe.names[name]).removeprefix("where.").rpartition(".")
        tests.append({attribute: {op: value}})
    return {"all": tests} if tests else None


def _micro(name: str, value: object) -> object:
    """Milliseconds as microseconds; everything else as it is."""
    if _leads(name) in _TIMES and isinstance(value, int):
        return value * _MILLI
    return value


def _gone(tenant_session: TenantSession, asked: Request, id: str) -> bool:
    try:
        return bool(tenant_session.memory(asked).forget(id).ids)
    except (NotFound, BadRecord):
        return False


def _camel(name: str) -> str:
    """`agent_id` as `agentId`: Comis writes both."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
