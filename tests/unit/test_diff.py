"""A diff of two receipts: who moved, through which part of the score, what was behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import BadQuery
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import START, HandClock, ToyEmbedder, ToyReranker
from memoriter.why.diff import Diff


@pytest.fixture
def ports(memory: Memory) -> Memory:
    for n in range(6):
        memory.remember(f"ssh port {n} " + "sea " * n, id=f"r{n}", tags=["odd"] if n % 2 else [])
    return memory


def compared(one: Any, two: Any) -> Diff:
    """The diff, after its arithmetic was checked."""
    diff = memoriter.diff(one, two)
    for move in diff.moves:
        if move.was is not None and move.now is not None:
            assert move.now - move.was == len(move.passed_by) - len(move.passed)
    assert json.loads(json.dumps(diff.to_dict()))["same"] is diff.same
    assert diff.same == memoriter.diff(two, one).same
    return diff


def parts(diff: Diff, id: str) -> dict[str, tuple[str, ...]]:
    (move,) = [move for move in diff.moves if move.id == id]
    return {part.name: part.causes for part in move.parts}


def test_the_same_search_twice_differs_in_nothing(ports: Memory) -> None:
    diff = compared(ports.recall("ssh port"), ports.recall("ssh port"))
    assert (diff.same, diff.inputs, diff.moves, diff.causes) == (True, (), (), ())


def test_a_limit_cuts_and_nothing_else(ports: Memory) -> None:
    diff = compared(ports.recall("ssh port", limit=2), ports.recall("ssh port", limit=3))
    assert diff.causes == ("question",)
    assert [(move.was, move.now, move.parts) for move in diff.moves] == [(None, 3, ())]
    assert diff.entered == (diff.moves[0].id,)
    assert diff.left == ()


def test_data_alone(ports: Memory) -> None:
    before = ports.recall("ssh port sea", limit=4)
    ports.remember("ssh port sea", id="new")
    ports.update("r5", text="harbour")
    diff = compared(before, ports.recall("ssh port sea", limit=4))
    assert diff.causes == ("data",)
    assert diff.inputs[0].path == "view.seq"
    assert "new" in diff.entered
    for move in diff.moves:
        assert move.causes == ("data",)
    (new,) = [move for move in diff.moves if move.id == "new"]
    assert (new.was, new.score_was) == (None, None)
    assert {part.was for part in new.parts} == {None}


def test_the_recipe_alone_and_the_parts_add_up(ports: Memory) -> None:
    before = ports.recall("ssh port 3", limit=10)
    after = ports.recall("ssh port 3", limit=10, overrides={"fusion.weights.words": 0.9})
    diff = compared(before, after)
    assert [(each.cause, each.path) for each in diff.inputs] == [
        ("recipe", "pass.0.fuse.weights.words")
    ]
    for move in diff.moves:
        assert move.causes == ("recipe",)
        assert move.score_was is not None
        assert move.score_now is not None
        change = sum((part.now or 0.0) - (part.was or 0.0) for part in move.parts)
        assert move.score_now - move.score_was == pytest.approx(change, abs=1e-9)


def test_a_filter_alone(ports: Memory) -> None:
    diff = compared(
        ports.recall("ssh port", limit=3),
        ports.recall("ssh port", limit=3, where={"tags": {"any": ["odd"]}}),
    )
    assert diff.causes == ("filter",)
    assert diff.inputs[0].path == "where.all"
    assert set(diff.left) == {"r0", "r2"}


def test_another_time_asked_about_is_a_filter_too(ports: Memory) -> None:
    ports.remember("ssh port then", id="then", valid_until="2026-01-01")
    diff = compared(ports.recall("ssh port"), ports.recall("ssh port", as_of="2026-06-01"))
    assert [(each.cause, each.path) for each in diff.inputs] == [("filter", "as_of")]
    assert diff.left == ("then",)


def test_a_model_that_failed(ports: Memory) -> None:
    model = ToyEmbedder()
    with memoriter.open(":memory:", embedder=model, clock=HandClock()) as memory:
        memory.remember_many(f"ssh port {n}" for n in range(4))
        before = memory.recall("ssh port 3")
        model.failing = True
        diff = compared(before, memory.recall("ssh port 3"))
    assert diff.causes == ("model",)
    assert {each.path for each in diff.inputs} == {"no_vector", "vector"}
    assert {cause for move in diff.moves for cause in move.causes} == {"model"}


def test_a_reranker_that_changed_its_mind() -> None:
    recipe = recipe_of("lexical").to_data()
    recipe["pass"] = [*recipe["pass"], {"head": 3, "rerank": {"timeout_ms": 5000}}]
    judge = ToyReranker()
    with memoriter.open(":memory:", reranker=judge, clock=HandClock()) as memory:
        memory.remember_many(f"ssh port {n}" for n in range(3))
        judge.answer = [3.0, 2.0, 1.0]
        before = memory.recall("ssh port", recipe=recipe)
        judge.answer = [1.0, 2.0, 3.0]
        diff = compared(before, memory.recall("ssh port", recipe=recipe))
        judge.failing = True
        failed = compared(before, memory.recall("ssh port", recipe=recipe))
    assert diff.causes == ("model",)
    assert [each.path.partition(".")[0] for each in diff.inputs] == ["rerank", "rerank"]
    assert [(move.was, move.now) for move in diff.moves] == [(3, 1), (1, 3)]
    assert failed.causes == ("model",)
    assert "told to fail" in str(failed.inputs[0].now)


def test_of_several_differences_each_number_names_those_it_can_follow_from(ports: Memory) -> None:
    before = ports.recall("ssh port sea", now=START)
    ports.remember("ssh port sea", id="new")
    now: dict[str, Any] = {"now": START + 5, "limit": 4}
    after = ports.recall("ssh port sea", overrides={"lanes.words.k1": 2.0}, **now)
    diff = compared(before, after)
    assert diff.causes == ("data", "recipe", "question")
    changed = parts(diff, "r3")
    assert changed["fuse.words"] == ("data", "recipe")
    assert "recipe" not in changed.get("fuse.kin", ())
    assert all("question" not in causes for causes in changed.values())


def test_another_question(ports: Memory) -> None:
    diff = compared(ports.recall("ssh"), ports.recall("sea"))
    assert diff.causes == ("question",)
    assert [each.path for each in diff.inputs] == ["text"]


def test_what_is_no_receipt() -> None:
    with pytest.raises(BadQuery):
        memoriter.diff({}, {})
