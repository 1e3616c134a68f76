"""The HTTP embedder against a real server that misbehaves on command."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from tests.unit.servers import (
    KEY,
    Behaviour,
    Handler,
    Server,
    drips,
    hangs_up,
    says,
    served,
    silent,
    unsent,
)

import memoriter
from memoriter.core.errors import InputError, Unavailable
from memoriter.embed import http
from memoriter.embed.port import Embedder

Http = partial(http.HttpEmbedder, record_seconds=60, query_seconds=60)
"""As the product makes it, and patient: on a busy machine an answer may take its time."""


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("a")), 1.0]


def rows(vectors: list[Any]) -> bytes:
    data = [{"index": at, "embedding": each} for at, each in enumerate(vectors)]
    return json.dumps({"data": data}).encode()


def well(to: Handler, body: dict[str, Any]) -> None:
    to.reply(200, rows([vector(text) for text in body["input"]]))


def asked(server: Server) -> list[list[str]]:
    return [body["input"] for body in server.bodies]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("MEMORITER_EMBED_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("memoriter.models.http_client.FIRST_WAIT", 0.01)
    with served(well) as made:
        yield made


def raised(embedder: Embedder, texts: list[str], side: Any = "record") -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        embedder.embed(texts, side)
    text = f"{caught.value} {caught.value.hint} {caught.value!r} {embedder!r} {vars(caught.value)}"
    assert KEY not in text
    assert caught.value.__cause__ is None
    return caught.value


# --- what is asked ---------------------------------------------------------------------------


def test_texts_go_out_with_model_and_key_and_unit_vectors_come_back(server: Server) -> None:
    embedder = Http("small", server.base + "/", key=KEY, dimension=3)
    blank, made = embedder.embed(["", "banana"], "record")
    assert blank is None
    assert made is not None
    assert float(made @ made) == pytest.approx(1.0)
    assert made.tolist() == pytest.approx([v / 46**0.5 for v in (6.0, 3.0, 1.0)])
    assert server.paths == ["/v1/embeddings"]
    assert server.bodies[0]["model"] == "small"
    assert asked(server) == [["banana"]]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_nothing_is_asked_when_there_is_nothing_to_embed(server: Server) -> None:
    assert Http("small", server.base).embed([" ", ""], "query") == [None, None]
    assert asked(server) == []


def test_each_side_has_its_prefix(server: Server) -> None:
    embedder = Http("small", server.base, query_prefix="query: ", record_prefix="passage: ")
    embedder.embed(["a"], "query")
    embedder.embed(["a"], "record")
    assert asked(server) == [["query: a"], ["passage: a"]]


def test_many_texts_go_in_batches_by_number_and_by_bytes(server: Server) -> None:
    texts = [f"text {nth}" for nth in range(250)]
    made = Http("small", server.base).embed(texts, "record")
    assert [len(batch) for batch in asked(server)] == [100, 100, 50]
    assert all(each is not None for each in made)
    server.bodies.clear()
    Http("small", server.base, batch_bytes=10).embed(["aaaaa", "bbbbb", "c" * 30, "d"], "record")
    assert asked(server) == [["aaaaa", "bbbbb"], ["c" * 30], ["d"]]


def test_the_dimension_is_asked_for_once_when_nobody_said(server: Server) -> None:
    embedder = Http("small", server.base)
    assert (embedder.dimension, embedder.dimension) == (3, 3)
    assert len(server.bodies) == 1


def test_a_lone_surrogate_does_no_harm(server: Server) -> None:
    (made,) = Http("small", server.base).embed(["a\ud800"], "query")
    assert made is not None
    assert asked(server) == [["a?"]]


# --- keys ------------------------------------------------------------------------------------


def test_a_key_comes_from_the_environment_unless_it_is_given(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORITER_EMBED_KEY", f" {KEY}\n")
    Http("small", server.base).embed(["a"], "query")
    Http("small", server.base, key="").embed(["a"], "query")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in server.headers[1]


def test_the_key_of_one_provider_is_not_sent_to_another(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    Http("small", server.base).embed(["a"], "query")
    assert "Authorization" not in server.headers[0]
    requests = unsent(monkeypatch, http)
    with pytest.raises(Unavailable):
        Http("small", "https://api.openai.com/v1").embed(["a"], "query")
    assert [request.key for request in requests] == [KEY]


def test_the_key_is_in_no_name_no_fingerprint_and_no_error(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = Http("small", server.base, key=KEY)
    assert KEY not in embedder.name + embedder.fingerprint + repr(embedder)
    assert embedder.fingerprint == Http("small", server.base, key="other").fingerprint
    server.script = [says(401, f"Incorrect key: {KEY}\x1b[0m\n  see".encode())]
    error = raised(embedder, ["a"])
    assert error.message.endswith("answered 401: Incorrect key: (key) [0m see")
    assert error.hint == "check the API key"
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["two words", "zwei\nzeilen", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InputError) as caught:
        Http("small", "http://localhost", key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    [
        "localhost:8080/v1", "ftp://a/v1", "http://", "http://me:pw@a/v1", "http://a/v1?key=1",
        "http://a/v1#x", "http://a:99999/", "http://[a", "http://a/ b", "http://ä/v1", "",
    ],
)  # fmt: skip
def test_a_base_that_is_no_plain_url_is_refused(base: str) -> None:
    with pytest.raises(InputError, match="base URL"):
        Http("small", base)


def test_other_models_servers_and_prefixes_are_other_spaces() -> None:
    prints = {
        Http("a", "http://one/v1").fingerprint,
        Http("b", "http://one/v1").fingerprint,
        Http("a", "http://two/v1").fingerprint,
        Http("a", "http://one/v1", query_prefix="q: ").fingerprint,
        Http("a", "http://one/v1", record_prefix="q: ").fingerprint,
    }
    assert len(prints) == 5
    assert Http("a", "http://one/v1/").fingerprint in prints


# --- failures that pass ----------------------------------------------------------------------


@pytest.mark.parametrize("failure", [says(500), says(503), says(429), hangs_up])
def test_a_failure_that_passes_is_tried_again(server: Server, failure: Behaviour) -> None:
    server.script = [failure, failure]
    (made,) = Http("small", server.base).embed(["a"], "record")
    assert made is not None
    assert len(server.bodies) == 3


def test_a_failure_that_stays_is_told_after_some_tries(server: Server) -> None:
    server.script = [says(500)] * 9
    assert "answered 500 (4 tries)" in raised(Http("small", server.base, key=KEY), ["a"]).message
    assert len(server.bodies) == 4


def test_a_question_is_tried_only_twice(server: Server) -> None:
    server.script = [hangs_up] * 9
    assert "(2 tries)" in raised(Http("small", server.base, key=KEY), ["a"], "query").message
    assert len(server.bodies) == 2


def test_a_mistake_of_ours_is_not_tried_again(server: Server) -> None:
    server.script = [says(400, b'{"error": "no such model"}')]
    assert "no such model" in raised(Http("small", server.base), ["a"]).message
    assert len(server.bodies) == 1


def test_a_server_that_asks_for_time_gets_it(server: Server) -> None:
    server.script = [says(429, Retry_After="1")]
    start = time.monotonic()
    Http("small", server.base).embed(["a"], "record")
    assert time.monotonic() - start >= 1.0


def test_a_moment_to_come_back_is_read_by_the_clock_of_the_server(server: Server) -> None:
    def later(to: Handler, _: dict[str, Any]) -> None:
        to.send_response_only(503)
        to.send_header("Date", "Sun, 06 Nov 2094 08:49:37 GMT")
        to.send_header("Retry-After", "Sun, 06 Nov 2094 08:49:38 GMT")
        to.send_header("Content-Length", "0")
        to.end_headers()

    server.script = [later]
    start = time.monotonic()
    Http("small", server.base).embed(["a"], "record")
    assert time.monotonic() - start >= 1.0


def test_nobody_waits_longer_than_the_deadline_allows(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, waits, sleep = threading.get_ident(), list[float](), time.sleep

    def noted(seconds: float) -> None:
        if threading.get_ident() == here:
            waits.append(seconds)
        sleep(min(seconds, 1.0))

    monkeypatch.setattr(time, "sleep", noted)
    server.script = [says(429, Retry_After="600")]
    assert "no time is left" in raised(Http("small", server.base), ["a"]).message
    assert waits == []
    server.script = [says(429, Retry_After="1")]
    Http("small", server.base).embed(["a"], "record")
    assert waits == [1.0]  # so a wait would have been noted


# --- failures that stay ----------------------------------------------------------------------


# What is slow here stays so until the test is over: that a call returns shows that it gave up.


@pytest.mark.parametrize("slow", [silent, drips])
def test_a_slow_server_is_left_at_the_deadline(server: Server, slow: Behaviour) -> None:
    server.well = slow
    embedder = Http("small", server.base, record_seconds=0.3, key=KEY)
    assert "no answer within 0.3 s" in raised(embedder, ["a"]).message


def test_a_server_that_never_shakes_hands_is_left_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = f"https://127.0.0.1:{silent.getsockname()[1]}/v1"
        embedder = Http("small", base, record_seconds=0.3, key=KEY)
        assert "no answer within 0.3 s" in raised(embedder, ["a"]).message


def test_the_deadline_is_for_the_whole_call(server: Server) -> None:
    def slowly(to: Handler, body: dict[str, Any]) -> None:
        time.sleep(0.15)
        well(to, body)

    server.script = [slowly] * 9
    embedder = Http("small", server.base, record_seconds=0.4, batch_texts=1)
    assert "no answer within" in raised(embedder, list("abcdefghi")).message
    assert len(server.bodies) <= 4


def test_a_server_that_is_not_there_is_told(server: Server) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as gone:
        port = gone.server_address[1]
    message = raised(Http("small", f"http://127.0.0.1:{port}", key=KEY), ["a"]).message
    assert "Connection refused" in message


def test_a_body_that_ends_early_is_a_broken_connection(server: Server) -> None:
    def cut(to: Handler, body: dict[str, Any]) -> None:
        whole = rows([vector(text) for text in body["input"]])
        to.close_connection = True
        to.reply(200, whole[:-9], Content_Length=str(len(whole)))

    server.script = [cut]
    (made,) = Http("small", server.base).embed(["a"], "record")
    assert made is not None
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (rows([[1.0, 2.0, 3.0]])[:-9], "JSON"),
        (b"<html>", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b'{"object": "list"}', "data: Field required"),
        (b'{"data": [{"embedding": "AACAPw=="}]}', "data.0.embedding"),
        (b'{"data": [{"embedding": [1.0, null, 2.0]}]}', "data.0.embedding.1"),
        (b'{"data": [{"embedding": ["1", "2", "3"]}]}', "data.0.embedding.0"),
        (b'{"data": [{"embedding": [1.0, NaN, 2.0]}]}', "NaN"),
        (b'{"data": [{"embedding": [1e999, 1.0, 2.0]}]}', "NaN or infinity"),
        (rows([[1.0, 2.0]]), "expected vectors of 3 numbers, got 2"),
        (rows([[0.0, 0.0, 0.0]]), "zeros"),
        (rows([[]]), "empty"),
        (rows([]), "not lists"),
        (rows([[1.0, 2.0, 3.0]] * 2), "2 vectors came back for 1 texts"),
        (b'{"data": [{"index": 7, "embedding": [1, 2, 3]}]}', "indexes"),
    ],
)
def test_an_answer_that_is_not_usable_is_named(server: Server, body: bytes, message: str) -> None:
    server.script = [says(200, body)]
    embedder = Http("small", server.base, dimension=3, key=KEY)
    assert message in raised(embedder, ["a"]).message
    assert len(server.bodies) == 1


def test_a_dimension_that_changes_is_refused(server: Server) -> None:
    embedder = Http("small", server.base)
    assert embedder.dimension == 3
    server.script = [says(200, rows([[1.0, 2.0]]))]
    assert "expected vectors of 3 numbers, got 2" in raised(embedder, ["a"]).message


@pytest.mark.parametrize("numbered", [True, False])
def test_vectors_are_taken_in_the_order_the_server_says(server: Server, numbered: bool) -> None:  # noqa: FBT001
    def shuffled(to: Handler, body: dict[str, Any]) -> None:
        data = [{"index": at, "embedding": vector(each)} for at, each in enumerate(body["input"])]
        data = data[::-1] if numbered else [{"embedding": row["embedding"]} for row in data]
        to.reply(200, json.dumps({"data": data}).encode())

    texts = ["a", "banana", "kiwi"]
    embedder = Http("small", server.base)
    expected = [None if v is None else v.tolist() for v in embedder.embed(texts, "record")]
    server.script = [shuffled]
    made = [None if v is None else v.tolist() for v in embedder.embed(texts, "record")]
    assert made == expected


def test_redirects_are_not_followed_with_the_key(server: Server) -> None:
    server.script = [says(307, Location=f"{server.base}/elsewhere")]
    assert "answered 307" in raised(Http("small", server.base, key=KEY), ["a"]).message
    assert len(server.bodies) == 1


def test_several_threads_share_one_embedder(server: Server) -> None:
    embedder = Http("small", server.base)
    made: list[int] = []

    def ask() -> None:
        made.extend(len(each) for each in embedder.embed(["a", "b"], "record") if each is not None)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [3] * 16


# --- in a memory -----------------------------------------------------------------------------


def test_a_server_that_is_away_loses_no_write_and_no_answer(server: Server) -> None:
    server.script = [says(500)] * 6
    with memoriter.open(":memory:", embedder=Http("small", server.base, key=KEY)) as memory:
        memory.remember("banana bread")
        result = memory.recall("banana")
        assert result[0].record.text == "banana bread"
        assert "answered 500" in str(result.plan)
        assert KEY not in str(result.plan)
