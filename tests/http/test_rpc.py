"""JSON-RPC 2.0: calls, batches, notifications, errors, and nonsense of every kind."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.http.live import JSON, Live, rpc
from tests.night import NIGHT

from memoriter.doors.http.rpc import methods


@pytest.fixture(scope="session")
def client(site: Live) -> httpx.Client:
    return site.client("admin")


def sent(client: httpx.Client, body: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post("/rpc", content=data, headers=JSON)
    assert answer.status_code in (200, 204), answer.text
    return answer.json() if answer.content else None


def call(method: str = "status", **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **more}


@pytest.mark.parametrize("id", [1, 0, -7, 1.5, "one", "", None])
def test_an_answer_carries_the_id_of_its_call(client: httpx.Client, id: Any) -> None:
    reply = rpc(client, "status", call_id=id)
    assert (reply["jsonrpc"], reply["id"], reply["result"]["tenant"]) == ("2.0", id, "acme")
    assert set(reply) == {"jsonrpc", "id", "result"}


@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"{", -32700, None),
        (b'{"jsonrpc": "2.0", "method"', -32700, None),
        (b"\xff", -32700, None),
        (b'{"jsonrpc": "2.0", "method": "status", "id": 1e400}', -32700, None),
        (b'{"jsonrpc": "2.0", "method": "status", "id": [-1e400]}', -32700, None),
        (b"[" * 70 + b"]" * 70, -32700, None),
        (b"", -32600, None),
        ([], -32600, None),
        (1, -32600, None),
        ("status", -32600, None),
        (None, -32600, None),
        ({}, -32600, None),
        ({"method": "status", "id": 1}, -32600, None),
        (call(jsonrpc="1.0"), -32600, None),
        (call(jsonrpc=2.0), -32600, None),
        ({"jsonrpc": "2.0", "id": 1}, -32600, None),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600, None),
        (call(id=True), -32600, None),
        (call(id=[1]), -32600, None),
        (call(extra=1), -32600, None),
        (call("nothing"), -32601, 1),
        (call("rpc.discover"), -32601, 1),
        (call("memory.flush"), -32601, 1),
        (call(params=[1]), -32602, 1),
        (call(params=None), -32602, 1),
        (call(params="x"), -32602, 1),
        (call(params={"x": 1}), -32602, 1),
        (call("recall"), -32602, 1),
        (call("recall", params={"query": 5}), -32602, 1),
        (call("memory.search"), -32602, 1),
        (call("get", params={"id": "nobody"}), -32003, 1),
        (call("explain", params={"id": "port", "receipt": "feed"}), -32003, 1),
    ],
)
def test_each_mistake_has_its_code(client: httpx.Client, body: Any, code: int, id: Any) -> None:
    reply = sent(client, body)
    assert (reply["error"]["code"], reply["id"]) == (code, id)
    assert reply["error"]["message"]
    assert set(reply) == {"jsonrpc", "id", "error"}


def test_our_errors_come_whole_as_data(client: httpx.Client) -> None:
    error = rpc(client, "get", id="port", known_at="someday")["error"]["data"]
    assert (error["error"], error["field"]) == ("BadQuery", "known_at")
    error = sent(client, call("get", params={"id": "nobody"}))["error"]["data"]
    assert error == {
        "error": "NotFound",
        "message": "there is no record 'nobody'",
        "hint": "use browse to see the records that exist",
        "field": "id",
        "retryable": False,
    }


@pytest.mark.parametrize(
    ("method", "right"), [("delete", "forget"), ("count", "status"), ("search", "recall")]
)
def test_a_method_of_other_servers_is_answered_with_ours(
    client: httpx.Client, method: str, right: str
) -> None:
    error = sent(client, call(method))["error"]
    assert (error["code"], error["data"]["hint"]) == (-32601, f"it is called {right} here")


def test_a_hint_speaks_of_fields_and_of_the_server(client: httpx.Client) -> None:
    asked = {"query": "port", "since": "2d"}
    wanted = 'use "where": {"created": {"gte": "2d"}}'
    assert client.post("/v1/recall", json=asked).json()["hint"] == wanted
    assert sent(client, call("recall", params=asked))["error"]["data"]["hint"] == wanted
    reranked = client.post("/v1/recall", json={"query": "port", "reranker": "x"}).json()
    assert reranked["hint"] == "start the server with --reranker; recall asks it"
    unknown = sent(client, call("verify_store"))["error"]["data"]["hint"]
    assert unknown == "the command line has it: memoriter verify-store"


def test_a_notification_is_done_and_not_answered(client: httpx.Client) -> None:
    draft = {"text": "kept without a word", "id": "quiet"}
    notice = {"jsonrpc": "2.0", "method": "remember", "params": draft}
    answer = client.post("/rpc", json=notice)
    assert (answer.status_code, answer.content) == (204, b"")
    assert sent(client, call("get", params={"id": "quiet"}))["result"]["id"] == "quiet"
    wrong = {"jsonrpc": "2.0", "method": "nothing"}
    assert sent(client, wrong) is None
    assert sent(client, [wrong, notice]) is None


def test_a_batch_is_answered_call_by_call(client: httpx.Client) -> None:
    quiet = {"jsonrpc": "2.0", "method": "status"}
    replies = sent(
        client, [call(id="a"), quiet, 5, call("nothing", id="b"), call("agents", id=None)]
    )
    assert [each["id"] for each in replies] == ["a", None, "b", None]
    assert ["result" in each for each in replies] == [True, False, False, True]
    assert replies[1]["error"]["code"] == -32600


def test_a_write_in_a_batch_is_seen_by_the_calls_after_it(client: httpx.Client) -> None:
    draft = {"content": "batched", "tags": ["batched"]}
    look = call("memory.browse", params={"tags": ["batched"]})
    before, _, after = sent(client, [look, call("memory.store", params=draft), look])
    assert (before["result"]["total"], after["result"]["total"]) == (0, 1)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip
_words = st.sampled_from(
    ["query", "limit", "where", "recipe", "overrides", "id", "text", "tags", "sort", "offset",
     "minScore", "trustLevels", "receipt", "seeds", "lists", "vector", "cursor", "mode", "content"]
)  # fmt: skip
_harmless = sorted(set(methods()) - {"forget", "memory.delete", "maintain", "calibrate", "reflect"})
_call = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | _json, "method": st.sampled_from(_harmless) | st.text(max_size=9)},
    optional={"id": _json, "params": st.dictionaries(_words, _json, max_size=4) | _json},
)
_body = st.one_of(_call, st.lists(_call | _json, max_size=4), _json).map(
    lambda data: json.dumps(data).encode()
)


@settings(max_examples=20_000 if NIGHT else 120)
@given(body=_body | st.binary(max_size=200))
def test_nonsense_is_answered_and_kills_nothing(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/rpc", content=body, headers=JSON)
    assert answer.status_code in (200, 204), answer.text
    if answer.content:
        reply = answer.json()
        for each in reply if isinstance(reply, list) else [reply]:
            assert ("result" in each) != ("error" in each)
            assert each.get("error", {}).get("code") != -32603, (body, each)
    assert "Traceback" not in answer.text
