"""The JSON-RPC methods and the MCP tool of Comis, on the recipe `comis`.

The recipe's table of names says what each field means here: a filter test, an override of a number
of the recipe, or a field of a record. Times of Comis are in milliseconds, ours in microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from memoriter import Hit
from memoriter.core.errors import BadRecord, InputError, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import JsonObject
from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.doors.port import ForeignTool, Right
from memoriter.doors.replies import Reply
from memoriter.doors.requests import EmptyRequest, Request, parse_request
from memoriter.doors.tenant_session import TenantSession, without_tenant
from memoriter.pipeline.load import recipe_of

NAME: Final = "comis"
_SEARCH: Final[JsonObject] = {"trustLevels": None, "order.0.enabled": False}
"""How `memory.search` differs from the recipe: all levels of trust, duplicates kept."""
_TIMES: Final = (
    "created", "occurred", "expires", "valid_from", "valid_until", "committed",
)  # fmt: skip
_MILLI: Final = 1000
_CUT: Final = 500
"""`memory.browse` truncates texts to so many characters."""
_SOURCE: Final = {"who": "sourceWho", "channel": "sourceChannel", "path": "sourcePath"}
_SESSION: Final = "sourceSessionKey"
Trust = Annotated[
    str | None, Field(description="How much the memory is trusted: system, learned or external.")
]
KindField = Annotated[
    str | None, Field(description="The type of memory: working, episodic, semantic or procedural.")
]
AgentField = Annotated[str | None, Field(description="The agent that the memory belongs to.")]
Tags = Annotated[
    list[str] | None,
    Field(description="Tags of the memory; a filter keeps memories that have all of them."),
]
Milli = int | str
"""Milliseconds since 1970, or ISO 8601."""


class MemoryFilters(Request):
    """Filters of memories."""

    scoping = False
    agentId: AgentField = None  # noqa: N815  # the names of another system, here and below
    memoryType: KindField = None  # noqa: N815
    trustLevel: Trust = None  # noqa: N815
    tags: Tags = None


class MemorySearch(MemoryFilters):
    """A search."""

    query: Annotated[str, Field(description="What to look for.")]
    limit: Annotated[int | None, Field(description="How many memories at most (default: 5).")] = (
        None
    )
    minScore: Annotated[  # noqa: N815
        float | None, Field(description="Minimum score, 0 to 1 (default: 0.1).")
    ] = None
    trustLevels: Annotated[  # noqa: N815
        list[str] | None, Field(description="Only memories of these trust levels.")
    ] = None


class MemoryPage(MemoryFilters):
    """A page of memories by date."""

    sort: Annotated[
        Literal["newest", "oldest"], Field(description="Which memories come first.")
    ] = "newest"
    offset: Annotated[int, Field(description="How many memories to skip.")] = 0
    limit: Annotated[int, Field(description="How many memories at most.")] = 20


class MemoryStore(Request):
    """A memory to store."""

    scoping = False
    content: Annotated[str, Field(description="The text to store.")]
    tags: Tags = None
    trustLevel: Trust = None  # noqa: N815
    memoryType: KindField = None  # noqa: N815
    agentId: AgentField = None  # noqa: N815
    userId: Annotated[str | None, Field(description="The user whom the memory is about.")] = None  # noqa: N815
    createdAt: Annotated[  # noqa: N815
        Milli | None, Field(description="Time of creation: ms since 1970, or ISO 8601.")
    ] = None
    occurredAt: Annotated[  # noqa: N815
        Milli | None, Field(description="Time of the event: ms since 1970, or ISO 8601.")
    ] = None
    expiresAt: Annotated[  # noqa: N815
        Milli | None, Field(description="Time of expiry: ms since 1970, or ISO 8601.")
    ] = None


class MemoryDelete(Request):
    """The memories to delete."""

    id: Annotated[str | None, Field(description="The id of a memory to delete.")] = None
    ids: Annotated[list[str] | None, Field(description="The ids of memories to delete.")] = None


class MemoryInspect(Request):
    """One memory by id, or statistics of all."""

    id: Annotated[
        str | None,
        Field(description="The id of a memory; leave it out for statistics of all memories."),
    ] = None


@dataclass(frozen=True, slots=True)
class Method:
    """One JSON-RPC method of Comis."""

    name: str
    right: Right
    request: type[Request]
    handler: Callable[[TenantSession, Any], JsonObject]

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> JsonObject:
        """Validate the request, run it, and return the answer."""
        fields = without_tenant(tenant_session.tenant, data)
        if isinstance(fields, dict):
            fields = _in_camel_case(cast("JsonObject", fields))
        return self.handler(
            tenant_session, parse_request(self.request, cast("object", fields), spelled=spelled)
        )


def search(tenant_session: TenantSession, request: MemorySearch) -> JsonObject:
    """Memories, best first, each with its score, its lanes and all its fields."""
    named = {k: v for k, v in request.sent_fields("query", "limit").items() if v is not None}
    result = tenant_session.memory(request).recall(
        request.query, request.limit, recipe=recipe_of(NAME), overrides={**_SEARCH, **named}
    )
    return {
        "results": [_result(hit) for hit in result],
        "total": result.total,
        "receipt": tenant_session.handle(result),
    }


def browse(tenant_session: TenantSession, request: MemoryPage) -> JsonObject:
    """A page of memories by date, with the exact total."""
    page = tenant_session.memory(request).browse(
        request.sort, limit=request.limit, offset=request.offset, where=_where(request)
    )
    entries = [comis_entry(record) for record in page.records]
    return {
        "entries": [{**each, "content": each["content"][:_CUT]} for each in entries],
        "total": page.total,
        "offset": request.offset,
        "limit": request.limit,
        "hasMore": page.cursor is not None,
    }


def stats(tenant_session: TenantSession, request: Request) -> JsonObject:
    """Statistics of the tenant. `dbSizeBytes` is None: tenants share the file."""
    memory = tenant_session.memory(request)
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


def store(tenant_session: TenantSession, request: MemoryStore) -> JsonObject:
    """Store one memory."""
    fields: JsonObject = {
        _our_names()[name]: _micro(name, value)
        for name, value in request.sent_fields().items()
        if value is not None
    }
    commit = tenant_session.memory(request).remember(**fields)
    return {"id": commit.ids[0], "stored": True}


def delete(tenant_session: TenantSession, request: MemoryDelete) -> JsonObject:
    """Delete memories; ids that do not exist are counted as failed."""
    wanted = list(request.ids or []) + ([] if request.id is None else [request.id])
    if not wanted:
        raise InputError(
            "ids: no memory is named",
            hint="give the memories to delete in `id` or `ids`",
            field="ids",
        )
    deleted = sum(_deleted(tenant_session, request, each) for each in dict.fromkeys(wanted))
    total = len(set(wanted))
    return {"deleted": deleted, "failed": total - deleted, "total": total}


def inspect(tenant_session: TenantSession, request: MemoryInspect) -> JsonObject:
    """One memory, or statistics of all."""
    if request.id is None:
        return {"stats": stats(tenant_session, request)}
    return {"entry": comis_entry(tenant_session.memory(request).get(request.id))}


class MemoryHits(Reply):
    """The answer to a search."""

    results: list[JsonObject]
    total: int


METHODS: Final = (
    Method("memory.search", "read", MemorySearch, search),
    Method("memory.browse", "read", MemoryPage, browse),
    Method("memory.stats", "read", EmptyRequest, stats),
    Method("memory.inspect", "read", MemoryInspect, inspect),
    Method("memory.store", "write", MemoryStore, store),
    Method("memory.delete", "write", MemoryDelete, delete),
)
"""The methods of Comis, for the JSON-RPC door."""

TOOLS: Final = (
    ForeignTool("comis_memory_search", NAME, MemorySearch, MemoryHits, search,
                "Comis: find memories by words and vectors, each with its score and source."),
)  # fmt: skip
"""Comis calls it memory_search, but that name belongs to the tool of jeffs-brain here."""


# -- translation of fields -------------------------------------------------------------------------


def comis_entry(record: Record) -> JsonObject:
    """A record with the field names of Comis; a field without such a name keeps its own."""
    fields = cast("JsonObject", record.to_dict())
    moments = {key: to_micros(getattr(record, key)) // _MILLI for key in _TIMES if key in fields}
    source = {_SOURCE[key]: value for key, value in fields.pop("source", {}).items()}
    named = {_their_names().get(key, key): value for key, value in {**fields, **moments}.items()}
    return {"tags": [], **named, **source}


def _result(hit: Hit) -> JsonObject:
    lanes = {label: {"rank": lane.rank, "score": lane.score} for label, lane in hit.lanes.items()}
    return {**comis_entry(hit.record), "score": hit.score, "source": hit.source, "lanes": lanes}


@cache
def _our_names() -> dict[str, str]:
    """From names of Comis to fields of a record: the recipe's paths into `record` and `where`."""
    out = {"session": "session"}
    for name, target in recipe_of(NAME).names.items():
        path = target if isinstance(target, str) else target[0]
        place, _, rest = path.partition(".")
        if place == "record":
            out[name] = rest
        elif place == "where":
            out[name] = rest.rpartition(".")[0]
    return out


@cache
def _their_names() -> dict[str, str]:
    return {field: name for name, field in _our_names().items()} | {"session": _SESSION}


def _where(request: MemoryFilters) -> JsonObject | None:
    """The filter for a request, or None; raises `InputError` for an unknown value."""
    recipe = recipe_of(NAME)
    tests: list[JsonObject] = []
    for name in MemoryFilters.model_fields:
        value = getattr(request, name)
        if value is None:
            continue
        known = recipe.values.get(name)
        if known is not None and value not in known:
            raise InputError(
                f"{name}: {value!r} is not allowed",
                hint=f"known: {', '.join(known)}",
                field=name,
            )
        attribute, _, op = str(recipe.names[name]).removeprefix("where.").rpartition(".")
        tests.append({attribute: {op: value}})
    return {"all": tests} if tests else None


def _micro(name: str, value: object) -> object:
    """Milliseconds as microseconds; any other value unchanged."""
    if _our_names()[name] in _TIMES and isinstance(value, int):
        return value * _MILLI
    return value


def _deleted(tenant_session: TenantSession, request: Request, id: str) -> bool:
    try:
        return bool(tenant_session.memory(request).forget(id).ids)
    except (NotFound, BadRecord):
        return False


def _in_camel_case(fields: JsonObject) -> JsonObject:
    """The fields under Comis' names; raises InputError for one that is given in two spellings."""
    out: JsonObject = {}
    for key, value in fields.items():
        if _camel(key) in out:
            raise InputError(
                f"{_camel(key)}: is given in two spellings, with and without underscores",
                hint="give it once",
                field=key,
            )
        out[_camel(key)] = value
    return out


def _camel(name: str) -> str:
    """`agent_id` as `agentId`: Comis accepts both."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
