"""mnestic's typed call: the same answers as the same call by overrides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.claims.corpus import VECTOR, ids
from tests.claims.mnestic import FUSED, TEXT

from memoriter.core.errors import BadQuery, BadRecipe, InputError
from memoriter.memory.facade import Memory
from memoriter.systems.mnestic import GraphLeg, HybridList, HybridSearch, MmrParams
from memoriter.why.result import Result

RECENT = [("m05", 30.0), ("m02", 20.0), ("m01", 10.0)]
CASES: dict[str, tuple[HybridSearch, dict[str, Any]]] = {
    "both": (HybridSearch(query_text=TEXT, query_vector=VECTOR), {"vector": VECTOR}),
    "words": (
        HybridSearch(query_text=TEXT, fts_k=3, k1=2.0, b=0.0, rrf_k=1.5, limit=2),
        {"overrides": {"vector_index": False, "fts_k": 3, "k1": 2.0, "b": 0.0, "rrf_k": 1.5,
                       "limit": 2}},
    ),
    "counts": (
        HybridSearch(query_text=TEXT, score_kind="tf"),
        {"overrides": {"vector_index": False, "score_kind": "tf"}},
    ),
    "vector": (
        HybridSearch(query_vector=VECTOR, vector_k=3, ef=80),
        {"query": "", "vector": VECTOR,
         "overrides": {"fts_index": False, "vector_k": 3, "ef": 80}},
    ),
    "leg": (
        HybridSearch(
            query_text=TEXT, query_vector=VECTOR,
            graph_legs=[GraphLeg(seeds=["m01"], max_hops=3, undirected=True)],
        ),
        {"vector": VECTOR, "seeds": {"graph": ["m01"]},
         "overrides": {"lanes.graph": {"kind": "hops", "max_hops": 3, "direction": "both"}}},
    ),
    "kinds": (
        HybridSearch(graph_legs=[GraphLeg(seeds=["m01"], edge_relation="cites", label="own")],
                     query_text=TEXT),
        {"seeds": {"own": ["m01"]},
         "overrides": {"vector_index": False, "lanes.own": {"kind": "hops", "kinds": ["cites"]}}},
    ),
    "budget": (
        HybridSearch(graph_legs=[
            GraphLeg(seeds=["m01"], max_hops=3, max_nodes=4, max_cost=2.0, weight_col="w"),
        ]),
        {"query": "", "seeds": {"graph": ["m01"]},
         "overrides": {"vector_index": False, "fts_index": False, "lanes.graph": {
             "kind": "cheapest", "max_hops": 3, "max_nodes": 4, "max_cost": 2.0}}},
    ),
    "seeded by lists": (
        HybridSearch(query_text=TEXT, fts_k=3, graph_legs=[GraphLeg(max_nodes=9)]),
        {"overrides": {"vector_index": False, "fts_k": 3, "lanes.graph": {
            "kind": "cheapest", "max_nodes": 9, "cost": "hop", "seeds": ["text"],
            "seed_count": 10}}},
    ),
    "lists": (
        HybridSearch(query_text=TEXT, extra_lists=[
            HybridList(label="recent", scores=RECENT), HybridList(label="age", scores="cycle"),
        ]),
        {"lists": {"recent": RECENT, "age": "cycle"}, "overrides": {"vector_index": False}},
    ),
    "mmr": (
        HybridSearch(query_text=TEXT, query_vector=VECTOR, mmr=MmrParams(trade=0.3, k=4)),
        {"vector": VECTOR, "overrides": {"mmr": True, "mmr.lambda": 0.3, "mmr.k": 4}},
    ),
    "mmr by default": (
        HybridSearch(query_text=TEXT, query_vector=VECTOR, mmr=MmrParams()),
        {"vector": VECTOR, "overrides": {"mmr": True, "mmr.lambda": 0.5, "mmr.k": 10}},
    ),
}  # fmt: skip


def whole(result: Result) -> tuple[list[Any], str]:
    return list(result.rows(detailed=True)), result.plan.recipe.fingerprint


@pytest.mark.parametrize("name", CASES)
def test_a_typed_search_answers_as_the_call_by_overrides_does(vectors: Memory, name: str) -> None:
    search, ask = CASES[name]
    query = ask.get("query", TEXT)
    plain = vectors.recall(
        query, recipe="mnestic", **{k: v for k, v in ask.items() if k != "query"}
    )
    typed = vectors.recall(**search.call())
    assert whole(typed) == whole(plain)
    assert len(typed) > 0
    assert search.run(vectors) == [tuple(row) for row in plain.rows()]


def test_rows_come_detailed_if_asked_for(vectors: Memory) -> None:
    search = HybridSearch(query_text=TEXT, query_vector=VECTOR, detailed=True)
    rows = search.run(vectors)
    assert rows == [tuple(row) for row in vectors.recall(**search.call()).rows(detailed=True)]
    assert [row[:1] + row[2:4] for row in rows[:2]] == [("m02", "semantic", 4), ("m02", "text", 1)]


def test_the_example_of_mnestics_text_is_written_as_there(vectors: Memory) -> None:
    search = HybridSearch(
        query_vector=VECTOR, vector_k=24, ef=80, query_text=TEXT, fts_k=24,
        graph_legs=[GraphLeg(edge_relation="related_to", seeds=["m01"], max_hops=2)],
        rrf_k=60.0, mmr=MmrParams(trade=0.5, k=12, embedding_col="embedding"),
    )  # fmt: skip
    result = vectors.recall(**search.call())
    assert set(result.used) == {"semantic", "text", "graph"}
    assert len(result) == 12
    assert ids(result)[0] == "m02"


def test_the_plan_is_the_script_and_its_recipe_gives_the_same_answer(vectors: Memory) -> None:
    search = HybridSearch(query_text=TEXT, query_vector=VECTOR)
    plan = vectors.plan(**search.call())
    assert plan.running == ("semantic", "text")
    again = vectors.recall(TEXT, recipe=plan.recipe, vector=VECTOR)
    assert again.rows() == vectors.recall(**search.call()).rows()
    assert [id for id, _ in again.rows()] == [id for id, _ in FUSED]


def test_lambda_is_clamped_as_in_the_primitive(vectors: Memory) -> None:
    def run(trade: float) -> list[tuple[Any, ...]]:
        mmr = MmrParams(trade=trade, k=5)
        return HybridSearch(query_text=TEXT, query_vector=VECTOR, mmr=mmr).run(vectors)

    assert run(7.0) == run(1.0) != run(0.0) == run(-1.0)


def test_any_name_of_the_vector_column_compares_the_one_vector(vectors: Memory) -> None:
    def run(mmr: MmrParams) -> list[tuple[Any, ...]]:
        return HybridSearch(query_text=TEXT, query_vector=VECTOR, mmr=mmr).run(vectors)

    expected = run(MmrParams(trade=0.2, k=5))
    assert run(MmrParams(trade=0.2, k=5, embedding_col="embedding")) == expected
    assert run(MmrParams(trade=1.0, k=5, embedding_col="embedding")) != expected


@pytest.mark.parametrize("label", ["semantic", "text"])
def test_the_recipe_alone_refuses_a_leg_that_would_replace_a_list(label: str) -> None:
    with pytest.raises(BadQuery, match=f"the label '{label}' is given twice"):
        HybridSearch(query_text=TEXT, graph_legs=[GraphLeg(label=label)]).recipe()


def fields_not_taken() -> list[tuple[str, str]]:
    """(class, field) of the table of docs/recipes/mnestic.md."""
    page = (Path(__file__).parents[2] / "docs/recipes/mnestic.md").read_text("utf-8")
    table = page.split("| of | field | here |", 1)[1].split("\n\n", 1)[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[2:] if line]
    return [(of.strip(), name) for of, names in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_page_lists_fields_of_mnestic_that_the_typed_call_does_not_take() -> None:
    kinds: dict[str, Any] = {each.__name__: each for each in (HybridSearch, GraphLeg, HybridList)}
    listed = fields_not_taken()
    assert {("HybridSearch", "relation"), ("GraphLeg", "from_col")} <= set(listed)
    for of, name in listed:
        with pytest.raises(TypeError, match=name):
            kinds[of](**{name: "x"})


@pytest.mark.parametrize(
    ("search", "field"),
    [
        (HybridSearch(query_text=TEXT, graph_legs=[GraphLeg(max_cost=1.0)]), "max_cost"),
        (HybridSearch(query_text=TEXT, graph_legs=[GraphLeg(weight_col="w")]), "weight_col"),
        (HybridSearch(query_text=TEXT, graph_legs=[GraphLeg(), GraphLeg()]), "label"),
        (HybridSearch(query_text=TEXT, graph_legs=[GraphLeg(label="text")]), "label"),
        (HybridSearch(query_text=TEXT, graph_legs=[GraphLeg()]), None),
        (HybridSearch(query_text=TEXT, mmr=MmrParams(k=-1)), None),
        (HybridSearch(query_text=TEXT, rrf_k=-1.0), None),
        (HybridSearch(), None),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    vectors: Memory, search: HybridSearch, field: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        search.run(vectors)
    assert isinstance(caught.value, BadQuery | BadRecipe)
    assert field is None or caught.value.field == field
