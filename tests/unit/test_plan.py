"""A plan shows what will run, with every number that decides it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import memoriter
from memoriter.pipeline.load import library, recipe_of
from memoriter.pipeline.plan import reranks
from memoriter.testing.fakes import ToyEmbedder, ToyReranker

LOOKS = {"kind", "enabled"}
"""What a plan says by listing a step at all."""


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
    asks = reranks(recipe_of(name))
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
