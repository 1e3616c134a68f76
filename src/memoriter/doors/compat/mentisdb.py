"""MentisDB's tools: filter, ranked search and bundles, on the recipe `mentisdb`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from memoriter.core.errors import NotFound
from memoriter.core.record import Record
from memoriter.core.times import iso
from memoriter.doors.compat.speech import Said, knobs, reached, said, spoken
from memoriter.doors.compat.tool import Compat
from memoriter.doors.desk import Desk
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.why.bundles import Support
from memoriter.why.result import Hit

Plain = dict[str, Any]
RECIPE: Final = "mentisdb"
USUAL: Final = 50
"""How many the tools answer with unless told."""
FILTERS: Final = (
    "thought_types", "roles", "agent_ids", "tags_any", "concepts_any", "entity_type",
    "source_episode", "min_importance", "min_confidence", "since", "until",
)  # fmt: skip
WALK: Final = ("max_depth", "max_visited", "mode", "include_seeds")
_BY_POSITION: Final = {"pass.0.boosts": [], "pass.0.ties": ["-position"]}


class Expansion(BaseModel):
    """How the graph is walked."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Walked = create_model("Walked", __base__=Expansion, **knobs(RECIPE, WALK))
Graph = Annotated[
    bool | Walked | None,
    Field(description="Whether links are followed, or how."),
]
Scope = Annotated[
    Literal["user", "session", "agent"] | None,
    Field(description="Only what carries this scope's tag."),
]
Chain = Annotated[
    str | None, Field(description="The chain; it has to be the one of your credential.")
]


class Paged(Request):
    """Which chain, which page."""

    chain_key: Chain = None
    scope: Scope = None
    offset: Annotated[int, Field(ge=0, le=10_000, description="How many to leave out.")] = 0
    limit: Annotated[int, Field(ge=1, le=1000, description="How many at most.")] = USUAL


class Asked(Paged):
    """A text beside the filters."""

    text: Annotated[str, Field(description="What to look for; blank lists what the filter keeps.")]


class Walking(Asked):
    """A text, and how links are followed from what it finds."""

    graph: Graph = None


class Following(Asked):
    """A text, and how what hangs on its hits is found."""

    graph: Graph = True


Search = create_model("Search", __base__=Paged, **knobs(RECIPE, FILTERS))
Ranked = create_model(
    "Ranked",
    __base__=Walking,
    **knobs(RECIPE, ("as_of", "enable_reranking", "rerank_k", *FILTERS)),
)
Bundled = create_model("Bundled", __base__=Following, **knobs(RECIPE, ("as_of", *FILTERS)))


class Found(Reply):
    """What the filter keeps."""

    total: int
    thoughts: list[Plain]


class Answer(Reply):
    """Hits, best first."""

    backend: str
    total: int
    results: list[Plain]


class Grouped(Reply):
    """Hits with what hangs on them."""

    total_bundles: int
    consumed_hits: int
    bundles: list[Plain]


# -- asking --------------------------------------------------------------------------------------


def search(desk: Desk, asked: Any) -> Plain:
    """What the filter keeps: the newest, in the order they were written."""
    memory, told = desk.memory(asked), _said(desk, asked)
    found = memory.recall("", asked.offset + asked.limit, **told.ask(overrides=_BY_POSITION))
    tell = _Teller(desk, memory)
    shown = [tell.thought(hit.record) for hit in reversed(found[asked.offset :])]
    return {"total": found.total, "thoughts": shown}


def ranked_search(desk: Desk, asked: Any) -> Plain:
    """The whole pipeline, every hit with its numbers."""
    memory, told = desk.memory(asked), _said(desk, asked)
    found = memory.recall(told.query, asked.offset + asked.limit, **told.ask())
    tell = _Teller(desk, memory)
    results = [
        {"chain_key": desk.tenant, "thought": tell.thought(hit.record), **_why(hit)}
        for hit in found[asked.offset :]
    ]
    receipt = desk.handle(found)
    return {"backend": found.backend, "total": found.total, "results": results, "receipt": receipt}


def context_bundles(desk: Desk, asked: Any) -> Plain:
    """Hits by their words, each with what hangs on it."""
    memory, told = desk.memory(asked), _said(desk, asked)
    found = memory.bundles(told.query, asked.limit, offset=asked.offset, **told.ask())
    tell = _Teller(desk, memory)
    bundles = [
        {
            "seed": {
                "locator": tell.locator(bundle.seed.record),
                "lexical_score": bundle.seed.score,
                "matched_terms": list(bundle.seed.matched),
                "thought": tell.thought(bundle.seed.record),
            },
            "support": [tell.support(each) for each in bundle.support],
        }
        for bundle in found
    ]
    consumed = asked.offset + len(bundles)
    return {"total_bundles": found.total, "consumed_hits": consumed, "bundles": bundles}


def _said(desk: Desk, asked: Any) -> Said:
    """The request in our words: links followed as told, the scope as one more test."""
    told = said(RECIPE, desk, asked, "scope", "offset", "limit", "graph")
    graph = getattr(asked, "graph", None)
    if graph:
        told.overrides["graph"] = True
        if isinstance(graph, Expansion):
            told.overrides.update(graph.model_dump(exclude_none=True))
    if asked.scope is not None:
        told.tests.append({"tags": {"any_fold": [f"scope:{asked.scope}"]}})
    return told


# -- answering -----------------------------------------------------------------------------------


def _why(hit: Hit) -> Plain:
    """The numbers of a hit, its words and its way, always all of them."""
    way = spoken(RECIPE, "hit", hit)
    sources = {field for fields in hit.matched.values() for field in fields}
    return {
        **way,
        "score": dict(hit.scores),
        "matched_terms": list(hit.matched),
        "match_sources": [_called(field) for field in _FIELDS if field in sources],
        "graph_relation_kinds": way["graph_relation_kinds"] or [],
    }


_FIELDS: Final = tuple(reached(recipe_of(RECIPE), "lanes.words.fields"))


def _called(field: str) -> str:
    """What MentisDB calls a field of ours."""
    names = recipe_of(RECIPE).names.items()
    return next((name for name, leads in names if leads == f"record.{field}"), field)


class _Teller:
    """Tells records as thoughts; the registry is read once."""

    def __init__(self, desk: Desk, memory: Memory) -> None:
        self._tenant = desk.tenant
        self._memory = memory
        self._agents = {agent.agent: agent for agent in memory.agents.list()}

    def thought(self, record: Record) -> Plain:
        """A record in MentisDB's fields."""
        agent = self._agents.get(record.agent)
        return {
            "id": record.id,
            **spoken(RECIPE, "record", record),
            "timestamp": iso(record.committed),
            "relations": _relations(self._memory, record.id),
            "entity_type": record.entity_type,
            "source_episode": record.source_episode,
            "agent_name": (agent and agent.display_name) or record.agent,
            "agent_owner": agent and agent.owner,
        }

    def locator(self, record: Record) -> Plain:
        """Where a thought stands."""
        return {"chain_key": self._tenant, "index": record.position, "id": record.id}

    def support(self, found: Support) -> Plain:
        """A thought that hangs on another, and how."""
        return {
            "locator": self.locator(found.record),
            "thought": self.thought(found.record),
            "depth": found.depth,
            "seed_path_count": found.seed_paths,
            "relation_kinds": list(found.kinds),
            "path": [dict(hop) for hop in found.path],
        }


def _relations(memory: Memory, id: str) -> list[Plain]:
    try:
        edges = [edge for edge in memory.links(id) if edge.source == id]
    except NotFound:  # forgotten since it was found
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
    Compat("mentisdb_search", RECIPE, Search, Found, search,
           "MentisDB: list thoughts by filters alone, in the order they were written."),
    Compat("mentisdb_ranked_search", RECIPE, Ranked, Answer, ranked_search,
           "MentisDB: find thoughts by words, meaning and links, each with its numbers."),
    Compat("mentisdb_context_bundles", RECIPE, Bundled, Grouped, context_bundles,
           "MentisDB: find thoughts by words, each with those that hang on it."),
)  # fmt: skip
