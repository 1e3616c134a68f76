"""What mnestic claims of its graph legs, by number, on corpus A; fused totals come elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.core.errors import BadQuery, BadRecipe
from recollect.memory.facade import Memory

EDGES = (
    ("m01", "m02", 0.9), ("m02", "m09", 0.6), ("m09", "m10", 0.8), ("m09", "m20", 0.5),
    ("m05", "m06", 0.7), ("m11", "m12", 0.4), ("m03", "m04", 1.0), ("m17", "m01", 0.3),
)  # fmt: skip


@pytest.fixture
def corpus(memory: Memory) -> Memory:
    memory.remember_many({"text": f"memory {n}", "id": f"m{n:02}"} for n in range(1, 21))
    for source, target, weight in EDGES:
        memory.link(source, target, "linked", weight=weight)
    return memory


def recipe(**lanes: dict[str, Any]) -> dict[str, Any]:
    """Graph legs alone."""
    fuse = {"kind": "weighted", "scale": "min_max", "weights": dict.fromkeys(lanes, 1.0)}
    return {
        "name": "mine", "version": 1, "analyzer": "recollect",
        "lanes": lanes, "pass": [{"fuse": fuse}],
    }  # fmt: skip


def leg(memory: Memory, *seeds: str, **lane: Any) -> list[tuple[str, float]]:
    """(id, leg score) by rank."""
    made = recipe(graph={"kind": "hops", **lane})
    result = memory.recall("", 100, recipe=made, seeds=list(seeds))
    found = sorted(result, key=lambda hit: hit.lanes["graph"].rank)
    assert [hit.lanes["graph"].rank for hit in found] == list(range(1, len(found) + 1))
    return [(hit.id, round(hit.lanes["graph"].score, 6)) for hit in found]


def test_mn_15_the_defaults_of_a_leg(corpus: Memory) -> None:
    corpus.link("m01", "m03", "other")
    assert leg(corpus, "m01", kinds=["linked"]) == [("m02", -1.0), ("m09", -2.0)]
    assert leg(corpus, "m01", kinds=["other"]) == [("m03", -1.0)]
    assert leg(corpus, "m01", kinds=[]) == []


def test_mn_16_the_score_is_the_least_number_of_hops(corpus: Memory) -> None:
    assert leg(corpus, "m01") == [("m02", -1.0), ("m09", -2.0)]


def test_mn_17_undirected_legs_go_backwards_too(corpus: Memory) -> None:
    assert leg(corpus, "m01", direction="both", max_hops=3) == [
        ("m02", -1.0), ("m17", -1.0), ("m09", -2.0), ("m10", -3.0), ("m20", -3.0),
    ]  # fmt: skip


def test_mn_18_several_seeds_are_a_union_and_none_is_scored(corpus: Memory) -> None:
    assert leg(corpus, "m01", "m02") == [("m09", -1.0), ("m10", -2.0), ("m20", -2.0)]
    assert leg(corpus, "m01", "m05") == [("m02", -1.0), ("m06", -1.0), ("m09", -2.0)]


@pytest.mark.parametrize("kind", ["hops", "cheapest"])
def test_mn_19_no_seeds_or_no_hops_is_an_error_that_names_the_field(
    corpus: Memory, kind: str
) -> None:
    lane = {"kind": kind, **({"max_nodes": 9} if kind == "cheapest" else {})}
    for none in ([], None, {"graph": []}):
        with pytest.raises(BadQuery) as empty:
            corpus.recall("", recipe=recipe(graph=lane), seeds=none)
        assert empty.value.field == "seeds"
    with pytest.raises(BadRecipe, match="max_hops") as still:
        corpus.recall("", recipe=recipe(graph={**lane, "max_hops": 0}), seeds=["m01"])
    assert str(still.value.field).endswith("max_hops")


def test_a_seed_that_is_not_there_is_named(corpus: Memory) -> None:
    with pytest.raises(BadQuery, match="'nope'"):
        leg(corpus, "m01", "nope")
    with pytest.raises(BadQuery, match="lane 'other'"):
        corpus.recall("", recipe=recipe(graph={"kind": "hops"}), seeds={"other": ["m01"]})
    with pytest.raises(BadQuery, match="no lane that takes any"):
        corpus.recall("memory", seeds=["m01"])
    corpus.remember("theirs", id="m30", agent="bob")
    with pytest.raises(BadQuery, match="'m30'"):
        leg(corpus.scoped(agent="default"), "m30")
    corpus.forget("m02")
    with pytest.raises(BadQuery, match="'m02'"):
        leg(corpus, "m02")


def test_mn_20_each_leg_is_a_list_of_its_own(corpus: Memory) -> None:
    corpus.link("m05", "m02", "other")
    made = recipe(
        one={"kind": "hops", "kinds": ["linked"]}, two={"kind": "hops", "kinds": ["other"]}
    )
    result = corpus.recall("", recipe=made, seeds={"one": ["m01"], "two": ["m05"]})
    shown = {hit.id: {label: lane.score for label, lane in hit.lanes.items()} for hit in result}
    assert shown == {"m02": {"one": -1.0, "two": -1.0}, "m09": {"one": -2.0}}
    assert result[0].id == "m02"
    assert {part.label for part in result[0].explanation.parts} == {"one", "two"}
    assert result.receipt.body["query"]["seeds"] == {"one": ["m01"], "two": ["m05"]}  # type: ignore[index]  # data


def cheap(memory: Memory, *seeds: str, **lane: Any) -> list[tuple[str, float]]:
    return leg(memory, *seeds, **{"kind": "cheapest", "max_nodes": 100, "max_hops": 3, **lane})


def test_mn_21_cheapest_first_with_parent_and_depth(corpus: Memory) -> None:
    assert cheap(corpus, "m01") == [("m02", -0.9), ("m09", -1.5), ("m20", -2.0), ("m10", -2.3)]
    made = recipe(graph={"kind": "cheapest", "max_nodes": 100, "max_hops": 3})
    result = corpus.recall("", recipe=made, seeds=["m01"])
    facts = {hit.id: hit.lanes["graph"].why.facts for hit in result}
    assert {name: (f["parent"], f["distance"]) for name, f in facts.items()} == {
        "m02": ("m01", 1), "m09": ("m02", 2), "m20": ("m09", 3), "m10": ("m09", 3),
    }  # fmt: skip


def test_mn_21_max_nodes_counts_the_seeds(corpus: Memory) -> None:
    names = [[name for name, _ in cheap(corpus, "m01", max_nodes=n)] for n in (1, 2, 3, 4)]
    assert names == [[], ["m02"], ["m02", "m09"], ["m02", "m09", "m20"]]


def test_mn_21_max_cost_is_included(corpus: Memory) -> None:
    def names(cost: float) -> list[str]:
        return [name for name, _ in cheap(corpus, "m01", direction="both", max_cost=cost)]

    assert names(0.5) == ["m17"]
    assert names(0.9) == names(0.95) == names(1.2) == ["m17", "m02"]
    assert names(1.5) == names(1.6) == ["m17", "m02", "m09"]
    assert cheap(corpus, "m01", max_cost=2.3)[-1] == ("m10", -2.3)


def test_mn_21_without_weights_a_hop_costs_one(corpus: Memory) -> None:
    assert cheap(corpus, "m09", "m20", cost="hop", direction="both", max_hops=2) == [
        ("m02", -1.0), ("m10", -1.0), ("m01", -2.0),
    ]  # fmt: skip


def test_mn_21_a_budget_needs_max_nodes(corpus: Memory) -> None:
    with pytest.raises(BadRecipe, match="max_nodes"):
        leg(corpus, "m01", kind="cheapest", max_cost=1.0)
    with pytest.raises(BadRecipe, match="max_cost"):
        leg(corpus, "m01", max_cost=1.0)
