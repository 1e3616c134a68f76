"""Names of rerankers: what each means, what is said when one is wrong, and how a memory has one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import InputError, NotFound
from memoriter.memory.rerankers import KNOWN, reranker_of
from memoriter.rerank.callable import FunctionReranker
from memoriter.rerank.http import HttpReranker, Shape
from memoriter.testing.fakes import ToyReranker
from memoriter.why.result import Result


def by_length(query: str, texts: list[str]) -> list[float]:
    return [float(len(text)) for text in texts]


@pytest.mark.parametrize(
    ("what", "name", "shape"),
    [
        ("http:bge@http://localhost:1/v1", "http:bge@http://localhost:1/v1", "cohere"),
        ("http:bge@http://localhost:1#tei", "http:bge@http://localhost:1", "tei"),
        ("http:a@b@https://c.d/v2/#cohere", "http:a@b@https://c.d/v2", "cohere"),
    ],
)
def test_a_name_means_a_reranker(what: str, name: str, shape: Shape) -> None:
    made = reranker_of(what)
    assert isinstance(made, HttpReranker)
    model, _, base = name.removeprefix("http:").rpartition("@")
    assert made.name == name
    assert made.fingerprint == HttpReranker(model, base, shape=shape).fingerprint


def test_none_objects_and_functions_are_taken() -> None:
    toy = ToyReranker()
    assert reranker_of(None) is None
    assert reranker_of(toy) is toy
    made = reranker_of(by_length)
    assert made is not None
    assert (made.name, made.fingerprint) == ("by_length", "callable:by_length")
    assert made.score("q", ("a", "bb")) == [1.0, 2.0]


def test_a_function_may_have_a_name_and_an_object_may_be_called() -> None:
    class Judge:
        def __call__(self, query: str, texts: list[str]) -> list[float]:
            return by_length(query, texts)

    assert FunctionReranker(Judge()).name == "Judge"
    assert FunctionReranker(by_length, "length-2").fingerprint == "callable:length-2"
    with pytest.raises(InputError, match="name"):
        FunctionReranker(by_length, "")


@pytest.mark.parametrize(
    "what",
    ["best", "", "onnx", "onnx:", "http:a", "http:a@http://b#jina", "http://localhost", "tei"],
)
def test_an_unknown_name_lists_the_known_ones(what: str) -> None:
    with pytest.raises(InputError) as caught:
        reranker_of(what)
    assert caught.value.field == "reranker"
    assert all(f'"{known}"' in caught.value.hint for known in KNOWN)


@pytest.mark.parametrize("what", ["http:bge@https://me:sesame@host/v1", "https://me:sesame@host"])
def test_a_server_with_a_key_in_its_url_is_refused_and_not_repeated(what: str) -> None:
    with pytest.raises(InputError) as caught:
        reranker_of(what)
    assert "sesame" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("what", [7, object(), ["onnx:x"], b"onnx:x"])
def test_what_is_no_reranker_is_named(what: Any) -> None:
    with pytest.raises(InputError, match=f"{type(what).__name__} is not a function") as caught:
        reranker_of(what)
    assert "an object with score" in caught.value.hint


def test_an_object_without_a_fingerprint_is_refused() -> None:
    class Half:
        name = "half"

        def score(self, *_: object) -> list[float]:
            return []

    half: Any = Half()
    with pytest.raises(InputError, match="must have an attribute `fingerprint`"):
        reranker_of(half)


def test_an_asynchronous_function_is_told_what_to_become() -> None:
    async def judge(query: str, texts: list[str]) -> list[float]:
        return []

    wrong: Any = judge
    with pytest.raises(InputError, match="asynchronous") as caught:
        reranker_of(wrong)
    assert "thread" in caught.value.hint


# --- in a memory -----------------------------------------------------------------------------


def test_co_22_a_memory_has_no_reranker_unless_one_is_named() -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("red")
        assert memory.recall("red").trace["rerank_skipped"] == "no_reranker"


def test_a_memory_and_its_scopes_share_one_reranker() -> None:
    toy = ToyReranker()
    with memoriter.open(":memory:", reranker=toy) as memory:
        memory.remember("red", agent="bob")
        memory.recall("red")
        memory.scoped("bob").recall("red")
        assert toy.asked == [("red", ("red",))] * 2

    async def recalled() -> Result:
        async with await memoriter.aopen(":memory:", reranker=by_length) as memory:
            await memory.remember("red")
            return await memory.recall("red")

    (hit,) = asyncio.run(recalled())
    assert hit.score == 3.0


def test_a_wrong_reranker_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no reranker 'best'"):
        memoriter.open(tmp_path / "m.db", reranker="best")
    with pytest.raises(NotFound, match="there is no model at"):
        memoriter.open(tmp_path / "m.db", reranker=f"onnx:{tmp_path / 'nowhere'}")
    assert list(tmp_path.iterdir()) == []


def test_opening_a_memory_with_a_function_loads_no_client_and_no_runtime() -> None:
    code = (
        "import sys, memoriter; memoriter.open(':memory:', reranker=lambda q, t: [0.0] * len(t)); "
        "print(*({'ssl', 'http.client', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == ""
