"""Comis' provider `auto`: local first, then a configured remote one, else text only: CO-06."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.servers import Handler, Server, served

import memoriter
from memoriter.core.errors import Corrupt, InputError
from memoriter.memory import embedders
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


@pytest.fixture(autouse=True)
def _new_stores_have_what_auto_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORITER_NEW_STORE", raising=False)


def _no_model() -> None:
    raise Corrupt("the packaged model cannot be read")


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the packaged model and table cannot be read."""
    monkeypatch.setattr(embedders, "packaged_model", _no_model)
    monkeypatch.setattr(embedders, "why_unreadable", lambda: "FileNotFoundError: vectors.npy")
    monkeypatch.setattr(embedders, "read_failed", lambda: True)


FRESH = """
import importlib.resources, pathlib, sys
import memoriter

files = importlib.resources.files
gone = pathlib.Path(sys.argv[1])
importlib.resources.files = lambda name: gone if name == "memoriter.embed" else files(name)
with memoriter.open(":memory:", embedder="auto") as memory:
    memory.remember("how to cook spaghetti", id="pasta")
    result = memory.recall("cook spaghetti")
    print([hit.id for hit in result], memory.embedding.status())
"""


def test_co_06_a_process_without_the_files_of_the_table_searches_by_words(tmp_path: Path) -> None:
    call = [sys.executable, "-c", FRESH, str(tmp_path)]
    left_out = (VARIABLE, "MEMORITER_NEW_STORE")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(  # noqa: S603  # our own script
        call, capture_output=True, text=True, check=False, env=env, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "['pasta'] []\n"), done.stderr
    assert "Traceback" not in done.stderr


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
        assert space.embedder == "memory-en"
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
@pytest.mark.parametrize("value", ["table", "m@localhost", "onnx:/tmp/x", "http:m"])
def test_co_06_a_variable_that_names_no_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InputError, match=VARIABLE) as caught:
        memoriter.open(":memory:", embedder="auto")
    assert "http:<model>@<base url>" in (caught.value.hint or "")
