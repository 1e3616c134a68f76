"""Extractors of entities: none of them costs a write, a hostile text costs no time."""

from __future__ import annotations

import time
from typing import Any

import pytest

import memoriter
from memoriter.text.entities import names_in


def _fails(text: str) -> tuple[str, ...]:
    raise ConnectionError(text)


def _kept(extractor: Any, text: str = "Ada met Bob") -> tuple[str, ...]:
    memory = memoriter.open(":memory:", embedder=None, entities=extractor)
    (id_,) = memory.remember(text).ids
    return memory.get(id_).entities


@pytest.mark.parametrize("answer", [None, 3, "Bob", b"Bob", {"Bob": 1}, [None], [" "], ["\0"]])
def test_an_answer_without_names_finds_none_and_the_record_is_kept(answer: Any) -> None:
    assert _kept(lambda _: answer) == ()


def test_an_extractor_that_fails_costs_no_write(caplog: pytest.LogCaptureFixture) -> None:
    assert _kept(_fails) == ()
    assert "the extractor of entities failed" in caplog.text


def test_what_is_no_name_is_left_out_and_the_others_stay() -> None:
    assert _kept(lambda _: ["", "Bob", "x" * 9000, "Bob", "Ada"]) == ("Bob", "Ada")
    assert _kept("rules", "Ada sent " + "A" * 9000) == ("Ada",)


def test_a_changed_text_has_the_entities_of_its_own() -> None:
    memory = memoriter.open(":memory:", embedder=None, entities="rules")
    memory.remember("Ada met Bob", id="found")
    memory.remember("Ada met Bob", id="given", entities=["Ada"])
    for id_ in ("found", "given"):
        memory.update(id_, text="Cleo met Dora")
    assert memory.get("found").entities == ("Cleo", "Dora")
    assert memory.get("given").entities == ("Ada",)
    memory.update("found", text="Emil left", entities=["Cleo", "Dora"])
    assert memory.get("found").entities == ("Cleo", "Dora")
    memory.update("given", tags=["x"])
    assert memory.get("given").entities == ("Ada",)


@pytest.mark.parametrize(
    "text",
    ["." * 10_000 + " Ab" * 3000, "1" * 20_000, "-" * 20_000, "a@" * 10_000, "@a" + "." * 19_000],
)
def test_names_are_found_in_time_that_grows_with_the_text(text: str) -> None:
    begun = time.thread_time()
    names_in(text)
    assert time.thread_time() - begun < 5.0  # it took minutes
