"""The HTTP reranker against a real server that misbehaves on command."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
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

from memoriter.core.errors import InputError, Unavailable
from memoriter.rerank import http
from memoriter.rerank.call import Failed, RerankScores, ask_reranker
from memoriter.rerank.http import HttpRerankerOptions
from memoriter.rerank.port import Reranker

Http = partial(http.HttpReranker, seconds=60)
"""As the product makes it, and patient: on a busy machine an answer may take its time."""
PATIENT = 60_000


def rows(scores: list[Any], field: str = "relevance_score") -> list[dict[str, Any]]:
    made = [{"index": at, field: score} for at, score in enumerate(scores)]
    return sorted(made, key=lambda row: str(row[field]), reverse=True)


def well(to: Handler, body: dict[str, Any]) -> None:
    """Long texts score high; the answer comes best first, as servers give it."""
    if "texts" in body:
        answer: Any = rows([len(text) / 8 for text in body["texts"]], "score")
    else:
        documents = [len(text) / 8 for text in body["documents"]]
        answer = {"id": "1", "results": rows(documents)[: body["top_n"]], "meta": {}}
    to.reply(200, json.dumps(answer).encode())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for variable in ("MEMORITER_RERANK_KEY", "CO_API_KEY", "JINA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("memoriter.models.http_client.FIRST_WAIT", 0.01)
    with served(well) as made:
        yield made


def raised(reranker: Reranker, texts: list[str]) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        reranker.score("which?", texts)
    text = f"{caught.value} {caught.value.hint} {caught.value!r} {reranker!r} {vars(caught.value)}"
    assert KEY not in text
    assert caught.value.__cause__ is None
    return caught.value


# --- what is asked ---------------------------------------------------------------------------


def test_a_server_is_asked_as_cohere_and_jina_are(server: Server) -> None:
    reranker = Http("bge", server.base + "/", key=KEY)
    assert reranker.score("which?", ["a", "banana", "kiwi"]) == [0.125, 0.75, 0.5]
    assert server.paths == ["/v1/rerank"]
    assert server.bodies == [
        {"model": "bge", "query": "which?", "documents": ["a", "banana", "kiwi"], "top_n": 3}
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_server_is_asked_as_tei_is(server: Server) -> None:
    reranker = Http("bge", server.base, shape="tei")
    assert reranker.score("which?", ["a", "banana"]) == [0.125, 0.75]
    assert server.bodies == [{"query": "which?", "texts": ["a", "banana"], "truncate": True}]


def test_more_texts_than_a_server_takes_go_in_several_requests(server: Server) -> None:
    texts = ["a" * (nth % 9 + 1) for nth in range(70)]
    made = Http("bge", server.base, shape="tei").score("q", texts)
    assert [len(body["texts"]) for body in server.bodies] == [32, 32, 6]
    assert made == [len(text) / 8 for text in texts]
    server.bodies.clear()
    assert Http("bge", server.base, batch_texts=50).score("q", texts) == made
    assert [body["top_n"] for body in server.bodies] == [50, 20]


def test_a_lone_surrogate_does_no_harm(server: Server) -> None:
    Http("bge", server.base).score("q\ud800", ["a\udfff"])
    assert (server.bodies[0]["query"], server.bodies[0]["documents"]) == ("q?", ["a?"])


# --- keys ------------------------------------------------------------------------------------


def test_a_key_comes_from_the_environment_unless_it_is_given(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORITER_RERANK_KEY", f" {KEY}\n")
    Http("bge", server.base).score("q", ["a"])
    Http("bge", server.base, key="").score("q", ["a"])
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in server.headers[1]


@pytest.mark.parametrize(
    ("variable", "home"),
    [("CO_API_KEY", "https://api.cohere.com/v2"), ("JINA_API_KEY", "https://api.jina.ai/v1")],
)
def test_the_key_of_one_provider_is_not_sent_to_another(
    server: Server, monkeypatch: pytest.MonkeyPatch, variable: str, home: str
) -> None:
    monkeypatch.setenv(variable, KEY)
    Http("bge", server.base).score("q", ["a"])
    assert "Authorization" not in server.headers[0]
    homes = ("https://api.cohere.com/v2", "https://api.jina.ai/v1", home.replace("https", "http"))
    requests = unsent(monkeypatch, http)
    for each in homes:
        with pytest.raises(Unavailable):
            Http("bge", each).score("q", ["a"])
    assert [request.key for request in requests] == [KEY * (each == home) for each in homes]


def test_the_key_is_in_no_name_no_fingerprint_no_error_and_no_reason(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reranker = Http("bge", server.base, key=KEY)
    assert KEY not in reranker.name + reranker.fingerprint + repr(reranker)
    assert reranker.fingerprint == Http("bge", server.base, key="other").fingerprint
    server.script = [says(401, f"Incorrect key: {KEY}".encode())] * 2
    assert raised(reranker, ["a"]).hint == "check the API key"
    outcome = ask_reranker(reranker, "q", ["a"], PATIENT)
    assert isinstance(outcome, Failed)
    assert outcome.reason == f"rerank_failed: {server.base}: answered 401: Incorrect key: (key)"
    assert KEY not in caplog.text


def test_other_models_servers_and_shapes_have_other_fingerprints() -> None:
    prints = {
        Http("a", "http://one/v1").fingerprint,
        Http("b", "http://one/v1").fingerprint,
        Http("a", "http://two/v1").fingerprint,
        Http("a", "http://one/v1", shape="tei").fingerprint,
    }
    assert len(prints) == 4
    assert Http("a", "http://one/v1/", seconds=1).fingerprint in prints


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"shape": "voyage"}, "shape"),
        ({"seconds": 0}, "seconds"),
        ({"batch_texts": 0}, "batch_texts"),
        ({"key": "two words"}, "key"),
        ({"top_n": 3}, "top_n"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(options: HttpRerankerOptions, field: str) -> None:
    with pytest.raises(InputError) as caught:
        Http("bge", "http://localhost", **options)
    assert caught.value.field == field


def test_a_base_that_is_no_plain_url_is_refused() -> None:
    for base in ("localhost:8080", "ftp://a", "http://me:pw@a/v1", "http://a/v1?key=1", ""):
        with pytest.raises(InputError, match="reranker: the base URL") as caught:
            Http("bge", base)
        assert "MEMORITER_RERANK_KEY" in caught.value.hint


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [says(500), says(503), says(429), hangs_up])
def test_a_failure_that_passes_is_tried_again(server: Server, failure: Behaviour) -> None:
    server.script = [failure]
    assert Http("bge", server.base).score("q", ["a"]) == [0.125]
    assert len(server.bodies) == 2


def test_a_failure_that_stays_is_told_after_two_tries(server: Server) -> None:
    server.script = [says(500)] * 9
    assert "answered 500 (2 tries)" in raised(Http("bge", server.base, key=KEY), ["a"]).message


def test_a_server_that_is_not_there_is_told() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as gone:
        port = gone.server_address[1]
    message = raised(Http("bge", f"http://127.0.0.1:{port}", key=KEY), ["a"]).message
    assert "Connection refused" in message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"<html>", "JSON"),
        (b"[]", "JSON"),
        (b'{"data": []}', "results: Field required"),
        (b'{"results": [{"index": 0}]}', "results.0"),
        (b'{"results": [{"index": "0", "relevance_score": 1}]}', "results.0.index"),
        (b'{"results": [{"index": 0, "relevance_score": "1"}]}', "results.0"),
        ({"results": []}, "no score for 2 of 2 texts"),
        ({"results": rows([0.5])}, "no score for 1 of 2 texts"),
        ({"results": rows([0.5, 0.5, 0.5])}, "3 scores for 2 texts"),
        ({"results": rows([0.5, 0.5]) + rows([0.1])}, "two scores for one text"),
        ({"results": [{"index": -1, "score": 1}, {"index": 1, "score": 1}]}, "1 of 2 texts"),
    ],
)
def test_an_answer_that_is_not_usable_is_named(server: Server, answer: Any, message: str) -> None:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    server.script = [says(200, body)]
    error = raised(Http("bge", server.base, key=KEY), ["a", "b"])
    assert message in error.message
    assert "has the format 'cohere'" in error.hint


def test_a_score_that_is_no_number_fails_the_question(server: Server) -> None:
    server.script = [says(200, b'{"results": [{"index": 0, "relevance_score": 1e999}]}')]
    outcome = ask_reranker(Http("bge", server.base), "q", ["a"], PATIENT)
    assert outcome == Failed("rerank_failed: returned NaN or infinity instead of 1 score")


@pytest.mark.parametrize("slow", [silent, drips])
def test_a_slow_server_is_left_at_the_deadline(server: Server, slow: Behaviour) -> None:
    server.well = slow  # until the test is over: that a call returns shows that it gave up
    reranker = Http("bge", server.base, seconds=0.4, key=KEY)
    assert ask_reranker(reranker, "q", ["a"], 200) == Failed(
        "rerank_timeout: no answer within 200 ms"
    )
    assert "no answer within 0.4 s" in raised(reranker, ["a"]).message
    server.well = well
    assert isinstance(ask_reranker(Http("bge", server.base), "q", ["a"], PATIENT), RerankScores)


def test_the_connection_is_given_up_at_the_deadline_of_the_question(server: Server) -> None:
    gone = threading.Event()

    def listens(to: Handler, _: dict[str, Any]) -> None:
        to.connection.settimeout(60.0)
        assert to.connection.recv(1) == b""  # nobody is there any more
        gone.set()

    server.well = listens
    for timeout_ms in (300, 1000, 3000, 10_000, 30_000):
        outcome = ask_reranker(Http("bge", server.base, seconds=3600), "q", ["a"], timeout_ms)
        assert outcome == Failed(f"rerank_timeout: no answer within {timeout_ms} ms")
        if server.bodies:  # on a busy machine the time may be over before it is asked at all
            break
    assert gone.wait(60)  # long before the hour that it would have had


def test_a_deadline_shortens_the_patience_of_one_question_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = Http("bge", server.base, seconds=0.5)
    requests = unsent(monkeypatch, http)
    for each in (reranker.within(0.2), reranker.within(9.0), reranker):
        with pytest.raises(Unavailable):
            each.score("q", ["a"])
    assert [request.seconds for request in requests] == [0.2, 0.5, 0.5]
    assert reranker.within(0.2).fingerprint == reranker.fingerprint


def test_a_server_that_hangs_does_not_hold_the_end_of_the_process(server: Server) -> None:
    server.script = [silent]
    code = (
        "from memoriter.rerank.call import ask_reranker; "
        "from memoriter.rerank.http import HttpReranker; "
        f"http = HttpReranker('bge', '{server.base}', seconds=3600); "
        "print(ask_reranker(http, 'q', ['a'], 300).reason)"
    )
    run = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.strip() == "rerank_timeout: no answer within 300 ms"
