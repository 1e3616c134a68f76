"""Lanes that start from what others found: their order, and what they do without."""

from __future__ import annotations

from typing import Any

import pytest

from memoriter.core.errors import BadQuery, BadRecipe, NothingToRun, Unavailable
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import parse_recipe
from memoriter.pipeline.waves import waves_of
from memoriter.why.read_receipt import receipt_columns

WORDS = {"kind": "bm25", "pool": 9, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}


def recipe(**lanes: dict[str, Any]) -> dict[str, Any]:
    fuse = {"kind": "weighted", "scale": "max", "weights": dict.fromkeys(lanes, 1.0)}
    return {
        "name": "mine", "version": 1, "analyzer": "memoriter",
        "lanes": lanes, "pass": [{"fuse": fuse}],
    }  # fmt: skip


def walk(*seeds: str, **more: Any) -> dict[str, Any]:
    return {"kind": "walk", "seeds": list(seeds), **more}


@pytest.fixture
def linked(memory: Memory) -> Memory:
    for name, text in (("a", "port"), ("b", "two"), ("c", "three"), ("d", "four")):
        memory.remember(text, id=name)
    for ends in (("a", "b"), ("b", "c"), ("c", "d")):
        memory.link(*ends, "related_to")
    return memory


def test_a_lane_runs_after_all_that_seed_it() -> None:
    made = parse_recipe(recipe(far=walk("near", "words"), near=walk("words"), words=WORDS), "mine")
    assert waves_of(made.lanes) == [("words",), ("near",), ("far",)]
    assert made.seeded == ("far", "near")


@pytest.mark.parametrize(
    ("lanes", "message"),
    [
        ({"a": walk("b"), "b": walk("a")}, "cycle"),
        ({"a": walk("a")}, "cycle"),
        ({"a": walk("nope")}, "no lane nope"),
    ],
)
def test_needs_that_cannot_be_met_are_an_error_of_the_recipe(
    lanes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadRecipe, match=message):
        parse_recipe(recipe(**lanes), "mine")


def test_a_walk_goes_on_from_what_a_walk_found(linked: Memory) -> None:
    step = {"max_depth": 1, "include_seeds": False, "direction": "out"}
    made = recipe(words=WORDS, near=walk("words", **step), far=walk("near", **step))
    lanes = {hit.id: set(hit.lanes) for hit in linked.recall("port", recipe=made)}
    assert lanes == {"a": {"words"}, "b": {"near"}, "c": {"far"}}


def test_the_order_of_lanes_in_the_recipe_does_not_matter(linked: Memory) -> None:
    lanes = {"words": WORDS, "near": walk("words"), "far": walk("near", max_depth=1)}
    message = [
        [(hit.id, hit.score) for hit in linked.recall("port", recipe=recipe(**dict(order)))]
        for order in (lanes.items(), reversed(lanes.items()))
    ]
    assert message[0] == message[1]


def test_given_seeds_come_first_and_are_not_counted(linked: Memory) -> None:
    made = recipe(words=WORDS, near=walk("words", seed_count=1, max_depth=0))
    result = linked.recall("port", recipe=made, seeds=["d", "c"])
    assert {hit.id for hit in result} == {"a", "c", "d"}
    step = next(step for step in result.plan.steps if step.name == "near")
    assert step.shows["started"] == 3


def test_a_given_seed_may_lie_outside_the_filter(linked: Memory) -> None:
    made = recipe(near=walk(direction="out"))
    result = linked.recall("", recipe=made, seeds=["a"], where={"id": {"in": ["b", "c"]}})
    assert [hit.id for hit in result] == ["b", "c"]
    assert result[0].lanes["near"].why.facts["path"][0] == {"id": "a"}  # type: ignore[index]  # data


def test_a_given_seed_must_be_there_at_the_time_asked_about(memory: Memory) -> None:
    memory.remember("port", id="a", valid_from="2026-05-01")
    made = recipe(near=walk())
    assert len(memory.recall("", recipe=made, seeds=["a"], as_of="2026-05-02")) == 1
    with pytest.raises(BadQuery, match="'a'"):
        memory.recall("", recipe=made, seeds=["a"], as_of="2026-04-30")


def test_a_lane_whose_seeding_lanes_cannot_run_is_skipped(linked: Memory) -> None:
    made = recipe(words=WORDS, near=walk("words"))
    with pytest.raises(NothingToRun, match="no lane that seeds it runs: words"):
        linked.recall("", recipe=made)
    result = linked.recall("", recipe=made, seeds=["a"])
    assert (result.used, result.status) == (("near",), "degraded")
    with pytest.raises(Unavailable, match="no lane that seeds it"):
        linked.recall("", recipe=made, require=["near"])


def test_a_walk_without_any_seeds_is_skipped(linked: Memory) -> None:
    result = linked.recall("port", recipe=recipe(words=WORDS, near=walk()))
    assert result.skipped == {"near": "it has no seeds"}


def test_an_idle_lane_gives_its_share_away(linked: Memory) -> None:
    linked.remember("lonely", id="e")
    near = walk("words", include_seeds=False)
    made = recipe(words=WORDS, near=near, far=walk("near"))
    made["pass"][0]["fuse"]["absent"] = "keep"
    result = linked.recall("lonely", recipe=made)
    assert [(hit.id, hit.score) for hit in result] == [("e", 0.5)]
    assert (result.used, result.status) == (("words", "near"), "complete")
    assert result.skipped == {"far": "no seeds: nothing was found by near"}


@pytest.mark.parametrize("seeds", [5, {"near": 5}, [5], {5: ["a"]}])
def test_seeds_of_the_wrong_shape_are_refused(linked: Memory, seeds: Any) -> None:
    with pytest.raises(BadQuery, match="seeds"):
        linked.recall("port", recipe=recipe(words=WORDS, near=walk("words")), seeds=seeds)


def test_one_seed_needs_no_list(linked: Memory) -> None:
    made = recipe(words=WORDS, near=walk("words"))
    listed = linked.recall("port", recipe=made, seeds={"near": ["a"]})
    assert linked.recall("port", recipe=made, seeds={"near": "a"}).hits == listed.hits


def test_a_plan_names_seeds_and_bounds_before_anything_runs(linked: Memory) -> None:
    plan = linked.plan("port", recipe=recipe(words=WORDS, near=walk("words")))
    shown = next(step.to_dict() for step in plan.steps if step.name == "near")
    assert (shown["seeds"], shown["max_depth"], shown["through"]) == (["words"], 2, "selection")
    assert "edges_read" not in shown


def test_the_parts_of_a_walk_are_columns_of_the_slate(linked: Memory) -> None:
    receipt = linked.recall("port", recipe=recipe(words=WORDS, near=walk("words"))).receipt
    columns: Any = receipt_columns(receipt.body)
    parts = zip(
        *(columns[f"near.{key}"] for key in ("graph", "relation", "seed_support")), strict=True
    )
    assert [sum(each) for each in parts] == columns["near.score"]
