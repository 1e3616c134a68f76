"""The MCP tools of MentisDB, on the recipe `mentisdb`: list by filter, ranked search, bundles."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from memoriter import Hit, Memory
from memoriter.core.errors import NotFound
from memoriter.core.record import Record
from memoriter.core.times import iso
from memoriter.doors.port import ForeignTool
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request
from memoriter.doors.tenant_session import TenantSession
from memoriter.pipeline.load import recipe_of
from memoriter.systems.wording import (
    JsonObject,
    RecallArgs,
    fields_by_name,
    option_fields,
    recall_args,
    value_by_path,
)
from memoriter.why.bundles import Support

NAME: Final = "mentisdb"
DEFAULT_LIMIT: Final = 50
"""The default limit of the tools."""
FILTERS: Final = (
    "thought_types", "roles", "agent_ids", "tags_any", "concepts_any", "entity_type",
    "source_episode", "min_importance", "min_confidence", "since", "until",
)  # fmt: skip
WALK: Final = ("max_depth", "max_visited", "mode", "include_seeds")
# Without boosts and with these ties, an empty query lists the newest first.
_BY_POSITION: Final = {"pass.0.boosts": [], "pass.0.ties": ["-position"]}


class Expansion(BaseModel):
    """Options of the graph walk."""

    model_config = ConfigDict(extra="forbid", frozen=True)


WalkFields = create_model("WalkFields", __base__=Expansion, **option_fields(NAME, WALK))
GraphField = Annotated[
    bool | WalkFields | None,
    Field(description="Whether links are followed, or the options for following them."),
]
ScopeField = Annotated[
    Literal["user", "session", "agent"] | None,
    Field(description="Only thoughts that are tagged with this scope."),
]
Chain = Annotated[
    str | None,
    Field(description="The name of the chain; it must be the one that your credential is for."),
]


class ChainPage(Request):
    """A chain and a page of its thoughts."""

    chain_key: Chain = None
    scope: ScopeField = None
    offset: Annotated[int, Field(ge=0, le=10_000, description="How many thoughts to skip.")] = 0
    limit: Annotated[int, Field(ge=1, le=1000, description="How many thoughts at most.")] = (
        DEFAULT_LIMIT
    )


class TextQuery(ChainPage):
    """A text in addition to the filters."""

    text: Annotated[
        str,
        Field(
            description="What to look for; if blank, all thoughts that pass the filter are listed."
        ),
    ]


class GraphQuery(TextQuery):
    """A text, and whether links of its hits are followed."""

    graph: GraphField = None


class BundleQuery(TextQuery):
    """A text, and how the records linked to its hits are collected."""

    graph: GraphField = True


FilterSearch = create_model("FilterSearch", __base__=ChainPage, **option_fields(NAME, FILTERS))
RankedSearch = create_model(
    "RankedSearch",
    __base__=GraphQuery,
    **option_fields(NAME, ("as_of", "enable_reranking", "rerank_k", *FILTERS)),
)
BundleSearch = create_model(
    "BundleSearch", __base__=BundleQuery, **option_fields(NAME, ("as_of", *FILTERS))
)


class ThoughtList(Reply):
    """The thoughts that pass the filter."""

    total: int
    thoughts: list[JsonObject]


class RankedThoughts(Reply):
    """Hits, best first."""

    backend: str
    total: int
    results: list[JsonObject]


class ThoughtBundles(Reply):
    """Hits, each with the thoughts linked to it."""

    total_bundles: int
    consumed_hits: int
    bundles: list[JsonObject]


# -- the tools -----------------------------------------------------------------------------------


def search(tenant_session: TenantSession, request: Any) -> JsonObject:
    """The newest thoughts that pass the filter, in the order of writing."""
    memory, args = tenant_session.memory(request), _args(tenant_session, request)
    result = memory.recall(
        "", request.offset + request.limit, **args.options_with(overrides=_BY_POSITION)
    )
    formatter = _ThoughtFormatter(tenant_session, memory)
    shown = [formatter.thought(hit.record) for hit in reversed(result[request.offset :])]
    return {"total": result.total, "thoughts": shown}


def ranked_search(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Search by the whole pipeline; every hit has its scores."""
    memory, args = tenant_session.memory(request), _args(tenant_session, request)
    result = memory.recall(args.query, request.offset + request.limit, **args.options_with())
    formatter = _ThoughtFormatter(tenant_session, memory)
    results = [
        {
            "chain_key": tenant_session.tenant,
            "thought": formatter.thought(hit.record),
            **_scores(hit),
        }
        for hit in result[request.offset :]
    ]
    receipt = tenant_session.handle(result)
    return {
        "backend": result.backend,
        "total": result.total,
        "results": results,
        "receipt": receipt,
    }


def context_bundles(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Hits by words, each with the thoughts linked to it."""
    memory, args = tenant_session.memory(request), _args(tenant_session, request)
    result = memory.bundles(args.query, request.limit, offset=request.offset, **args.options_with())
    formatter = _ThoughtFormatter(tenant_session, memory)
    bundles = [
        {
            "seed": {
                "locator": formatter.locator(bundle.seed.record),
                "lexical_score": bundle.seed.score,
                "matched_terms": list(bundle.seed.matched),
                "thought": formatter.thought(bundle.seed.record),
            },
            "support": [formatter.support(each) for each in bundle.support],
        }
        for bundle in result
    ]
    consumed = request.offset + len(bundles)
    return {"total_bundles": result.total, "consumed_hits": consumed, "bundles": bundles}


def _args(tenant_session: TenantSession, request: Any) -> RecallArgs:
    """The arguments of a recall: `graph` becomes overrides, `scope` one more filter test."""
    apart = ("scope", "offset", "limit", "graph")
    args = recall_args(NAME, tenant_session, request, apart=apart)
    graph = getattr(request, "graph", None)
    if graph:
        args.overrides["graph"] = True
        if isinstance(graph, Expansion):
            args.overrides.update(graph.model_dump(exclude_none=True))
    if request.scope is not None:
        args.tests.append({"tags": {"any_fold": [f"scope:{request.scope}"]}})
    return args


# -- the answers ---------------------------------------------------------------------------------


def _scores(hit: Hit) -> JsonObject:
    """The scores of a hit, its matched words and its graph path; every key is always present."""
    way = fields_by_name(NAME, "hit", hit)
    sources = {field for fields in hit.matched.values() for field in fields}
    return {
        **way,
        "score": dict(hit.scores),
        "matched_terms": list(hit.matched),
        "match_sources": [_called(field) for field in _FIELDS if field in sources],
        "graph_relation_kinds": way["graph_relation_kinds"] or [],
    }


_FIELDS: Final = tuple(value_by_path(recipe_of(NAME), "lanes.words.fields"))


def _called(field: str) -> str:
    """The name of MentisDB for a field of a record."""
    names = recipe_of(NAME).names.items()
    return next((name for name, target in names if target == f"record.{field}"), field)


class _ThoughtFormatter:
    """Formats records as thoughts. It reads the agent registry once per answer."""

    def __init__(self, tenant_session: TenantSession, memory: Memory) -> None:
        self._tenant = tenant_session.tenant
        self._memory = memory
        self._agents = {agent.agent: agent for agent in memory.agents.list()}

    def thought(self, record: Record) -> JsonObject:
        """A record with the fields of MentisDB."""
        agent = self._agents.get(record.agent)
        return {
            "id": record.id,
            **fields_by_name(NAME, "record", record),
            "timestamp": iso(record.committed),
            "relations": _relations(self._memory, record.id),
            "entity_type": record.entity_type,
            "source_episode": record.source_episode,
            "agent_name": (agent and agent.display_name) or record.agent,
            "agent_owner": agent and agent.owner,
        }

    def locator(self, record: Record) -> JsonObject:
        """The address of a thought in its chain."""
        return {"chain_key": self._tenant, "index": record.position, "id": record.id}

    def support(self, one: Support) -> JsonObject:
        """A thought linked to a hit, and the path to it."""
        return {
            "locator": self.locator(one.record),
            "thought": self.thought(one.record),
            "depth": one.depth,
            "seed_path_count": one.seed_paths,
            "relation_kinds": list(one.kinds),
            "path": [dict(hop) for hop in one.path],
        }


def _relations(memory: Memory, id: str) -> list[JsonObject]:
    try:
        edges = [edge for edge in memory.links(id) if edge.source == id]
    except NotFound:  # another process forgot it meanwhile
        return []
    return [
        {
            "kind": edge.kind,
            "target_id": edge.target,
            "valid_at": None if edge.valid_from is None else iso(edge.valid_from),
            "invalid_at": None if edge.valid_until is None else iso(edge.valid_until),
        }
        for edge in edges
    ]


TOOLS: Final = (
    ForeignTool("mentisdb_search", NAME, FilterSearch, ThoughtList, search,
           "MentisDB: list thoughts by filters alone, in the order they were written."),
    ForeignTool("mentisdb_ranked_search", NAME, RankedSearch, RankedThoughts, ranked_search,
           "MentisDB: find thoughts by words, meaning and links, each with its numbers."),
    ForeignTool("mentisdb_context_bundles", NAME, BundleSearch, ThoughtBundles, context_bundles,
           "MentisDB: find thoughts by words, each with those linked to it."),
)  # fmt: skip
