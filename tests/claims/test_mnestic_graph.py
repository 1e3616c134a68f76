"""What mnestic claims of its graph legs and extra lists, by number, on corpus A: MN-15 to MN-23."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.claims.corpus import CORPUS, VECTOR, close, open_corpus
from tests.claims.mnestic import GRAPH, TEXT, hybrid, legs

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.memory.facade import Memory


@pytest.fixture
def own() -> Iterator[Memory]:
    """Corpus A with its vectors, to write to."""
    with open_corpus(vectors=True) as memory:
        yield memory


def leg(memory: Memory, *seeds: str, **lane: Any) -> list[tuple[str, float]]:
    """(id, leg score) by rank."""
    result = legs(memory, list(seeds), graph={**GRAPH, **lane})
    ranked = sorted(result, key=lambda hit: hit.lanes["graph"].rank)
    assert [hit.lanes["graph"].rank for hit in ranked] == list(range(1, len(ranked) + 1))
    return [(hit.id, round(hit.lanes["graph"].score, 6)) for hit in ranked]


def test_mn_15_the_defaults_of_a_leg(own: Memory) -> None:
    own.link("m01", "m03", "other")
    assert leg(own, "m01", kinds=["related_to"]) == [("m02", -1.0), ("m09", -2.0)]
    assert leg(own, "m01", kinds=["other"]) == [("m03", -1.0)]
    assert leg(own, "m01", kinds=[]) == []
    result = legs(own, ["m01"], graph=GRAPH)
    (step,) = [step for step in result.plan.steps if step.name == "graph"]
    assert (step.shows["max_hops"], step.shows["direction"]) == (2, "out")


def test_mn_16_the_score_is_the_least_number_of_hops(corpus: Memory) -> None:
    assert leg(corpus, "m01") == [("m02", -1.0), ("m09", -2.0)]


def test_mn_16_a_leg_is_fused_with_the_others(vectors: Memory) -> None:
    result = hybrid(vectors, limit=4, overrides={"lanes.graph": GRAPH}, seeds=["m01"])
    assert result.rows() == close(
        [("m02", 0.0484119), ("m09", 0.0460397), ("m17", 0.0315136), ("m01", 0.0305361)], 1e-7
    )


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
            legs(corpus, none, graph=lane)
        assert empty.value.field == "seeds"
    with pytest.raises(BadRecipe, match="max_hops") as still:
        legs(corpus, ["m01"], graph={**lane, "max_hops": 0})
    assert str(still.value.field).endswith("max_hops")


def test_a_seed_that_is_not_there_is_named(own: Memory) -> None:
    with pytest.raises(BadQuery, match="'nope'"):
        leg(own, "m01", "nope")
    with pytest.raises(BadQuery, match="lane 'other'"):
        legs(own, {"other": ["m01"]}, graph=GRAPH)
    with pytest.raises(BadQuery, match="no lane of the recipe takes seeds"):
        own.recall("memory", seeds=["m01"])
    own.remember("theirs", id="m30", agent="bob", vector=VECTOR)
    with pytest.raises(BadQuery, match="'m30'"):
        leg(own.scoped(agent="default"), "m30")
    own.forget("m02")
    with pytest.raises(BadQuery, match="'m02'"):
        leg(own, "m02")


def test_mn_20_each_leg_is_a_list_of_its_own(own: Memory) -> None:
    own.link("m05", "m02", "other")
    seeds = {"one": ["m01"], "two": ["m05"]}
    lanes = {"one": {**GRAPH, "kinds": ["related_to"]}, "two": {**GRAPH, "kinds": ["other"]}}
    result = legs(own, seeds, **lanes)
    shown = {hit.id: {label: lane.score for label, lane in hit.lanes.items()} for hit in result}
    assert shown == {"m02": {"one": -1.0, "two": -1.0}, "m09": {"one": -2.0}}
    assert result.rows() == close([("m02", 2 / 61), ("m09", 1 / 62)], 1e-9)
    assert {part.label for part in result[0].explanation.parts} == {"one", "two"}
    assert result.receipt.body["query"]["seeds"] == seeds  # type: ignore[index]  # data


def cheap(memory: Memory, *seeds: str, **lane: Any) -> list[tuple[str, float]]:
    return leg(memory, *seeds, **{"kind": "cheapest", "max_nodes": 100, "max_hops": 3, **lane})


def test_mn_21_cheapest_first_with_parent_and_depth(corpus: Memory) -> None:
    assert cheap(corpus, "m01") == [("m02", -0.9), ("m09", -1.5), ("m20", -2.0), ("m10", -2.3)]
    budget = {"kind": "cheapest", "max_nodes": 100, "max_hops": 3}
    rows = legs(corpus, ["m01"], graph=budget).rows(detailed=True)
    assert {row.id: (row.parent, row.depth) for row in rows} == {
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


def test_mn_21_of_equal_costs_max_nodes_takes_the_first_by_id_however_many_hops(
    own: Memory,
) -> None:
    own.remember_many(
        [{"text": "a note", "id": f"t{n}", "vector": [1, 0, 0, 0]} for n in (2, 1, 0)]
    )
    own.remember_many(
        [{"text": "a note", "id": f"n{n}", "vector": [1, 0, 0, 0]} for n in (2, 1, 0)]
    )
    for n in (2, 1, 0):
        own.link("n0", f"t{n}", weight=0.5)
    own.link("n0", "n2", weight=0.25)
    own.link("n2", "n1", weight=0.25)
    names = [[name for name, _ in cheap(own, "n0", max_nodes=n, max_hops=2)] for n in range(1, 6)]
    assert names == [[], ["n2"], ["n2", "n1"], ["n2", "n1", "t0"], ["n2", "n1", "t0", "t1"]]


def test_mn_21_legs_can_seed_a_leg_with_all_their_hits() -> None:
    notes: list[Any] = [
        {"id": f"n{n:02}", "text": "hub", "vector": [1.0, n / 100]} for n in range(30)
    ]
    ends: list[Any] = [
        {"id": f"t{n:02}", "text": "end", "vector": [-1.0, n / 100]} for n in range(30)
    ]
    with memoriter.open(":memory:", embedder="given:2") as memory:
        memory.remember_many(notes + ends)
        for n in range(30):
            memory.link(f"n{n:02}", f"t{n:02}")
        counts = {}
        for count in (20, 1000):
            lane = {"kind": "cheapest", "max_nodes": 1000, "seeds": ["semantic"]}
            overrides = {"lanes.graph": {**lane, "seed_count": count}, "fts_index": False}
            overrides |= {"vector_k": 25, "limit": 1000}
            result = memory.recall("", recipe="mnestic", vector=[1.0, 0.0], overrides=overrides)
            counts[count] = sum("graph" in hit.lanes for hit in result)
        assert counts == {20: 20, 1000: 25}  # the program answers 25


def test_mn_21_a_budget_needs_max_nodes(corpus: Memory) -> None:
    with pytest.raises(BadRecipe, match="max_nodes"):
        leg(corpus, "m01", kind="cheapest", max_cost=1.0)
    with pytest.raises(BadRecipe, match="max_cost"):
        leg(corpus, "m01", max_cost=1.0)


RECENCY = [("m02", 0.0465112), ("m17", 0.0462195), ("m09", 0.0450622), ("m01", 0.0438695)]


@pytest.mark.parametrize("extra", ["cycle", [(note.id, note.cycle) for note in CORPUS]])
def test_mn_22_an_extra_list_joins_as_an_equal(vectors: Memory, extra: Any) -> None:
    result = hybrid(vectors, limit=5, lists={"recency": extra})
    assert result.rows() == close([*RECENCY, ("m18", 0.0313188)], 1e-7)
    first = result.rows(detailed=True)[0]
    assert first[2:5] == ("recency", 9, 20)
    assert type(first.leg_score) is int


def test_mn_22_floats_stay_floats(vectors: Memory) -> None:
    rows = hybrid(vectors, lists={"mine": [("m05", 2.0), ("m06", 1)]}).rows(detailed=True)
    assert {type(row.leg_score) for row in rows if row.list_id == "mine"} == {float}


def test_mn_23_an_id_that_is_not_there_is_refused(own: Memory) -> None:
    own.remember("theirs", id="m30", agent="bob", vector=VECTOR)
    scoped = own.scoped(agent="default")
    for missing in ("nope", "m30"):
        with pytest.raises(BadQuery, match=repr(missing)) as raised:
            hybrid(scoped, lists={"mine": [("m01", 2.0), (missing, 1.0)]})
        assert raised.value.field == "lists.mine"


def test_mn_23_what_the_filter_leaves_out_is_reported_and_never_ranked(vectors: Memory) -> None:
    ask: dict[str, Any] = {"where": {"priority": "P1"}, "lists": {"mine": [("m02", 9), ("m01", 1)]}}
    result = hybrid(vectors, **ask)
    assert "m02" not in [hit.id for hit in result]
    (step,) = [step for step in result.plan.steps if step.name == "mine"]
    assert (step.rows, step.shows["outside the filter"]) == (1, 1)


def test_mn_23_nothing_is_spliced(vectors: Memory) -> None:
    for body in ("*memory[id, score]", "cycle, :rm memory", "nothing"):
        with pytest.raises(BadRecipe, match="by"):
            hybrid(vectors, TEXT, lists={"mine": body})
