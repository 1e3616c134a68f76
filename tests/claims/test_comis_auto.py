"""Comis' provider `auto`: local first, then a configured remote one, else text only: CO-06."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.servers import Handler, Server, served

import memoriter
from memoriter.core.errors import InputError
from memoriter.embed import static
from memoriter.memory.facade import Memory

VARIABLE = "MEMORITER_REMOTE_EMBEDDER"


def well(to: Handler, body: dict[str, Any]) -> None:
    """A server whose vectors know one thing: whether a text is about food."""
    about = [[1.0, 0.0] if "spaghetti" in text or "pasta" in text else [0.0, 1.0]
             for text in body["input"]]  # fmt: skip
    data = [{"index": at, "embedding": vector} for at, vector in enumerate(about)]
    to.reply(200, json.dumps({"data": data}).encode())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in (VARIABLE, "MEMORITER_EMBED_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with served(well) as made:
        yield made


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the packaged table are gone."""

    def gone() -> static.StaticTable:
        raise FileNotFoundError("vectors.npy")

    monkeypatch.setattr(static, "_HOLDER", static._Holder())  # a fresh process
    monkeypatch.setattr(static, "_read", gone)


def answered(memory: Memory) -> list[str]:
    memory.remember("how to cook spaghetti", id="pasta")
    memory.remember("the dog sleeps", id="dog")
    result = memory.recall("pasta recipe", recipe="comis")
    return [*result.used, *(hit.id for hit in result)]


def test_co_06_the_local_one_comes_first_also_where_a_remote_one_is_configured(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"http:m@{server.base}")
    with memoriter.open(":memory:", embedder="auto") as memory:
        answered(memory)
        (space,) = memory.embedding.status()
        assert space.embedder == "static"
    assert server.bodies == []


@pytest.mark.usefixtures("damaged")
def test_co_06_a_configured_remote_one_is_used_if_the_local_one_cannot_load(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, f"http:m@{server.base}")
    with (
        caplog.at_level(logging.WARNING),
        memoriter.open(":memory:", embedder="auto") as memory,
    ):
        assert answered(memory)[:3] == ["words", "meaning", "pasta"]
        assert memory.recall("pasta").status in {"complete", "degraded"}  # no traceback without kin
    assert {body["model"] for body in server.bodies} == {"m"}
    assert "the remote one is used" in caplog.text


@pytest.mark.usefixtures("damaged")
def test_co_06_a_remote_one_that_nobody_configured_is_never_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("MEMORITER_EMBED_KEY", "sk-secret")
    with (
        caplog.at_level(logging.WARNING),
        memoriter.open(":memory:", embedder="auto") as memory,
    ):
        assert answered(memory) == ["words"]
        assert memory.recall("spaghetti", recipe="comis")[0].id == "pasta"
    assert server.bodies == []
    assert f"name a server in {VARIABLE}" in caplog.text


@pytest.mark.usefixtures("damaged")
@pytest.mark.parametrize("value", ["static", "m@localhost", "onnx:/tmp/x", "http:m"])
def test_co_06_a_variable_that_names_no_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InputError, match=VARIABLE) as caught:
        memoriter.open(":memory:", embedder="auto")
    assert "http:<model>@<base url>" in (caught.value.hint or "")
