"""The tools of other systems under their names and with their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.claims.corpus import VECTOR, close, open_corpus, open_empty

import memoriter
from memoriter.core.errors import Forbidden, InputError
from memoriter.doors.mcp.tools import tools_of
from memoriter.doors.port import foreign_tools
from memoriter.doors.schema import schema_of
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.systems.jeffs_brain import tools as jeffs_brain
from memoriter.systems.mentisdb import tools as mentisdb

BY_NAME = {tool.name: tool for tool in foreign_tools(())}
NUMBERS = {
    "lexical", "vector", "graph", "relation", "seed_support", "importance", "confidence",
    "recency", "session_cohesion", "rrf", "total",
}  # fmt: skip
HIT = {
    "chain_key", "thought", "score", "matched_terms", "match_sources", "graph_distance",
    "graph_seed_paths", "graph_relation_kinds", "graph_path",
}  # fmt: skip
THOUGHT = {
    "id", "index", "timestamp", "session_id", "agent_id", "agent_name", "agent_owner",
    "thought_type", "role", "content", "confidence", "importance", "tags", "concepts", "refs",
    "relations", "entity_type", "source_episode",
}  # fmt: skip


@pytest.fixture(scope="module")
def tenant_session() -> Iterator[TenantSession]:
    """Four thoughts and their links."""
    memory = open_empty()
    say = memory.remember
    say("We picked LRU eviction for the cache.", id="pick", kind="Decision", importance=0.9,
        tags=["cache", "scope:user"], agent="ann")  # fmt: skip
    say("Cache miss rate is forty percent.", id="rate", kind="Finding", concepts=["rate"])
    say("Eviction policy reviewed.", id="review", kind="Decision", confidence=0.5,
        links=[{"target": "pick", "kind": "derived_from"}])  # fmt: skip
    say("Lunch at noon.", id="lunch", kind="Plan", tags=["food"])
    memory.agents.upsert("ann", display_name="Ann", owner="ops")
    with memory:
        yield TenantSession(memory)


@pytest.fixture(scope="module")
def files() -> Iterator[TenantSession]:
    with open_corpus(vectors=True, paths=True) as memory:
        yield TenantSession(memory)


def run(tenant_session: TenantSession, name: str, **data: Any) -> dict[str, Any]:
    answer = BY_NAME[name].run(tenant_session, data)
    json.dumps(answer, allow_nan=False)
    BY_NAME[name].reply.model_validate(answer, strict=True)
    return answer


def shape(value: Any) -> Any:
    """The keys of an answer, without its values."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items() if key != "graph_path"}
    return [shape(each) for each in value[:1]] if isinstance(value, list) else None


# --- MentisDB -------------------------------------------------------------------------------


def test_md_02_the_compat_door_offers_its_three_tools() -> None:
    offered = [tool.name for tool in tools_of("compat", "read")]
    wanted = ["mentisdb_search", "mentisdb_ranked_search", "mentisdb_context_bundles"]
    assert [name for name in offered if name.startswith("mentisdb")] == wanted


def test_md_02_plain_search_filters_and_keeps_the_order_of_writing(
    tenant_session: TenantSession,
) -> None:
    answer = run(tenant_session, "mentisdb_search")
    assert [each["id"] for each in answer["thoughts"]] == ["pick", "rate", "review", "lunch"]
    assert set(answer["thoughts"][0]) == THOUGHT
    some = run(tenant_session, "mentisdb_search", thought_types=["decision"], limit=1)
    assert (some["total"], [each["id"] for each in some["thoughts"]]) == (2, ["review"])
    before = run(tenant_session, "mentisdb_search", thought_types=["decision"], limit=1, offset=1)
    assert [each["id"] for each in before["thoughts"]] == ["pick"]
    with pytest.raises(InputError, match="text"):
        run(tenant_session, "mentisdb_search", text="cache")


def test_md_04_plain_and_ranked_search_have_the_same_candidates(
    tenant_session: TenantSession,
) -> None:
    filters: list[dict[str, Any]] = [
        {}, {"thought_types": ["Decision"]}, {"agent_ids": ["ann"]}, {"tags_any": ["FOOD"]},
        {"concepts_any": ["rate"]}, {"min_importance": 0.6}, {"min_confidence": 0.1},
        {"since": 1, "until": 2}, {"roles": []}, {"scope": "user"},
    ]  # fmt: skip
    for fields in filters:
        plain = run(tenant_session, "mentisdb_search", **fields)
        ranked = run(tenant_session, "mentisdb_ranked_search", text=" ", **fields)
        assert {each["id"] for each in plain["thoughts"]} == {
            each["thought"]["id"] for each in ranked["results"]
        }
        assert plain["total"] == ranked["total"]


def test_md_02_and_45_and_46_a_ranked_hit_has_the_seeds_fields(
    tenant_session: TenantSession,
) -> None:
    answer = run(
        tenant_session,
        "mentisdb_ranked_search",
        text="lru eviction",
        graph={"mode": "incoming_only"},
    )
    assert (answer["backend"], answer["total"]) == ("lexical_graph", len(answer["results"]))
    first, second = answer["results"][:2]
    assert set(first) == HIT
    assert NUMBERS | {"vector_contribution"} == set(first["score"])
    assert (first["chain_key"], first["thought"]["id"]) == ("default", "pick")
    assert (first["matched_terms"], first["match_sources"]) == (["lru", "evict"], ["content"])
    assert first["thought"]["agent_name"] == "Ann"
    assert first["thought"]["agent_owner"] == "ops"
    assert second["thought"]["relations"] == [
        {"kind": "derived_from", "target_id": "pick", "valid_at": None, "invalid_at": None}
    ]
    parts = NUMBERS - {"vector", "rrf", "total"} | {"vector_contribution"}
    assert sum(first["score"][name] for name in parts) == pytest.approx(first["score"]["total"])
    tagged = run(tenant_session, "mentisdb_ranked_search", text="cache ann")["results"][0]
    assert tagged["match_sources"] == ["content", "tags", "agent_id", "agent_registry"]


def test_md_46_the_total_counts_before_the_limit_and_a_page_is_a_part(
    tenant_session: TenantSession,
) -> None:
    whole = run(tenant_session, "mentisdb_ranked_search", text="")
    part = run(tenant_session, "mentisdb_ranked_search", text="", limit=2, offset=1)
    assert part["total"] == whole["total"] == 4
    assert part["results"] == whole["results"][1:3]
    assert schema_of(BY_NAME["mentisdb_ranked_search"].request)["properties"]["limit"][
        "default"
    ] == (50)


def test_md_50_bundles_hold_each_seed_with_its_own_neighbours(
    tenant_session: TenantSession,
) -> None:
    answer = run(tenant_session, "mentisdb_context_bundles", text="lru")
    assert (answer["total_bundles"], answer["consumed_hits"]) == (1, 1)
    (bundle,) = answer["bundles"]
    assert set(bundle["seed"]) == {"locator", "lexical_score", "matched_terms", "thought"}
    assert bundle["seed"]["locator"] == {"chain_key": "default", "index": 0, "id": "pick"}
    (support,) = bundle["support"]
    assert set(support) == {
        "locator", "thought", "depth", "seed_path_count", "relation_kinds", "path",
    }  # fmt: skip
    assert (support["thought"]["id"], support["depth"]) == ("review", 1)
    bare = run(tenant_session, "mentisdb_context_bundles", text="lru", graph=False)
    assert bare["bundles"][0]["support"] == []
    assert run(tenant_session, "mentisdb_context_bundles", text=" ")["bundles"] == []


KNOBS: dict[str, Any] = {
    "graph": True, "enable_reranking": True, "rerank_k": 2, "as_of": "2100-01-01",
    "min_confidence": 0.0, "min_importance": 0.0, "since": 0, "until": 100,
    "thought_types": ["Decision", "Finding"], "roles": ["memory"], "agent_ids": ["default"],
    "tags_any": ["cache"], "concepts_any": ["rate"], "entity_type": "x",
}  # fmt: skip


def test_md_53_the_schema_shows_every_knob() -> None:
    shown = schema_of(BY_NAME["mentisdb_ranked_search"].request)["properties"]
    assert set(KNOBS) <= set(shown)
    assert all("description" in schema for schema in shown.values())


@pytest.mark.parametrize("knob", KNOBS)
def test_md_53_a_knob_changes_numbers_and_membership_but_never_the_shape(knob: str) -> None:
    memory = open_empty()
    memory.remember(
        "the cache rate", id="a", kind="Decision", tags=["cache"], concepts=["rate"],
        confidence=0.5, entity_type="x", links=[],
    )  # fmt: skip
    tenant_session = TenantSession(memory)
    off = run(tenant_session, "mentisdb_ranked_search", text="cache rate")
    on = run(tenant_session, "mentisdb_ranked_search", text="cache rate", **{knob: KNOBS[knob]})
    assert len(on["results"]) == 1
    assert shape(on) == shape(off)


def test_md_53_all_knobs_together_keep_the_shape_too() -> None:
    memory = open_empty()
    memory.remember(
        "the cache rate", id="a", kind="Decision", tags=["cache"], concepts=["rate"],
        confidence=0.5, entity_type="x",
    )  # fmt: skip
    tenant_session = TenantSession(memory)
    on = run(tenant_session, "mentisdb_ranked_search", text="cache rate", **KNOBS)
    assert shape(on) == shape(run(tenant_session, "mentisdb_ranked_search", text="cache rate"))
    assert on["results"][0]["score"]["rrf"] > 0.0


def test_another_chain_or_brain_is_refused(tenant_session: TenantSession) -> None:
    assert run(tenant_session, "mentisdb_search", chain_key="default")["total"] == 4
    for name, data in (
        ("mentisdb_search", {"chain_key": "other"}),
        ("memory_search", {"query": "x", "brain": "other"}),
    ):
        with pytest.raises(Forbidden, match="another tenant"):
            run(tenant_session, name, **data)


# --- jeffs-brain ----------------------------------------------------------------------------


def test_jb_39_the_three_tools_are_in_the_compat_set_with_their_limits() -> None:
    takes = {tool.name: tool.input_schema["properties"] for tool in tools_of("compat", "read")}
    search = takes["memory_search"]
    assert (search["query"]["minLength"], search["query"]["maxLength"]) == (1, 4096)
    top_k = search["top_k"]
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 100, 10)
    for name in ("memory_recall", "memory_ask"):
        assert takes[name]["query"]["maxLength"] == 8192
        assert takes[name]["top_k"]["maximum"] == 50


def test_jb_39_a_query_that_is_too_long_or_blank_is_refused(files: TenantSession) -> None:
    for query in ("", "x" * 4097):
        with pytest.raises(InputError, match="query"):
            run(files, "memory_search", query=query)
    with pytest.raises(InputError, match="top_k"):
        run(files, "memory_ask", query="x", top_k=51)


def test_jb_38_and_39_search_answers_with_chunks_trace_and_attempts(files: TenantSession) -> None:
    answer = run(files, "memory_search", query="pricing berlin", top_k=2)
    assert set(answer) == {"chunks", "tookMs", "trace", "attempts", "receipt"}
    assert [chunk["path"] for chunk in answer["chunks"]] == ["wiki/m02.md", "wiki/m17.md"]
    assert set(answer["chunks"][0]) == {
        "chunkId", "documentId", "path", "score", "text", "title", "summary", "metadata",
        "bm25Rank", "vectorSimilarity", "rerankScore",
    }  # fmt: skip
    trace = answer["trace"]
    assert set(trace) == {
        "requestedMode", "effectiveMode", "intent", "usedRetry", "fellBackToBM25", "embedderUsed",
        "reranked", "rerankSkipReason", "agreements", "unanimitySkipped", "bm25Hits", "vectorHits",
        "fusedHits", "rrfK", "candidateK", "rerankTopN",
    }  # fmt: skip
    assert (trace["requestedMode"], trace["effectiveMode"]) == ("auto", "bm25")
    assert (trace["bm25Hits"], trace["vectorHits"], trace["candidateK"]) == (5, 0, 60)
    (attempt,) = answer["attempts"]
    assert (attempt["rung"], attempt["reason"], attempt["chunks"]) == (0, "initial", 5)


def test_jb_39_scope_sort_and_the_other_knobs_hold(files: TenantSession) -> None:
    ours = run(files, "memory_search", query="coffee pricing", scope="global")
    assert {chunk["path"].rpartition("/")[0] for chunk in ours["chunks"]} == {"memory/global"}
    newest = run(files, "memory_search", query="pricing", sort="recency")
    assert [chunk["chunkId"] for chunk in newest["chunks"]] == ["m17", "m02", "m01"]
    best = run(files, "memory_search", query="pricing", sort="relevance_then_recency")
    assert best["chunks"] == run(files, "memory_search", query="pricing")["chunks"]
    knobs = {"mode": "hybrid", "candidateK": 3, "rrfK": 20, "skipRetryLadder": True}
    answer = run(files, "memory_search", query="pricing", paths=["wiki/m02.md"], **knobs)
    assert [chunk["chunkId"] for chunk in answer["chunks"]] == ["m02"]
    assert answer["chunks"][0]["score"] == pytest.approx(1 / 21)
    assert answer["trace"]["fellBackToBM25"]


def test_jb_39_ask_quotes_passages_or_says_that_nothing_fits(files: TenantSession) -> None:
    answer = run(files, "memory_ask", query="where is the hotel?")
    assert answer["citations"][0]["chunkId"] == "m10"
    for cited, chunk in zip(answer["citations"], answer["chunks"], strict=False):
        assert f"[{cited['number']}]" in answer["answer"]
        assert chunk["text"] in answer["answer"]
    none = run(files, "memory_ask", query="zzqx wwpl")
    assert (none["answer"], none["citations"]) == (jeffs_brain.NOTHING, [])


def test_jb_39_ask_quotes_nothing_that_is_only_not_quite_unlike_the_question() -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("ssh port 49222")
        memory.remember("cold lunch")
        answer = run(TenantSession(memory), "memory_ask", query="what is the capital of France?")
    assert answer["chunks"]
    assert (answer["answer"], answer["citations"]) == (jeffs_brain.NOTHING, [])


def test_jb_39_recall_brings_the_block_for_a_prompt(files: TenantSession) -> None:
    answer = run(files, "memory_recall", query="coffee")
    assert [chunk["chunkId"] for chunk in answer["chunks"]] == ["m05", "m06"]
    assert "I prefer oat milk" in answer["context"]


# --- Comis ----------------------------------------------------------------------------------


def test_co_29_the_type_of_memory_holds_in_a_tool_call_too() -> None:
    memory = open_empty()
    for kind in ("working", "episodic", "semantic", "procedural"):
        memory.remember(f"the {kind} port", id=kind, memory_type=kind)
    tenant_session = TenantSession(memory)
    answer = run(tenant_session, "comis_memory_search", query="port")
    assert answer["total"] == 4
    for kind in ("working", "episodic", "semantic", "procedural"):
        reply = run(tenant_session, "comis_memory_search", query="port", memoryType=kind)
        assert [each["id"] for each in reply["results"]] == [kind]
    assert {"score", "source"} <= set(answer["results"][0])


# --- engrava --------------------------------------------------------------------------------


def test_en_11_and_32_the_tool_gives_the_keyword_signal_alone(files: TenantSession) -> None:
    answer = run(files, "search_keywords", query_text="pricing berlin")
    assert [(each["id"], each["score"]) for each in answer["results"]] == close(
        [("m02", 4.291834), ("m17", 3.112759), ("m10", 2.212977), ("m09", 2.082802),
         ("m01", 2.023293)]
    )  # fmt: skip
    assert answer["backends_used"] == ["fts5"]
    assert set(answer["results"][0]) == {
        "id", "score", "type", "essence", "content", "priority", "lifecycle", "updated_cycle",
        "confidence", "metadata",
    }  # fmt: skip


def test_en_32_and_40_the_other_tool_weighs_all_signals(files: TenantSession) -> None:
    asked: dict[str, Any] = {"query_text": "pricing berlin", "query_vector": list(VECTOR)}
    answer = run(files, "search_memory", **asked, top_k=2)
    assert [(each["id"], each["score"]) for each in answer["results"]] == close(
        [("m02", 0.955123), ("m17", 0.763962)]
    )
    assert answer["backends_used"] == ["fts5", "vector", "priority"]
    lifted = run(files, "search_memory", **asked, top_k=1, graph_weight=0.3, graph_edge_decay=1.0)
    assert lifted["results"][0]["score"] == pytest.approx(1.011816, abs=1e-6)
    assert "graph" in lifted["backends_used"]
    assert answer["reflections_evicted"] == 0
    with pytest.raises(InputError, match="graph_wait"):
        run(files, "search_memory", **asked, graph_wait=0.3)


def test_en_38_reflections_alone_can_be_asked_for(files: TenantSession) -> None:
    answer = run(files, "search_memory", query_text="pricing", include_reflections="only")
    assert answer["results"] == []


def test_engravas_filters_are_tests_of_metadata() -> None:
    memory = open_empty()
    memory.remember("berlin one", id="a", metadata={"team": {"name": "x"}})
    memory.remember("berlin two", id="b", metadata={"team": {"name": "y"}})
    tenant_session = TenantSession(memory)
    same = [{"path": "$.team.name", "value": "y"}]
    some = [{"path": "$.team.name", "op": "IN", "value": ["x", "z"]}]
    for filters, wanted in ((same, ["b"]), (some, ["a"])):
        answer = run(tenant_session, "search_keywords", query_text="berlin", filters=filters)
        assert [each["id"] for each in answer["results"]] == wanted
    with pytest.raises(InputError, match="path"):
        run(
            tenant_session,
            "search_keywords",
            query_text="x",
            filters=[{"path": "team", "value": 1}],
        )


# --- all of them ----------------------------------------------------------------------------


def test_every_field_is_a_name_of_the_recipe_or_read_by_its_tool() -> None:
    apart = {
        "mentisdb": {"offset"},
        "jeffs-brain": {"brain", "top_k", "sort"},
        "engrava": {"filters"},
        "comis": {"limit"},
    }
    for tool in foreign_tools(()):
        names = recipe_of(tool.recipe).names
        assert set(tool.request.model_fields) - set(names) <= apart[tool.recipe], tool.name
        assert set(mentisdb.FILTERS) <= set(recipe_of("mentisdb").names)


def test_a_wrong_type_is_refused_with_the_name_of_the_field(tenant_session: TenantSession) -> None:
    for name, data, field in (
        ("mentisdb_ranked_search", {"text": "x", "rerank_k": "many"}, "rerank_k"),
        ("mentisdb_ranked_search", {"text": "x", "graph": {"depth": 1}}, "graph"),
        ("mentisdb_ranked_search", {"text": "x", "graph": {"mode": "sideways"}}, "graph"),
        ("mentisdb_search", {"limit": 0}, "limit"),
        ("memory_search", {"query": 5}, "query"),
        ("search_memory", {"query_text": "x", "fts_weight": "heavy"}, "fts_weight"),
    ):
        with pytest.raises(InputError) as caught:
            run(tenant_session, name, **data)
        assert str(caught.value.field).startswith(field)
        assert caught.value.hint


def test_a_memory_is_the_same_through_a_tool_and_through_its_recipe(files: TenantSession) -> None:
    memory: Memory = files.memory(BY_NAME["search_memory"].request(query_text=""))  # type: ignore[call-arg]  # made from the table
    own = memory.recall("pricing berlin", 5, recipe="mentisdb")
    answer = run(files, "mentisdb_ranked_search", text="pricing berlin", limit=5)
    assert [each["score"] for each in answer["results"]] == [dict(hit.scores) for hit in own]
