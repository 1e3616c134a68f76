"""What Comis promises of its endpoint: CO-26, CO-29, CO-32 to CO-36, over a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import httpx
import pytest
from tests.http.live import TENANT, Live, live, rpc

from memoriter.core.canonical import canonical
from memoriter.core.times import to_micros
from memoriter.doors.operations import OPERATIONS
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.systems.comis.methods import METHODS
from memoriter.why.drawing import draw_answer

DAY = 86_400_000
FIRST = 1_767_225_600_000
"""2026-01-01 in milliseconds."""


@pytest.fixture(scope="module")
def site() -> Iterator[Live]:
    with live() as made:
        fill(made.server_state.tenants.memory(TENANT))
        other = made.server_state.tenants.memory("other")
        for n in range(30):
            other.remember(f"deadline deadline deadline {n}")
        yield made


def fill(memory: Memory) -> None:
    """Twelve memories, a day apart, of every type and trust; the last one expired."""
    types = ("semantic", "episodic", "working", "procedural")
    for n in range(12):
        memory.remember(
            f"deadline number {n} of the project",
            id=f"r{n:02}",
            created=(FIRST + n * DAY) * 1000,
            memory_type=types[n % 4],
            trust=("learned", "system", "external")[n % 3],
            tags=["even", "all"] if n % 2 == 0 else ["all"],
            agent="ann" if n < 6 else "bob",
            expires=(FIRST + 20 * DAY) * 1000 if n == 11 else None,
        )


@pytest.fixture(scope="module")
def client(site: Live) -> httpx.Client:
    return site.client("admin")


def search(client: httpx.Client, **params: Any) -> list[dict[str, Any]]:
    return rpc(client, "memory.search", **{"query": "deadline", "limit": 100, **params})["result"][
        "results"
    ]


def browse(client: httpx.Client, **params: Any) -> dict[str, Any]:
    return rpc(client, "memory.browse", **params)["result"]


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in entries]


def test_co_26_the_tenant_comes_from_the_credential(site: Live, client: httpx.Client) -> None:
    """K7: the best matches of another tenant are invisible and count for nothing."""
    assert set(ids(search(client))) == {f"r{n:02}" for n in range(11)}
    assert browse(client)["total"] == 11
    with live() as alone:
        fill(alone.server_state.tenants.memory(TENANT))
        only = alone.client("admin")
        asked = {"query": "deadline", "limit": 100}
        replies = [rpc(c, "memory.search", **asked)["result"]["results"] for c in (client, only)]
        timeless = [[{**hit, "committed": 0} for hit in each] for each in replies]
        assert canonical(timeless[0]) == canonical(timeless[1])
    theirs = site.client("read", "other")
    assert len(search(theirs)) == 30


@pytest.mark.parametrize("method", [each.name for each in METHODS])
def test_co_26_another_tenant_in_a_request_is_refused(client: httpx.Client, method: str) -> None:
    params: dict[str, dict[str, Any]] = {
        "memory.search": {"query": "deadline"},
        "memory.store": {"content": "x"},
        "memory.delete": {"ids": ["r00"]},
    }
    for key in ("tenantId", "tenant_id", "tenant"):
        reply = rpc(client, method, **{**params.get(method, {}), key: "other"})
        assert reply["error"]["data"]["error"] == "Forbidden"
    if method == "memory.search":
        assert "result" in rpc(client, method, query="deadline", tenantId=TENANT)


def test_co_26_without_a_credential_there_is_no_tenant_at_all(site: Live) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "memory.search", "params": {"query": "deadline"}}
    assert httpx.post(f"{site.url}/rpc", json=body).status_code == 401


def test_co_29_the_memory_type_holds_in_every_call(site: Live, client: httpx.Client) -> None:
    assert sorted(ids(search(client, memoryType="working"))) == ["r02", "r06", "r10"]
    assert ids(browse(client, memoryType="working")["entries"]) == ["r10", "r06", "r02"]
    assert ids(browse(client, memory_type="working")["entries"]) == ["r10", "r06", "r02"]
    rest = {"query": "deadline", "recipe": "comis", "overrides": {"memoryType": "working"}}
    hits = client.post("/v1/recall", json=rest).json()["hits"]
    memory = site.server_state.tenants.memory(TENANT)
    own = memory.recall("deadline", recipe="comis", overrides={"memoryType": "working"})
    assert ids(hits) == [hit.id for hit in own] == ["r06", "r10"]  # r02 … r08 are external
    reply = rpc(client, "memory.search", query="deadline", memoryType="dream")
    assert reply["error"]["code"] == -32602
    for word in ("working", "episodic", "semantic", "procedural"):
        assert word in str(reply["error"])


def test_co_29_a_field_in_two_spellings_is_refused(client: httpx.Client) -> None:
    twice = rpc(client, "memory.store", content="x", memoryType="episodic", memory_type="semantic")
    assert "given in two spellings" in twice["error"]["message"]


def test_co_29_a_memory_is_semantic_unless_it_says_otherwise(site: Live) -> None:
    client = site.client("write", "types")
    one = rpc(client, "memory.store", content="plain")["result"]["id"]
    two = rpc(client, "memory.store", content="told", memoryType="episodic")["result"]["id"]
    entries = [rpc(client, "memory.inspect", id=id)["result"]["entry"] for id in (one, two)]
    assert [entry["memoryType"] for entry in entries] == ["semantic", "episodic"]


def test_co_32_a_search_without_a_query_is_refused(client: httpx.Client) -> None:
    reply = rpc(client, "memory.search", limit=5)
    assert (reply["error"]["code"], reply["error"]["data"]["field"]) == (-32602, "query")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"limit": 3}, 3),
        ({"trustLevels": ["system"]}, {"r01", "r04", "r07", "r10"}),
        ({"trustLevels": ["external", "system"], "agentId": "bob"}, {"r07", "r08", "r10"}),
        ({"trustLevel": "external"}, {"r02", "r05", "r08"}),
        ({"agentId": "bob"}, {"r06", "r07", "r08", "r09", "r10"}),
        ({"agentId": "bob", "memoryType": "working"}, {"r06", "r10"}),
        ({"tags": ["all", "even"]}, {"r00", "r02", "r04", "r06", "r08", "r10"}),
        ({"tags": ["even", "odd"]}, set()),
        ({"limit": 5, "agentId": "nobody"}, set()),
    ],
)  # fmt: skip
def test_co_32_every_field_of_a_search_is_honoured(
    client: httpx.Client, params: dict[str, Any], expected: Any
) -> None:
    ids_found = ids(search(client, **params))
    assert len(ids_found) == expected if isinstance(expected, int) else set(ids_found) == expected


def test_co_32_a_least_score_is_honoured_and_the_usual_limit_is_five(client: httpx.Client) -> None:
    every = search(client, minScore=0)
    least = every[4]["score"]
    assert ids(search(client, minScore=least)) == ids(
        [each for each in every if each["score"] >= least]
    )
    assert len(rpc(client, "memory.search", query="deadline")["result"]["results"]) == 5
    assert rpc(client, "memory.search", query="x", minScore="high")["error"]["code"] == -32602
    assert rpc(client, "memory.search", query="x", trustLevels=["good"])["error"]["code"] == -32602
    assert rpc(client, "memory.search", query="x", minscore=0.5)["error"]["code"] == -32602


def test_co_33_a_result_has_its_score_its_source_and_the_whole_record(
    site: Live, client: httpx.Client
) -> None:
    (best, *_) = search(client)
    record = site.server_state.tenants.memory(TENANT).get(best["id"])
    assert best["content"] == record.text
    assert best["createdAt"] == to_micros(record.created) // 1000
    assert (best["memoryType"], best["trustLevel"]) == (record.memory_type, record.trust)
    assert (best["agentId"], best["tags"]) == (record.agent, list(record.tags))
    assert 0 < best["score"] <= 1
    assert best["source"] in ("fts", "vec", "both")
    assert best["lanes"]["words"]["rank"] >= 1
    whole = {*record.to_dict()} - {"text", "created", "memory_type", "trust", "agent"}
    assert whole <= set(best)


def test_co_33_sources_are_fts_vec_both_and_entity(site: Live) -> None:
    memory = site.server_state.tenants.memory("sources")
    memory.remember("The project deadlines are in May", id="words", entities=["Ada"])
    memory.remember("task due dates", id="alike")
    client = site.client("read", "sources")
    by_id = {hit["id"]: hit["source"] for hit in search(client, query="project deadlines")}
    assert by_id == {"words": "both", "alike": "vec"}
    assert recipe_of("comis").sources["entity"] == ("entity",)


def test_co_34_browse_pages_by_date_with_a_true_total(client: httpx.Client) -> None:
    newest = [f"r{n:02}" for n in reversed(range(11))]
    page = browse(client)
    assert ids(page["entries"]) == newest
    assert (page["total"], page["offset"], page["limit"], page["hasMore"]) == (11, 0, 20, False)
    for sort, order in (("newest", newest), ("oldest", newest[::-1])):
        ids_found: list[str] = []
        for offset in range(0, 12, 4):
            page = browse(client, sort=sort, offset=offset, limit=4)
            ids_found += ids(page["entries"])
            assert page["total"] == 11
            assert page["hasMore"] == (offset + 4 < 11)
        assert ids_found == order
    assert browse(client, offset=50)["entries"] == []
    assert browse(client, offset=50)["total"] == 11


def test_co_34_browse_filters_over_the_whole_set(client: httpx.Client) -> None:
    page = browse(client, agentId="bob", limit=2)
    assert (ids(page["entries"]), page["total"], page["hasMore"]) == (["r10", "r09"], 5, True)
    assert browse(client, agent_id="bob", limit=2) == page
    assert ids(browse(client, trustLevel="external")["entries"]) == ["r08", "r05", "r02"]
    assert browse(client, tags=["even", "all"])["total"] == 6
    for wrong in ({"sort": "best"}, {"offset": -1}, {"limit": 0}, {"trustLevel": "good"}):
        assert rpc(client, "memory.browse", **wrong)["error"]["code"] == -32602


def test_co_35_an_outside_caller_gets_the_answer_of_the_library(
    site: Live, client: httpx.Client
) -> None:
    own = site.server_state.tenants.memory(TENANT).recall(
        "deadline of the project", 20, recipe="comis",
        overrides={"trustLevels": None, "order.0.enabled": False, "agentId": "bob"},
    )  # fmt: skip
    hits = search(client, query="deadline of the project", limit=20, agentId="bob")
    assert [(hit["id"], hit["score"], hit["source"]) for hit in hits] == [
        (hit.id, hit.score, hit.source) for hit in own
    ]


def test_co_36_stats_inspect_store_and_delete_speak_its_words(site: Live) -> None:
    client = site.client("write", "words", trust="system")
    stored = [
        rpc(client, "memory.store", content=f"kept {n}", tags=["t"], trustLevel="system",
            agentId="ann", createdAt=FIRST + n, expiresAt=FIRST * 2)["result"]
        for n in range(3)
    ]  # fmt: skip
    stats = rpc(client, "memory.stats")["result"]
    assert stats == {
        "totalEntries": 3,
        "byType": {"semantic": 3},
        "byTrustLevel": {"system": 3},
        "byAgent": {"ann": 3},
        "totalSessions": 0,
        "embeddedEntries": 3,
        "dbSizeBytes": None,
        "oldestCreatedAt": FIRST,
    }
    assert rpc(client, "memory.inspect")["result"] == {"stats": stats}
    entry = rpc(client, "memory.inspect", id=stored[1]["id"])["result"]["entry"]
    assert (entry["content"], entry["createdAt"]) == ("kept 1", FIRST + 1)
    assert entry["expiresAt"] == FIRST * 2
    gone = rpc(client, "memory.delete", ids=[stored[0]["id"], "nobody"])["result"]
    assert gone == {"deleted": 1, "failed": 1, "total": 2}
    assert rpc(client, "memory.delete", id=stored[1]["id"])["result"]["deleted"] == 1
    assert rpc(client, "memory.delete", ids=[])["error"]["code"] == -32602
    assert rpc(client, "memory.stats")["result"]["totalEntries"] == 1


def test_co_35_the_page_and_outside_callers_use_the_same_endpoint(
    site: Live, client: httpx.Client
) -> None:
    page = (resources.files("memoriter.doors") / "page" / "server.js").read_text("utf-8")
    # Everything that the page shows comes through one function, below /v1 as for any caller.
    assert page.count("fetch(") == 1
    used = {
        (method.upper(), path)
        for file in (resources.files("memoriter.doors") / "page").iterdir()
        for method, path in re.findall(
            r'(?<![.\w])(get|post|patch|put|postReceipts)\(["`]([a-z-]+)', file.read_text("utf-8")
        )
    }
    known = {each.path.split("/")[2] for each in OPERATIONS}
    assert {path for _, path in used} <= known
    assert {"recall", "why-not", "what-if", "browse", "forget", "status"} <= {p for _, p in used}
    body = {"query": "deadline of the project", "limit": 5, "now": "2026-02-01", "detail": "drawn"}
    sent = client.post("/v1/recall", json=body).json()
    memory = site.server_state.tenants.memory(TENANT)
    result = memory.recall("deadline of the project", 5, now="2026-02-01")
    drawing = sent.pop("drawing")
    assert sent == json.loads(json.dumps(result.to_dict()))
    drawn, expected = (
        [[hit["id"], hit["score"], hit["sum"], hit["tree"]] for hit in each["hits"]]
        for each in (drawing, draw_answer(result))
    )
    assert drawn == json.loads(json.dumps(expected))
