"""Limits come before work: one below, at, and one above each."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.http.live import JSON, PATIENT, TENANT, Live, heard, live, rpc, status_of
from tests.inside import open_requests

import memoriter
from memoriter.core.errors import InputError, TooMany
from memoriter.core.names import LIST_LIMIT
from memoriter.core.where import TESTS_LIMIT
from memoriter.doors.http.limits import Limits, RateLimiter
from memoriter.doors.json_bodies import parse_body, to_json
from memoriter.doors.sizes import BATCH
from memoriter.pipeline.load import overridden, recipe_of

SMALL = replace(PATIENT, body=10_000, threads=2, waiting=2, text=1000)
HASTY = replace(SMALL, arrive_s=1.0)
"""For clients that are slow on purpose: what they send second may find the connection closed."""
BRIEF = replace(SMALL, answer_s=1.0)
"""For answers that are slow on purpose: the client may take its time."""


@pytest.fixture(scope="module")
def small() -> Iterator[Live]:
    with live(SMALL) as made:
        yield made


@pytest.fixture(scope="module")
def hasty() -> Iterator[Live]:
    with live(HASTY) as made:
        yield made


@pytest.fixture(scope="module")
def brief() -> Iterator[Live]:
    with live(BRIEF) as made:
        yield made


def body_of(size: int) -> bytes:
    shell = len(json.dumps({"query": ""}))
    return json.dumps({"query": "x" * (size - shell)}).encode()


@pytest.mark.parametrize(("extra", "status"), [(-1, 200), (0, 200), (1, 413), (50_000, 413)])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_may_have_so_many_bytes(
    small: Live, extra: int, status: int, *, chunked: bool
) -> None:
    body = body_of(SMALL.body + extra)
    content: Any = iter([body[:100], body[100:]]) if chunked else body
    answer = small.client("read").post("/v1/plan", content=content, headers=JSON)
    assert answer.status_code == status, answer.text


def test_the_usual_limit_of_a_body_is_four_mebibytes() -> None:
    assert Limits().body == 4 * 1024 * 1024


def nested(depth: int) -> bytes:
    inner = "[" * (depth - 1) + "]" * (depth - 1)
    return f'{{"query": "x", "lists": {inner}}}'.encode()


@pytest.mark.parametrize(("depth", "deep"), [(63, False), (64, False), (65, True), (4000, True)])
def test_json_may_be_nested_so_deep(small: Live, depth: int, *, deep: bool) -> None:
    answer = small.client("read").post("/v1/plan", content=nested(depth), headers=JSON)
    assert answer.status_code == 400
    assert ("nested" in answer.text) == deep


def test_brackets_in_texts_are_not_depth() -> None:
    assert parse_body(json.dumps({"a": "[{" * 500}).encode(), 64)
    assert parse_body(json.dumps([[]] * 500).encode(), 2)


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b"nul", b"NaN", b'{"query": NaN}', b'{"query": 1e999}', b'{"a":1}{}',
     b'{"query": ' + b"1" * 5000 + b"}", b'"\xed\xa0\x80"', b"\xef\xbb\xbf{}"],
)  # fmt: skip
def test_what_is_not_json_is_refused(small: Live, body: bytes) -> None:
    answer = small.client("read").post("/v1/plan", content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
     "application/jsonp", "text/json", "application/json; charset=utf-16"],
)  # fmt: skip
def test_a_body_of_another_type_is_refused(small: Live, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = small.client("read").post("/v1/plan", content=b'{"query":"x"}', headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (415, "NotJson")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=UTF-8"])
def test_json_may_say_that_it_is_utf_8(small: Live, kind: str) -> None:
    headers = {"Content-Type": kind}
    client = small.client("read")
    assert client.post("/v1/plan", content=b'{"query":"x"}', headers=headers).status_code == 200


@pytest.mark.parametrize("packed", ["gzip", "deflate", "br", "identity, gzip"])
def test_a_packed_body_is_refused_unread(small: Live, packed: str) -> None:
    headers = {**JSON, "Content-Encoding": packed}
    bomb = gzip.compress(b" " * 5_000_000)
    answer = small.client("read").post("/v1/plan", content=bomb, headers=headers)
    assert answer.status_code == 415


def test_limits_of_requests_hold_one_below_at_and_one_above(site: Live) -> None:
    client = site.client("write")

    def status(path: str, **fields: Any) -> int:
        return client.post(path, json=fields).status_code

    hits = Limits().hits
    for limit, expected in ((hits - 1, 200), (hits, 200), (hits + 1, 400)):
        assert status("/v1/recall", query="ssh", limit=limit) == expected
        assert status("/v1/browse", limit=limit) == expected
    for count, expected in ((BATCH - 1, 200), (BATCH, 200), (BATCH + 1, 400)):
        memories = [{"text": "same", "key": f"k{n}"} for n in range(count)]
        assert status("/v1/memories/batch", memories=memories) == expected
    for count, expected in ((TESTS_LIMIT, 200), (TESTS_LIMIT + 1, 400)):
        many = [{"kind": f"k{n}"} for n in range(count)]
        assert status("/v1/browse", where={"any": many}) == expected
        halves = [{"all": many[: count // 2 - 1]}, {"not": {"any": many[count // 2 + 2 :]}}]
        assert status("/v1/browse", where={"any": halves}) == expected
    for count, expected in ((LIST_LIMIT, 200), (LIST_LIMIT + 1, 400)):
        words = {f"w{n}": ["ssh"] for n in range(count)}
        asked = {"query": "ssh", "recipe": "jeffs-brain"}
        assert status("/v1/recall", **asked, aliases=words) == expected


@pytest.mark.parametrize(
    "more",
    [
        {"lists": {f"l{n}": "importance" for n in range(20_000)}},
        {"where": {"any": [{"kind": f"k{n}"} for n in range(100_000)]}},
        {"aliases": {f"w{n}": ["z"] for n in range(100_000)}, "recipe": "jeffs-brain"},
        {"aliases": {"w": [f"w{n}" for n in range(1000)], "v": ["z"]}, "recipe": "jeffs-brain"},
    ],
)
def test_no_question_keeps_a_thread_for_long(more: dict[str, Any], tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "a.db") as memory:
        memory.remember("ssh")
        began = time.thread_time()
        with pytest.raises(InputError, match=r"at most .* are allowed"):
            memory.recall("ssh", **more)
        assert time.thread_time() - began < 10.0  # the slowest take 0.9


def test_a_text_may_have_so_many_characters(small: Live) -> None:
    client = small.client("write")
    for size, expected in ((999, 200), (1000, 200), (1001, 413)):
        draft = {"text": "x" * size}
        assert client.post("/v1/memories", json=draft).status_code == expected
        batch = {"memories": [{"text": "short"}, draft]}
        assert client.post("/v1/memories/batch", json=batch).status_code == expected
        reply = rpc(client, "memory.store", content="x" * size)
        assert ("result" in reply) == (expected == 200)
    assert Limits().text == 1024 * 1024


@pytest.mark.parametrize(("calls", "ok"), [(1, True), (99, True), (100, True), (101, False)])
def test_a_batch_may_have_so_many_calls(site: Live, calls: int, *, ok: bool) -> None:
    one = {"jsonrpc": "2.0", "id": 1, "method": "recipe", "params": {"recipe": "lexical"}}
    replies = site.client("read").post("/rpc", json=[one] * calls).json()
    assert (isinstance(replies, list) and len(replies) == calls) == ok
    assert ok or dict(replies)["error"]["code"] == -32600


def answered(hasty: Live, data: bytes) -> tuple[socket.socket, bytes]:
    """A connection and its first answer; again if a busy machine sent the head too late."""
    for _ in range(10):
        wire = socket.create_connection(("127.0.0.1", hasty.port), timeout=60)
        with contextlib.suppress(ConnectionError):
            wire.sendall(data)
            if answer := heard(wire):
                return wire, answer
        wire.close()
    raise AssertionError("the server closed ten connections without an answer")


def hung_up(wire: socket.socket, data: bytes) -> bool:
    """Whether the server closes the connection without an answer to this."""
    try:
        wire.sendall(data)
        return wire.recv(100) == b""
    except ConnectionError:
        return True


def test_a_slow_body_is_given_up(hasty: Live) -> None:
    token = hasty.token("read")
    head = (
        f"POST /v1/plan HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n"
    )
    wire, answer = answered(hasty, head.encode() + b"{{{")
    with wire:
        assert status_of(answer) == 408


def test_a_slow_head_is_hung_up_on(hasty: Live) -> None:
    for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: local", b"GET"):
        start = time.monotonic()
        with socket.create_connection(("127.0.0.1", hasty.port), timeout=60) as wire:
            assert hung_up(wire, begun)
            assert time.monotonic() - start > 0.9 * HASTY.arrive_s


def test_a_slow_second_head_is_hung_up_on_too(hasty: Live) -> None:
    wire, answer = answered(hasty, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    with wire:
        assert status_of(answer) == 200
        assert hung_up(wire, b"GET /healthz HTTP/1.1\r\nHost: loc")


def test_a_head_that_is_too_large_is_refused(small: Live) -> None:
    answer = small.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
    assert status_of(answer) in (0, 400, 431)


def test_a_question_that_takes_too_long_is_answered_with_later(
    brief: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    memory = type(brief.server_state.tenants.memory(TENANT))
    monkeypatch.setattr(memory, "plan", lambda *_, **__: let_go.wait(120))
    client = brief.client("read")
    answer = client.post("/v1/plan", json={"query": "x"})
    problem = answer.json()
    assert (answer.status_code, problem["retryable"]) == (503, True)
    assert answer.headers["Retry-After"]
    assert "within 1 s" in problem["message"]
    assert rpc(client, "plan", query="x")["error"]["code"] == -32007
    # Both threads still work on what nobody waits for: what never begins may be asked again.
    with ThreadPoolExecutor(3) as pool:
        asked = [{"query": "x"}] * 3
        statuses = [
            a.status_code for a in pool.map(lambda x: client.post("/v1/plan", json=x), asked)
        ]
    let_go.set()
    assert statuses == [429, 429, 429]


def test_more_than_the_server_can_hold_is_sent_away(
    small: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    memory = type(small.server_state.tenants.memory(TENANT))
    monkeypatch.setattr(memory, "expire", lambda *_, **__: let_go.wait(120) and None)
    client = small.client("write")

    def ask(_: int = 0) -> httpx.Response:
        return client.post("/v1/memories/a/expire", json={})

    with ThreadPoolExecutor(4) as pool:
        most = SMALL.threads + SMALL.waiting
        held = pool.map(ask, range(most))
        until = time.monotonic() + 60
        while open_requests(small.server_state) < most and time.monotonic() < until:
            time.sleep(0.01)
        busy = ask()
        let_go.set()
        assert 429 not in [answer.status_code for answer in held]
    assert (busy.status_code, busy.json()["error"]) == (429, "TooMany")
    assert busy.headers["Retry-After"] == "1"


def test_a_token_may_ask_so_often() -> None:
    now = [0.0]
    rates = RateLimiter(Limits(rate=2.0, burst=3), lambda: now[0])
    for _ in range(3):
        rates.take("a")
    with pytest.raises(TooMany) as caught:
        rates.take("a")
    assert (caught.value.after, caught.value.to_dict()["error"]) == (1, "TooMany")
    rates.take("b")
    now[0] = 0.5
    rates.take("a")
    with pytest.raises(TooMany) as caught:
        rates.take("a", 3)
    assert caught.value.after == 2
    now[0] = 100.0
    rates.take("a", 3)
    with pytest.raises(TooMany):
        rates.take("a")


def test_a_token_that_asks_too_often_is_told_when_to_come_again() -> None:
    limits = replace(PATIENT, rate=0.5, burst=4)
    with live(limits) as made:
        made.server_state.rates = RateLimiter(
            limits, lambda: 0.0
        )  # however long the questions take
        ours, yours = made.client("read"), made.client("read")
        statuses = [ours.get("/v1/recipes").status_code for _ in range(6)]
        assert statuses == [200] * 4 + [429] * 2
        answer = ours.get("/v1/recipes")
        assert int(answer.headers["Retry-After"]) == 2
        assert answer.json()["retryable"] is True
        assert yours.get("/v1/recipes").status_code == 200
        call = {"jsonrpc": "2.0", "id": 1, "method": "status"}
        assert yours.post("/rpc", json=[call] * 4).status_code == 429


def test_a_thousand_at_once_are_answered_or_sent_away(site: Live) -> None:
    client = site.client("read")
    with ThreadPoolExecutor(50) as pool:
        statuses = list(pool.map(lambda _: client.get("/v1/agents").status_code, range(1000)))
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) > 100


def test_a_question_of_too_many_words_is_refused_before_work(site: Live) -> None:
    client = site.client("read")
    for words, status in ((256, 200), (257, 400)):
        answer = client.post("/v1/recall", json={"query": "port " * words})
        assert answer.status_code == status, answer.text
    answer = rpc(client, "recall", query="port " * 257)
    assert answer["error"]["data"]["field"] == "query"


@pytest.mark.parametrize("word", ["not", "all", "any", "and", "or"])
def test_tests_that_are_nested_too_deeply_are_refused_before_work(site: Live, word: str) -> None:
    client = site.client("read")
    for deep, status in ((8, 200), (9, 400)):
        where: dict[str, Any] = {"kind": "note"}
        for _ in range(deep):
            where = {"not": where} if word == "not" else {word: [where]}
        answer = client.post("/v1/recall", json={"query": "port", "where": where})
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("number", "most"),
    [("max_depth", 4), ("max_visited", 10_000)],
)
def test_a_walk_that_goes_too_far_is_refused_before_work(
    site: Live, number: str, most: int
) -> None:
    client = site.client("read")
    (label,) = [
        name
        for name, lane in recipe_of("linked").to_data()["lanes"].items()
        if lane["kind"] == "walk"
    ]
    for value, status in ((most, 200), (most + 1, 400)):
        path = {f"lanes.{label}.{number}": value}
        data = overridden(recipe_of("linked"), path).to_data()
        for ask in ({"recipe": "linked", "overrides": path}, {"recipe": data}):
            answer = client.post("/v1/recall", json={"query": "port", **ask})
            assert answer.status_code == status, answer.text


def test_a_reply_is_json_as_others_write_it() -> None:
    values = [0.1, 1e-7, 1e22, -0.0, 10**30, True, None, 'é\u2028\x00"', {"a": (1, [{}])}]
    assert json.loads(to_json(values)) == json.loads(json.dumps(values))
    assert to_json(["\ud800", "NaN is a text"]) == b'["?","NaN is a text"]'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_reply_never_has_a_number_that_json_lacks(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"text": "", "score": value})
