"""What mnestic promises of its call: MN-01 to MN-14."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import CORPUS, VECTOR, close, ids, open_empty
from tests.claims.mnestic import FUSED, GRAPH, TEXT, diverse, hybrid, legs, words

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe, MemoriterError
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of, value_at
from memoriter.testing.fakes import CountedEntropy, HandClock

LEG = {"lanes.graph": GRAPH}
SEEDS = {"graph": ["m01"]}


def refused(memory: Memory, text: str = TEXT, **ask: Any) -> MemoriterError:
    with pytest.raises(MemoriterError) as raised:
        memory.recall(text, recipe="mnestic", **ask)
    assert raised.value.hint
    return raised.value


def test_mn_01_one_call_fuses_vectors_words_and_graph_and_thins_copies(vectors: Memory) -> None:
    overrides = {**LEG, "mmr": True, "mmr.k": 4}
    result = hybrid(vectors, overrides=overrides, seeds=SEEDS)
    assert result.used == ("semantic", "text", "graph")
    assert (ids(result)[0], len(result)) == ("m02", 4)
    assert set(result[0].lanes) == {"semantic", "text", "graph"}
    assert [step.name for step in result.plan.steps if step.skipped is None] == [
        "select", "semantic", "text", "graph", "fuse", "mmr", "limit",
    ]  # fmt: skip


@pytest.mark.parametrize("semantic", [True, False])
@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("graph", [True, False])
@pytest.mark.parametrize("extra", [True, False])
def test_mn_02_any_legs_but_none_will_do(
    vectors: Memory, *, semantic: bool, text: bool, graph: bool, extra: bool
) -> None:
    overrides = {"vector_index": semantic, "fts_index": text, **(LEG if graph else {})}
    ask: dict[str, Any] = {"recipe": "mnestic", "overrides": overrides}
    ask |= {"vector": VECTOR} if semantic else {}
    ask |= {"seeds": SEEDS} if graph else {}
    ask |= {"lists": {"mine": [("m05", 1)]}} if extra else {}
    on = {"semantic": semantic, "text": text, "graph": graph, "mine": extra}
    if any(on.values()):
        result = vectors.recall(TEXT if text else "", **ask)
        assert set(result.used) == {label for label, is_on in on.items() if is_on}
        assert len(result) > 0
    else:
        with pytest.raises(BadQuery, match="at least one"):
            vectors.recall("", **ask)


@pytest.mark.parametrize(
    ("text", "ask", "field"),
    [
        (TEXT, {}, "vector"),
        ("", {"vector": VECTOR}, "query"),
        (TEXT, {"vector": VECTOR, "overrides": {"vector_index": False}}, "vector"),
        (TEXT, {"vector": VECTOR, "overrides": {"fts_index": False}}, "query"),
        (TEXT, {"vector": VECTOR, "overrides": LEG}, "seeds"),
        (TEXT, {"vector": VECTOR, "seeds": ["m01"]}, "seeds"),
    ],
)
def test_mn_02_no_signal_is_dropped_in_silence(
    vectors: Memory, text: str, ask: dict[str, Any], field: str
) -> None:
    assert refused(vectors, text, **ask).field == field


DEFAULTS = {
    "vector_k": 10, "ef": 50, "fts_k": 10, "rrf_k": 60.0, "limit": 10,
    "mmr": False, "mmr.lambda": 0.5, "mmr.k": 10,
}  # fmt: skip
UNUSED = ("relation", "id_col", "vector_f64", "graph_legs.from_col", "graph_legs.to_col")


def test_mn_03_the_recipe_shows_every_default_under_one_name() -> None:
    recipe = recipe_of("mnestic")
    data = recipe.to_data()
    assert {name: value_at(data, str(recipe.names[name])) for name in DEFAULTS} == DEFAULTS
    assert list(recipe.lanes) == ["semantic", "text"]  # no graph legs, no extra lists
    for name in UNUSED:
        assert str(recipe.names[name]).startswith("nothing: ")
    for name in ("query_vector", "query_text", "graph_legs", "extra_lists", "graph_legs.seeds"):
        assert str(recipe.names[name]).startswith("ask.")
    assert recipe.names["detailed"] == "result.rows"


@pytest.mark.parametrize("name", ["vector_k", "ef", "fts_k"])
@pytest.mark.parametrize("value", [0, -1])
def test_mn_04_numbers_must_be_positive(vectors: Memory, name: str, value: int) -> None:
    error = refused(vectors, vector=VECTOR, overrides={name: value})
    assert isinstance(error, BadRecipe)
    assert error.field == name
    assert name in error.message


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf"), "sixty"])
def test_mn_04_rrf_k_is_finite_and_not_below_zero(vectors: Memory, value: object) -> None:
    error = refused(vectors, vector=VECTOR, overrides={"rrf_k": value})
    assert "rrf_k" in error.message
    assert ids(hybrid(vectors, overrides={"rrf_k": 0}))[0] == "m02"


def test_mn_04_a_limit_of_0_is_an_empty_answer(vectors: Memory) -> None:
    assert hybrid(vectors, limit=0).rows() == hybrid(vectors, overrides={"limit": 0}).rows() == []
    assert hybrid(vectors, limit=0).total == 11
    with pytest.raises(BadQuery, match="limit"):
        hybrid(vectors, limit=-1)


def test_mn_05_search_is_exact_and_ef_changes_nothing(vectors: Memory) -> None:
    plain = hybrid(vectors)
    for ef in (1, 50, 100_000):
        assert hybrid(vectors, overrides={"ef": ef}).rows(detailed=True) == plain.rows(
            detailed=True
        )
    (step,) = [step for step in plain.plan.steps if step.name == "semantic"]
    assert step.shows["scan"] == "exact"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mn_06_vectors_come_in_32_or_64_bits(vectors: Memory, dtype: type) -> None:
    given: Any = np.array(VECTOR, dtype)
    result = vectors.recall(TEXT, recipe="mnestic", vector=given)
    assert result.rows() == close(FUSED, 1e-7)


@pytest.mark.parametrize(
    "vector", [[1.0, 2.0], [*VECTOR, 0.0], [0.0, float("nan"), 0.0, 0.0], [float("inf")] * 4]
)
def test_mn_06_a_vector_that_does_not_fit_is_named(vectors: Memory, vector: list[float]) -> None:
    error = refused(vectors, vector=vector)
    assert isinstance(error, BadQuery)
    assert error.field == "vector"


def test_mn_07_corpus_a(vectors: Memory) -> None:
    assert hybrid(vectors).rows() == close(FUSED, 1e-7)
    first = hybrid(vectors, limit=4, overrides={"rrf_k": 0})
    assert first.rows() == close([("m02", 1.25), ("m18", 1.0), ("m17", 0.7), ("m13", 0.5)])


def test_mn_08_with_mmr_its_own_k_decides(vectors: Memory) -> None:
    assert len(diverse(vectors, k=2, overrides={"limit": 1})) == 2
    assert len(diverse(vectors)) == 10
    assert len(diverse(vectors, k=0)) == 11
    assert ids(hybrid(vectors, overrides={"limit": 1})) == ["m02"]


def test_mn_08_a_limit_of_ours_cuts_the_selection_as_a_prefix(vectors: Memory) -> None:
    whole = diverse(vectors, k=5)
    assert diverse(vectors, k=5, limit=3) == whole[:3]
    assert diverse(vectors, k=5, limit=50) == whole


def test_mn_09_without_mmr_the_fused_order_is_the_answer(vectors: Memory) -> None:
    result = hybrid(vectors)
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert all(hit.moves == {} for hit in result)


HOSTILE = ('"] :rm memory {', "'; drop table record; --", "?[a] := *memory[a]", "}} %{ $qv")


@pytest.mark.parametrize("text", HOSTILE)
def test_mn_10_a_text_is_a_value_and_alters_nothing(vectors: Memory, text: str) -> None:
    before = vectors.status()
    result = hybrid(vectors, text)
    assert vectors.status() == before
    assert len(result) >= 10  # the vector answers, whatever the words find
    (step,) = [step for step in result.plan.steps if step.name == "text"]
    assert step.attempts[0].query == text


def test_mn_10_a_seed_is_a_value_too() -> None:
    with open_empty() as memory:
        for id in ('"] :rm memory {', "b"):
            memory.remember("x", id=id)
        memory.link('"] :rm memory {', "b")
        result = legs(memory, {"graph": ['"] :rm memory {']}, graph=GRAPH)
        assert ids(result) == ["b"]
        (step,) = [step for step in result.plan.steps if step.name == "graph"]
        assert step.shows["given"] == ['"] :rm memory {']
        assert ids(legs(memory, {"graph": ["b"]}, graph=GRAPH)) == []
        assert len(memory.browse().records) == 2


@pytest.mark.parametrize("label", ["mem ory", "x;y", "Mine", "", "1st"])
def test_mn_11_labels_are_bare_identifiers(vectors: Memory, label: str) -> None:
    error = refused(vectors, vector=VECTOR, lists={label: [("m01", 1.0)]})
    assert error.field == "lists"
    assert refused(vectors, vector=VECTOR, overrides={f"lanes.{label}": GRAPH}).field is not None
    named: Any = {**recipe_of("mnestic").to_data()}
    named["lanes"] = {**named["lanes"], label: GRAPH}
    with pytest.raises(BadRecipe) as raised:
        vectors.recall(TEXT, recipe=named, vector=VECTOR)
    assert str(raised.value.field).startswith("lanes")


@pytest.mark.parametrize("kind", ["mem ory", "x;y"])
def test_mn_11_kinds_and_attributes_are_bare_too(vectors: Memory, kind: str) -> None:
    error = refused(vectors, vector=VECTOR, lists={"mine": kind})
    assert "mine" in str(error.field)
    leg = {**GRAPH, "kinds": [kind]}
    error = refused(vectors, vector=VECTOR, overrides={"lanes.graph": leg}, seeds=SEEDS)
    assert str(error.field).startswith("lanes.graph.kinds")


@pytest.mark.parametrize("label", ["semantic", "text"])
def test_mn_11_two_labels_are_taken(vectors: Memory, label: str) -> None:
    error = refused(vectors, vector=VECTOR, lists={label: [("m01", 1.0)]})
    assert error.field == "lists"
    assert repr(label) in error.message


def test_mn_11_unknown_keys_are_refused_with_the_known_ones(vectors: Memory) -> None:
    leg = {**GRAPH, "max_hop": 3}
    error = refused(vectors, vector=VECTOR, overrides={"lanes.graph": leg}, seeds=SEEDS)
    assert error.field == "lanes.graph.max_hop"
    for known in ("kinds", "direction", "max_hops", "seeds", "pool"):
        assert known in error.hint
    assert "fts_k" in refused(vectors, vector=VECTOR, overrides={"fts_kk": 3}).hint


def test_mn_12_a_search_reads_only(tmp_path: Path) -> None:
    place = tmp_path / "corpus.db"
    options: dict[str, Any] = {
        "clock": HandClock(), "entropy": CountedEntropy(), "embedder": "given:4",
        "maintenance": "manual",
    }  # fmt: skip
    with memoriter.open(place, **options) as memory:
        for note in CORPUS:
            memory.remember(note.text, id=note.id, vector=note.vector)
        expected = hybrid(memory).rows(detailed=True)
    with memoriter.open(place, read_only=True, **options) as memory:
        before = memory.status()
        assert hybrid(memory).rows(detailed=True) == expected
        assert memory.status() == before
        assert memory.verify_store().problems == ()


def test_mn_13_the_program_can_be_seen_and_run_by_hand(vectors: Memory) -> None:
    ask: dict[str, Any] = {"vector": VECTOR, "seeds": SEEDS}
    overrides = {**LEG, "rrf_k": 7.0}
    plan = vectors.plan(TEXT, recipe="mnestic", overrides=overrides, **ask)
    shown = {step.name: dict(step.shows) for step in plan.steps}
    assert shown["text"]["query"] == TEXT
    assert (shown["text"]["pool"], shown["semantic"]["pool"]) == (10, 10)
    assert (shown["graph"]["given"], shown["graph"]["max_hops"]) == (["m01"], 2)
    assert (shown["fuse"]["k"], shown["limit"]["limit"]) == (7.0, 10)
    asked = hybrid(vectors, overrides=overrides, seeds=SEEDS)
    again = vectors.recall(TEXT, recipe=plan.recipe, **ask)
    assert again.to_dict()["hits"] == asked.to_dict()["hits"]
    tuned: Any = plan.recipe.to_data()
    tuned["lanes"]["graph"]["max_hops"] = 1
    assert "graph" not in dict(vectors.recall(TEXT, recipe=tuned, **ask)[1].lanes)


def test_mn_14_no_graph_legs_are_as_good_as_a_recipe_without_any(vectors: Memory) -> None:
    plain = hybrid(vectors)
    had: Any = recipe_of("mnestic").to_data()
    had["lanes"]["graph"] = GRAPH
    without = vectors.recall(TEXT, recipe=had, vector=VECTOR, overrides={"lanes.graph": None})
    assert without.plan.to_dict() == plain.plan.to_dict()
    assert without.to_dict()["hits"] == plain.to_dict()["hits"]
    assert words(vectors, TEXT).plan.recipe.lanes.keys() == plain.plan.recipe.lanes.keys()
