"""The log of a server says who asked for what, and nothing of what was said."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from tests.http.live import JSON, TENANT, Live, rpc

from memoriter.core.errors import InputError
from memoriter.doors.http.logs import LineFormatter, LogFormat, log_format, start_logging

SECRETS = ("49222", "moonbeam", "Zanzibar", "kept-id")


@pytest.fixture
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    kind: LogFormat = request.param
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("memoriter", "uvicorn.error")]
    before = [(each.level, each.propagate, list(each.handlers)) for each in loggers]
    start_logging(kind, stream)
    yield stream
    for each, (level, propagate, handlers) in zip(loggers, before, strict=True):
        each.setLevel(level)
        each.propagate = propagate
        each.handlers = handlers


@pytest.mark.parametrize("written", ["text", "json"], indirect=True)
def test_a_line_per_request_without_any_text(site: Live, written: io.StringIO) -> None:
    client = site.client("write")
    client.post("/v1/memories", json={"text": "moonbeam 49222", "id": "kept-id"})
    client.post("/v1/recall", json={"query": "Where is Zanzibar?"})
    client.post("/v1/recall", json={"query": "Zanzibar", "where": {"moonbeam": "Zanzibar"}})
    client.post("/v1/recall", content=b'{"query": "Zanzibar', headers=JSON)
    client.get("/v1/memories/kept-id")
    client.get("/v1/memories/Zanzibar")
    client.get("/v1/Zanzibar")
    rpc(client, "recall", query="Zanzibar", unknown="moonbeam")
    head = b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"
    site.raw(head + b"Authorization: Bearer moonbeam\r\n\r\n")
    text = written.getvalue()
    assert not [each for each in SECRETS if each in text], text
    for word in ("remember", "recall", "status", "request", "refused", "Unauthenticated", TENANT):
        assert word in text


@pytest.mark.parametrize("written", ["json"], indirect=True)
def test_json_lines_have_fields(site: Live, written: io.StringIO) -> None:
    client = site.client("read")
    client.post("/v1/recall", json={"query": "ssh"})
    client.post("/v1/recall", json={"query": 5})
    good, bad = [json.loads(line) for line in written.getvalue().splitlines()]
    assert (good["event"], good["operation"], good["status"]) == ("request", "recall", 200)
    assert (good["tenant"], good["level"], good["logger"]) == (TENANT, "info", "memoriter.http")
    assert good["ms"] > 0
    assert good["time"].endswith("+00:00")
    assert (bad["status"], bad["error"]) == (400, "InputError")


def test_what_a_message_is_filled_with_stays_out() -> None:
    info = (ValueError, ValueError("moonbeam"), None)
    record = logging.LogRecord("x", logging.ERROR, "f.py", 1, "lost %s", ("moonbeam",), info)
    for kind in ("text", "json"):
        line = LineFormatter(kind).format(record)
        assert "moonbeam" not in line
        assert "lost %s" in line
        assert "ValueError" in line


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="log"):
        log_format("xml")
    start_logging("off", io.StringIO())
