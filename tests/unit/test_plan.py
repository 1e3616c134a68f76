"""A plan shows what will run, with every number that decides it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import memoriter
from memoriter.memory import search
from memoriter.pipeline import run
from memoriter.pipeline.load import library, recipe_of
from memoriter.testing.fakes import ToyEmbedder, ToyReranker
from memoriter.why.answer import answer

LOOKS = {"kind", "enabled"}
"""What a plan says by listing a step at all."""
USED = ("words", "kin", "meaning")


def numbers(shown: object) -> Iterator[float]:
    """Every number in plain data."""
    if isinstance(shown, dict):
        for value in shown.values():
            yield from numbers(value)
    elif isinstance(shown, list):
        for value in shown:
            yield from numbers(value)
    elif isinstance(shown, int | float) and not isinstance(shown, bool):
        yield float(shown)


@pytest.mark.parametrize("name", library())
def test_every_number_of_what_runs_is_shown(name: str) -> None:
    asks = recipe_of(name).reranks
    reranker = ToyReranker() if asks else None
    memory = memoriter.open(":memory:", embedder=ToyEmbedder(), reranker=reranker)
    memory.remember("which port do I prefer for ssh", id="a")
    more = {"pass.1.enabled": True} if asks else {}
    cycle = 3 if recipe_of(name).takes("cycle") else None
    plan = memory.plan("which ssh port do I prefer?", recipe=name, cycle=cycle, overrides=more)
    data: dict[str, Any] = plan.recipe.to_data()
    shown = {step.name: step.shows for step in plan.steps if step.skipped is None}
    parts = {**data["lanes"], **data["boosts"], "fuse": data["pass"][0]["fuse"]}
    for step in data["pass"][1:]:
        parts |= {"rerank": step["rerank"]} if step["rerank"] else {"again": step["fuse"]}
    for label in set(parts) & set(shown):
        keys = {key: value for key, value in parts[label].items() if key not in LOOKS}
        keys.pop("lists", None)  # what a list of the call weighs stands among the weights
        if keys.get("unit") == "position":
            del keys["half_life"]  # places halve nothing
        assert not set(numbers(keys)) - set(numbers(dict(shown[label]))), label
    assert plan.running
    assert all(f"{key} " in str(plan) for step in shown.values() for key in step)


@pytest.fixture(name="unread")
def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come as they are: what checks every answer in tests reads all of it."""
    monkeypatch.setattr(search, "answer", answer)


@pytest.mark.usefixtures("unread")
def test_a_recall_does_not_count_or_prove_what_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(run, "boosted_count", lambda _, label: read.append(label) or 7)
    memory = memoriter.open(":memory:")
    memory.remember("the port for ssh is 2222")
    result = memory.recall("which port for ssh?")
    assert (result.status, result.used, result[0].text[:8]) == ("complete", USED, "the port")
    assert not read
    shown = {step.name: step.rows for step in result.plan.steps}
    assert read
    assert {shown[label] for label in read} == {7}


@pytest.mark.usefixtures("unread")
def test_an_answer_that_is_read_after_a_forget_says_what_it_said_before() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("the port for ssh is 2222", id="a")
    memory.remember("The port for SSH is 2222!", id="b")
    memory.remember("the port for ssh was 22", id="c", supersedes="a")
    early, late = (memory.recall("which port for ssh?", now="2026-11-20") for _ in range(2))
    before = ([hit.to_dict() for hit in early], early.plan.to_dict())
    memory.forget("b")
    memory.remember("another port for ssh")
    assert ([hit.to_dict() for hit in late], late.plan.to_dict()) == before
