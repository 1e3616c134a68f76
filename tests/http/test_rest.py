"""REST: the table of operations as routes, and how answers and errors look."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.http.asks import FIELDS, HANDLES, asked, request
from tests.http.live import JSON, TENANT, Live, live
from tests.night import NIGHT

from memoriter.core import errors
from memoriter.core.errors import Corrupt, Forbidden, MemoriterError, StorageFull, Unavailable
from memoriter.doors.http.openapi import document
from memoriter.doors.http.problems import problem
from memoriter.doors.operations import BY_NAME, OPERATIONS
from memoriter.doors.public import public
from memoriter.doors.tokens import Tokens
from memoriter.why.receipt import sealed


def test_every_operation_answers_as_the_table_says(site: Live) -> None:
    client = site.client()
    handle = client.post("/v1/recall", json={"query": "ssh"}).json()["receipt"]
    for operation in OPERATIONS:
        fields = dict(FIELDS[operation.name])
        if operation.name in HANDLES:
            fields = {key: handle if value == "feed" else value for key, value in fields.items()}
        answer = client.request(**asked(operation, fields))
        if operation.name in ("forget", "decide"):  # nothing waits for a decision here
            continue
        assert answer.status_code == 200, (operation.name, answer.text)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        (operation.brief or operation.reply).model_validate(answer.json(), strict=True)


def test_a_memory_is_kept_found_changed_and_forgotten(site: Live) -> None:
    client = site.client("write", "mine")
    kept = client.post("/v1/memories", json={"text": "The dog is called Biscuit"}).json()
    (id,) = kept["ids"]
    reply = client.post("/v1/recall", json={"query": "what is the dog called"}).json()
    assert [hit["id"] for hit in reply["hits"]] == [id]
    assert client.patch(f"/v1/memories/{id}", json={"title": "Dog"}).status_code == 200
    assert client.get(f"/v1/memories/{id}").json()["title"] == "Dog"
    assert len(client.get(f"/v1/memories/{id}/history").json()["versions"]) == 2
    why = client.post("/v1/explain", json={"receipt": reply["receipt"], "id": id}).json()
    assert why["hit"]["rank"] == 1
    assert client.post("/v1/forget", json={"id": id}).json()["ids"] == [id]
    assert client.get(f"/v1/memories/{id}").status_code == 404


def test_two_hits_are_compared_and_copies_are_listed(site: Live) -> None:
    client = site.client("write", "pairs")
    for id, text in (
        ("a", "The dog is called Biscuit"),
        ("b", "A dog barks"),
        ("c", "a dog barks!"),
    ):
        client.post("/v1/memories", json={"text": text, "id": id})
    reply = client.post("/v1/recall", json={"query": "what is the dog called"}).json()
    asked = {"receipt": reply["receipt"], "id": "a"}
    both = client.post("/v1/explain", json={**asked, "versus": "c"}).json()
    assert both["hit"]["record"]["id"] == "a"
    assert both["versus"]["second"]["id"] == "c"
    assert both["versus"]["difference"] == both["hit"]["score"] - both["versus"]["second"]["score"]
    missing = client.post("/v1/explain", json={**asked, "versus": "nobody"})
    assert missing.status_code == 404
    assert "not a hit of this answer" in missing.json()["detail"]
    status = client.get("/v1/status", params={"repeats": "true"}).json()
    assert [[each["id"] for each in group] for group in status["repeats"]] == [["c", "b"]]
    assert status["compared"] == 3
    assert "repeats" not in client.get("/v1/status").json()


@pytest.mark.parametrize(
    "id",
    ["a/b", "a b", "ä/ö?#%", "..", ".hidden", "a%2Fb", "batch", "history", "日本語", "+&=;", "%"],
)
def test_an_id_may_be_any_text(site: Live, id: str) -> None:
    client = site.client("write", "ids")
    client.post("/v1/memories", json={"text": "x", "id": id})
    spelled = "".join(f"%{byte:02X}" for byte in id.encode())
    assert client.get(f"/v1/memories/{spelled}").json()["id"] == id
    history = client.get(f"/v1/memories/{spelled}/history").json()
    assert history["id"] == id
    rows = [each["row"] for each in history["versions"]]
    asked = {"limit": "1", "upto": str(rows[0] - 1)}
    earlier = client.get(f"/v1/memories/{spelled}/history", params=asked).json()
    assert earlier["versions"] == []


def test_a_recipe_is_shown_with_overrides_and_the_reach_of_its_numbers(site: Live) -> None:
    client = site.client("read")

    def numbers(recipe: str, **overrides: float) -> dict[str, dict[str, float]]:
        sent = {"overrides": json.dumps(overrides)} if overrides else {}
        answer = client.get(f"/v1/recipes/{recipe}", params=sent)
        assert answer.status_code == 200, answer.text
        return {each["path"]: each for each in answer.json()["numbers"]}

    moved = numbers("memoriter", **{"relevance.weak": 0.4})
    assert moved["relevance.weak"]["value"] == moved["relevance.strong"]["low"] == 0.4
    hops = site.server_state.limits.hops
    assert numbers("mentisdb")["lanes.links.max_depth"]["high"] == hops
    for wrong in ("abc", "[1]", '{"a": 1, "a": 2}'):
        answer = client.get("/v1/recipes/memoriter", params={"overrides": wrong})
        assert (answer.status_code, answer.json()["field"]) == (400, "overrides")


@pytest.mark.parametrize("path", ["/v1/memories/%FF", "/v1/recipes/%C3", "/v1/memories/%ED%A0%80"])
def test_a_path_that_is_not_utf_8_is_refused(site: Live, path: str) -> None:
    head = [f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {site.token()}"]
    answer = site.raw("\r\n".join([*head, "", ""]).encode())
    assert b" 400 " in answer.split(b"\r\n")[0]


def test_fields_of_a_get_stand_in_the_address(site: Live) -> None:
    client = site.client()
    assert client.get("/v1/status", params={"by": "agent"}).json()["counts"]
    assert client.get("/v1/memories/port", params={"known_at": "2001-01-01"}).status_code == 404
    for params in ({"bye": "x"}, {"by": "text"}):
        assert client.get("/v1/status", params=params).status_code == 400
    assert client.get("/v1/status?by=agent&by=user").status_code == 400
    answer = client.request("GET", "/v1/status", content=b"{}", headers=JSON)
    assert (answer.status_code, "no body" in answer.text) == (400, True)


def test_a_field_is_said_once_and_in_its_place(site: Live) -> None:
    client = site.client()
    twice = client.patch("/v1/memories/port", json={"id": "port", "kind": "fact"})
    assert (twice.status_code, twice.json()["field"]) == (400, "id")
    beside = client.post("/v1/recall?limit=2", json={"query": "x"})
    assert (beside.status_code, beside.json()["field"]) == (400, "limit")


def test_a_body_that_is_missing_is_an_empty_one(site: Live) -> None:
    client = site.client()
    assert client.post("/v1/browse").status_code == 200
    missing = client.post("/v1/recall")
    assert (missing.status_code, missing.json()["field"]) == (400, "query")


def test_head_is_get_without_a_body(site: Live) -> None:
    answer = site.client().head("/v1/memories/port")
    assert (answer.status_code, answer.content) == (200, b"")


def test_a_method_that_is_not_there_names_those_that_are(site: Live) -> None:
    answer = site.client().delete("/v1/memories/port")
    assert (answer.status_code, answer.json()["error"]) == (405, "NoSuchMethod")
    assert {each.strip() for each in answer.headers["allow"].split(",")} == {"GET", "HEAD", "PATCH"}


@pytest.mark.parametrize(
    ("method", "path", "hint"),
    [
        ("POST", "/v1/search", "use POST /v1/recall"),
        ("POST", "/v1/remember", "use POST /v1/memories"),
        ("POST", "/recall", "use POST /v1/recall"),
        ("POST", "/v1/why_not", "use POST /v1/why-not"),
        ("GET", "/v1/count", "use GET /v1/status"),
        ("GET", "/v1/fly", "GET /openapi.json lists all paths"),
        ("DELETE", "/v1/memories/port", "POST /v1/forget erases memories"),
        ("GET", "/v1/recall", "it takes POST"),
    ],
)
def test_a_path_of_other_servers_is_answered_with_ours(
    site: Live, method: str, path: str, hint: str
) -> None:
    assert site.client("admin").request(method, path).json()["hint"] == hint


def test_a_problem_is_our_error_with_what_http_knows(site: Live) -> None:
    answer = site.client().get("/v1/memories/nobody")
    reply = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert reply == {
        "type": "urn:memoriter:error:NotFound",
        "title": "Not found",
        "status": 404,
        "detail": "there is no record 'nobody'",
        "error": "NotFound",
        "message": "there is no record 'nobody'",
        "hint": "use browse to see the records that exist",
        "field": "id",
        "retryable": False,
    }


def test_half_a_character_in_a_request_is_refused_in_words(site: Live) -> None:
    client = site.client()
    for body in (b'{"query": "\\ud800"}', b'{"\\ud800": 1}', b'{"query": "x", "mode": "\\udfff"}'):
        answer = client.post("/v1/recall", content=body, headers=JSON)
        assert answer.status_code == 400
        answer.json()


def test_a_receipt_that_was_changed_is_the_senders_mistake(site: Live) -> None:
    client = site.client("write", "forged")
    for id in ("port", "cache"):
        client.post("/v1/memories", json={"text": f"the ssh {id}", "id": id})
    handle = client.post("/v1/recall", json={"query": "ssh"}).json()["receipt"]
    whole = client.post("/v1/receipt", json={"receipt": handle}).json()
    spoilt: list[Any] = [
        {**whole, "digest": "0" * 64},
        {**whole, "slate": {}},
        {"receipt": 2},
        {"receipt": 1},
        {},
    ]
    rest = {key: value for key, value in whole.items() if key != "digest"}
    wrong = (None, {}, [1], "x")
    for nth, key in enumerate(rest):
        for other in wrong if NIGHT else (wrong[nth % len(wrong)],):  # by day they take turns
            changed = dict(sealed({**rest, key: other}).body)
            for name in (*HANDLES, "diff"):
                fields = {k: changed if v == "feed" else v for k, v in FIELDS[name].items()}
                answer = client.request(**asked(BY_NAME[name], fields))
                assert answer.status_code < 500, (name, key, other, answer.text)
    for receipt in spoilt:
        for name in ("explain", "why_not", "replay"):
            fields = {**FIELDS[name], "receipt": receipt}
            answer = client.request(**asked(BY_NAME[name], fields))
            assert (answer.status_code, answer.json()["field"]) == (400, "receipt"), name
        reply = client.post("/v1/diff", json={"before": receipt, "after": whole})
        assert reply.status_code in (200, 400), reply.text
        reply = client.post("/v1/verify", json={"receipt": receipt})
        assert reply.status_code == 400 or not reply.json()["ok"]
    assert client.post("/v1/replay", json={"receipt": whole}).json()["same"]


def test_every_error_of_the_tree_is_a_problem() -> None:
    tree = [each for each in vars(errors).values() if isinstance(each, type)]
    for each in tree:
        if issubclass(each, MemoriterError):
            answer = problem(each("why", hint="do this"))
            assert answer.status_code == each.status
            assert ("retry-after" in answer.headers) == each.retryable
            assert json.loads(bytes(answer.body))["error"] == each.__name__


@pytest.mark.parametrize("error", [Unavailable, StorageFull, Corrupt, MemoriterError])
def test_errors_of_the_machine_are_told_without_names_of_files(error: type[MemoriterError]) -> None:
    shown = public(error("/srv/data/agent.db: SELECT is broken", hint="look into /srv"))
    assert type(shown) is error
    assert "srv" not in json.dumps(shown.to_dict())
    about = error("the reranker returned no scores", field="rerank")
    assert public(about) is about


def test_what_the_database_forbids_the_server_is_told_without_its_address() -> None:
    refused = Forbidden("postgresql://keeper@db/agents: permission denied for heads")
    assert public(refused) is refused, "what we refuse a caller is said"
    refused.__cause__ = PermissionError()
    hidden = public(refused)
    assert (hidden.status, "keeper" in str(hidden)) == (500, False), "the server was refused"


def test_a_bug_of_ours_is_a_500_without_a_trace(
    site: Live, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("secret /srv/path")

    monkeypatch.setattr(type(site.server_state.tenants.memory(TENANT)), "plan", broken)
    client = site.client()
    answer = client.post("/v1/plan", json={"query": "x"})
    assert answer.status_code == 500
    assert answer.json()["error"] == "MemoriterError"
    reply = client.post(
        "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "plan", "params": {"query": "x"}}
    ).json()
    assert reply["error"]["code"] == -32603
    for text in (answer.text, json.dumps(reply), caplog.text):
        assert "secret" not in text
        assert "Traceback" not in text


def test_logs_at_info_have_no_memory_text_no_query_and_no_token(
    site: Live, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    canaries = ("canarytext", "canaryquery", "canaryid", "canarytag")
    client = site.client("admin", "canary")
    token = client.headers["Authorization"].split("_")[2]
    draft = {"text": "canarytext", "id": "canaryid", "tags": ["canarytag"]}
    client.post("/v1/memories", json=draft)
    client.post("/v1/recall", json={"query": "canaryquery canarytext"})
    client.post("/v1/recall", json={"query": "canaryquery", "canarytag": 1})
    client.get("/v1/memories/canaryid?canaryquery=1")
    client.post("/v1/recall", content=b"canaryquery", headers=JSON)
    client.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "canaryquery"})
    client.get("/v1/status", headers={"X-Tenant": "canarytag"})
    lines = [each.getMessage() for each in caplog.records if each.name != "httpx"]
    assert any(line.startswith("request operation=remember") for line in lines)
    for secret in (*canaries, token):
        assert not [line for line in lines if secret in line]


def test_metrics_count_requests_and_tell_a_tenant_its_own(site: Live) -> None:
    client = site.client("admin", "counted")
    client.post("/v1/memories", json={"text": "one"})
    client.post("/v1/recall", json={"query": "one"})
    client.post("/v1/recall", json={"query": 5})
    client.post("/v1/recall", json={"query": "..."})
    text = client.get("/metrics").text
    assert 'memoriter_requests_total{operation="recall",status="400"} 1' in text
    assert 'memoriter_requests_total{operation="remember",status="200"} 1' in text
    assert 'memoriter_request_seconds_count{operation="recall"} 3' in text
    assert 'memoriter_degraded_total{operation="recall"} 1' in text
    assert "\nmemoriter_records 1\n" in text
    assert "\nmemoriter_debt 0\n" in text
    others = site.client("admin", "uncounted").get("/metrics").text
    assert "memoriter_requests_total{" not in others
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.split(" ")) == 2


def test_the_description_follows_from_the_table() -> None:
    description = document()
    assert description["openapi"] == "3.1.0"
    operations = {
        (method.upper(), path): operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }
    assert {key: operation["operationId"] for key, operation in operations.items()} == {
        (each.method, each.path): each.name for each in OPERATIONS
    }
    for operation in operations.values():
        assert operation["x-right"] == BY_NAME[operation["operationId"]].right
        assert {"400", "401", "403", "404", "413", "421", "429", "503"} <= set(
            operation["responses"]
        )
    assert refs(description) <= {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses")
        for name in description["components"][kind]
    }
    assert "$defs" not in json.dumps(description)


def refs(node: Any) -> set[str]:
    if isinstance(node, list):
        return {ref for each in node for ref in refs(each)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {ref for each in node.values() for ref in refs(each)}


def test_no_two_shapes_of_the_description_share_a_name() -> None:
    shapes: dict[str, type] = {}
    for each in OPERATIONS:
        for shape in (each.reply, each.brief):
            if shape is not None:
                assert shapes.setdefault(shape.__name__, shape) is shape
        name = f"{each.request.__name__}Request"
        assert shapes.setdefault(name, each.request) is each.request


def test_the_requests_of_the_tests_are_those_of_the_table() -> None:
    assert set(FIELDS) == set(BY_NAME)
    assert request("get")["url"] == "/v1/memories/port"


def test_a_fault_of_ours_is_told_in_the_one_shape_of_errors(
    site: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise ZeroDivisionError("/etc/secret")

    client = site.client("read")
    monkeypatch.setattr("memoriter.doors.http.rpc.to_json", broken)
    reply = client.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "status"})
    assert (reply.status_code, reply.json()["error"]) == (500, "MemoriterError")
    assert reply.headers["content-type"] == "application/problem+json"
    assert "secret" not in reply.text
    monkeypatch.undo()
    assert client.get("/v1/status").status_code == 200


def test_tokens_that_cannot_be_read_are_told_without_their_file(tmp_path: Path) -> None:
    with live(place=tmp_path / "agent.db") as site:
        site.server_state.tokens = Tokens.for_store(tmp_path / "agent.db")
        (tmp_path / "agent.db.tokens").write_text("{")
        with httpx.Client(base_url=site.url) as client:
            reply = client.get("/v1/status", headers={"Authorization": "Bearer mem_a_b"})
    assert (reply.status_code, reply.json()["error"]) == (500, "Corrupt")
    assert "agent.db" not in reply.text


def test_a_header_may_name_the_own_tenant_in_any_script(site: Live) -> None:
    client = site.client("read", "tenänt-東")
    for name, status in (("tenänt-東", 200), ("tenant", 403)):
        reply = client.get("/v1/status", headers=[(b"X-Tenant", name.encode())])
        assert reply.status_code == status


def test_an_answer_says_how_relevant_it_is_and_openapi_has_the_fields(site: Live) -> None:
    client = site.client()
    ask = {
        "query": "What is the capital of Mongolia?",
        "overrides": {"relevance.weak": 1.0, "relevance.strong": 1.0},
    }
    reply = client.post("/v1/recall", json={**ask, "detail": "full"}).json()
    assert reply["strength"] == "none"
    assert reply["relevance"] < 1.0
    assert reply["remarks"] == ["no memory mentions Mongolia"]
    block = client.post("/v1/context", json=ask).json()
    assert (block["strength"], block["citations"]) == ("none", {})
    assert "No recalled memory is relevant" in block["text"]
    whole = client.post("/v1/context", json={**ask, "include": "all"}).json()
    assert len(whole["citations"]) == len(reply["hits"])
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("ResultReply", "BriefReply", "BlockReply"):
        assert {"relevance", "strength", "remarks"} <= set(schemas[name]["properties"])
    for name in ("HitReply", "BriefHitReply"):
        assert {"relevance", "strength"} <= set(schemas[name]["properties"])
    for name in ("RecallRequest", "ContextRequest"):
        assert "min_relevance" in schemas[name]["properties"]
    assert "include" in schemas["ContextRequest"]["properties"]


def test_an_answer_knows_the_entry_that_a_request_names(site: Live) -> None:
    client = site.client("write", "after")
    seq = client.post("/v1/memories", json={"text": "The dog is called Biscuit"}).json()["seq"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": "dog"}}

    def statuses(*entries: str) -> list[tuple[int, str]]:
        headers = [("Memoriter-After", entry) for entry in entries]
        plain = client.post("/v1/recall", json={"query": "dog"}, headers=headers)
        rpc = client.post("/rpc", json=call, headers=headers).json()
        return [
            (plain.status_code, plain.json().get("type", "").rpartition(":")[2]),
            (200, rpc["error"]["data"]["error"] if "error" in rpc else ""),
        ]

    assert statuses() == statuses("0") == statuses(str(seq)) == [(200, ""), (200, "")]
    assert statuses(str(seq + 1)) == [(503, "Unavailable"), (200, "Unavailable")]
    for wrong in (("x",), ("-1",), ("1.5",), ("",), ("9" * 40,), ("1", "1")):
        assert statuses(*wrong) == [(400, "InputError"), (200, "InputError")]
