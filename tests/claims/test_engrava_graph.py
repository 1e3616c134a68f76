"""What engrava claims of its neighbours, by number: EN-23, EN-25 to EN-33."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import VECTOR, close, ids, leaves, open_corpus, open_empty
from tests.inside import view_of
from tests.sound import sound

from memoriter.index.graph import AdjacentNodes, Graph
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START
from memoriter.why.result import Result


def graph_of(memory: Memory) -> Graph:
    return view_of(memory).graph


def near(memory: Memory, *ids: str, most: int = 5) -> AdjacentNodes:
    graph = graph_of(memory)
    nodes = np.array([memory.get(one).position for one in ids], np.int64)
    every = np.ones(graph.rows.size, np.bool_)
    return graph.neighbours(nodes, graph.edges.holding(START), every, most)


@pytest.mark.parametrize("recipe", ["memoriter", "lexical", "semantic", "engrava"])
def test_en_23_a_search_without_a_graph_lane_reads_no_edge(memory: Memory, recipe: str) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("cache", id="b", links=[{"target": "a", "kind": "related_to"}])
    memory.recall("ssh port", recipe=recipe)
    assert "graph" not in vars(view_of(memory))
    memory.recall("ssh port", recipe="linked")
    assert "graph" in vars(view_of(memory))


def test_en_26_edges_count_in_both_directions_and_of_all_kinds(memory: Memory) -> None:
    for name in "abc":
        memory.remember(name, id=name)
    memory.link("a", "b", "related_to", weight=0.5)
    memory.link("c", "a", "mine", weight=0.7)
    memory.link("a", "a", "mine", weight=9.0)
    neighbours_of_a = near(memory, "a")
    assert (neighbours_of_a.others.tolist(), neighbours_of_a.weights.tolist()) == (
        [2, 1],
        [0.7, 0.5],
    )


def test_en_29_neighbours_come_heaviest_first_then_oldest_and_only_five(memory: Memory) -> None:
    memory.remember("c", id="c")
    for n in range(6):
        memory.remember(f"n{n}", id=f"n{n}")
    for n, weight in enumerate((0.5, 0.9, 0.1, 0.9, 0.5, 0.7)):
        memory.link("c", f"n{n}", "related_to", weight=weight)
    assert near(memory, "c").others.tolist() == [2, 4, 6, 1, 5]
    assert near(memory, "c", most=9).others.tolist() == [2, 4, 6, 1, 5, 3]


@pytest.mark.parametrize(("count", "reads"), [(0, 0), (1, 1), (450, 1), (451, 2), (901, 3)])
def test_en_31_one_read_serves_450_candidates(memory: Memory, count: int, reads: int) -> None:
    memory.remember("a", id="a")
    memory.remember("b", id="b", links=[{"target": "a", "kind": "related_to"}])
    read = near(memory, *(["a"] * count))
    assert read.reads == reads
    assert read.owners.tolist() == [0] * count


def asked(memory: Memory, limit: int = 10, **overrides: Any) -> Result:
    options = {"recipe": "engrava", "vector": VECTOR, "overrides": overrides}
    return sound(memory.recall("pricing berlin", limit, **options))  # type: ignore[arg-type]


def test_en_23_graph_weight_0_skips_the_graph(vectors: Memory) -> None:
    steps = {step.name: step for step in asked(vectors).plan.steps}
    assert steps["graph"].skipped == "its weight is 0"
    assert "edges_read" not in steps["graph"].shows
    lifted = {step.name: step for step in asked(vectors, graph_weight=0.3).plan.steps}
    assert lifted["graph"].shows["edges_read"] != 0


def test_en_25_a_boost_is_what_neighbours_say_times_weight_and_decay(vectors: Memory) -> None:
    assert asked(vectors, 4, graph_weight=0.3).rows() == close(
        [("m02", 0.864079), ("m01", 0.635905), ("m17", 0.609355), ("m08", 0.480662)]
    )
    result = asked(vectors, 2, graph_weight=0.3, graph_edge_decay=1.0)
    assert result.rows() == close([("m02", 1.011816), ("m01", 0.785462)])


def boost(result: Result, id: str) -> float | None:
    (hit,) = [hit for hit in result if hit.id == id]
    scores_of_hit = [p.facts["score"] for p in leaves(hit.explanation) if p.label == "graph"]
    return float(str(scores_of_hit[0])) if scores_of_hit else None


def test_en_26_a_neighbour_that_is_no_candidate_counts_nothing(vectors: Memory) -> None:
    result = asked(vectors, 30, graph_weight=0.3, vector_weight=0.0)
    words = {hit.id for hit in result if "words" in hit.lanes}
    assert words == {"m01", "m02", "m09", "m10", "m17"}
    with open_corpus() as memory:
        only = memory.recall("lisbon", recipe="engrava", overrides={"graph_weight": 0.3})
        assert ids(only) == ["m04"]  # m03 is linked to it, and no candidate
        assert boost(only, "m04") is None


def test_en_27_only_keyword_and_vector_scores_travel() -> None:
    with open_corpus(vectors=True) as memory:
        before = boost(asked(memory, 30, graph_weight=0.3), "m02")
        memory.update("m01", priority="P4", cycle=99)
        memory.link("m01", "m13", weight=0.1)
        memory.link("m01", "m07", weight=0.8)
        assert boost(asked(memory, 30, graph_weight=0.3), "m02") == before
        memory.update("m09", text="pricing berlin")
        assert boost(asked(memory, 30, graph_weight=0.3), "m02") != before


def test_en_28_the_graph_adds_no_candidate(vectors: Memory) -> None:
    for text in ("pricing berlin", "coffee", "lisbon"):
        options: dict[str, Any] = {"recipe": "engrava"}
        without = vectors.recall(text, 30, **options)
        lifted = vectors.recall(text, 30, overrides={"graph_weight": 0.9}, **options)
        assert set(ids(lifted)) == set(ids(without))


def test_en_29_the_lightest_of_six_neighbours_has_no_effect() -> None:
    def total(count: int) -> float | None:
        with open_empty() as memory:
            memory.remember("pricing pricing", id="c")
            for n in range(6):
                memory.remember("pricing", id=f"n{n}")
            for n, weight in enumerate((0.9, 0.8, 0.7, 0.6, 0.5, 0.4)[:count]):
                memory.link("c", f"n{n}", weight=weight)
            overrides = {"graph_weight": 0.3, "fts_top_k": 50}
            return boost(memory.recall("pricing", recipe="engrava", overrides=overrides), "c")

    assert total(6) == total(5)
    with open_empty() as memory:
        for id in "ab":
            memory.remember("pricing", id=id)
        memory.link("a", "b", weight=0.5)
        overrides = {"graph_weight": 0.3}
        one = memory.recall("pricing", recipe="engrava", overrides=overrides)
        assert boost(one, "a") == boost(one, "b") == pytest.approx(0.5 * 0.5 * 0.5)
        two = memory.recall("pricing", recipe="engrava", overrides=overrides)
        assert one.receipt.to_bytes() == two.receipt.to_bytes()


def test_en_30_decay_and_weight_can_be_set_per_call(vectors: Memory) -> None:
    plain = asked(vectors, 30, graph_weight=0.3)
    (step,) = [step for step in plain.plan.steps if step.name == "graph"]
    assert (step.shows["decay"], step.shows["most"]) == (0.5, 5)
    low, high = asked(vectors, 30, graph_weight=0.1), asked(vectors, 30, graph_weight=0.3)
    assert boost(low, "m02") == boost(high, "m02")
    fine = asked(vectors, 30, graph_weight=0.3, graph_edge_decay=0.1)
    assert 5 * (boost(fine, "m02") or 0) == pytest.approx(boost(plain, "m02"))
    coarse = asked(vectors, 30, graph_weight=0.3, graph_edge_decay=2.5)
    assert boost(coarse, "m02") == pytest.approx(5 * (boost(plain, "m02") or 0))


@pytest.mark.parametrize(
    ("text", "ask", "signals"),
    [
        ("pricing berlin", {}, ("fts5", "priority")),
        ("zzqx", {}, ("fts5",)),
        ("pricing", {"vector": VECTOR}, ("fts5", "vector", "priority")),
        ("zzqx", {"vector": VECTOR}, ("fts5", "vector", "priority")),
        ("", {"vector": VECTOR, "cycle": 40}, ("vector", "recency", "priority")),
        (
            "pricing",
            {"vector": VECTOR, "overrides": {"graph_weight": 0.3}},
            ("fts5", "vector", "priority", "graph"),
        ),
        ("zzqx", {"overrides": {"graph_weight": 0.3}}, ("fts5",)),
        ("lisbon", {"overrides": {"graph_weight": 0.3}}, ("fts5", "priority")),
        ("", {"overrides": {"priority_weight": 0.0}}, ()),
        ("", {"cycle": 40}, ("recency", "priority")),
        ("pricing", {"overrides": {"graph_expansion_enabled": True}}, ("fts5", "priority")),
        (
            "pricing",
            {"now": START, "overrides": {"boosts.recency_now.enabled": True}},
            ("fts5", "recency", "priority"),
        ),
    ],
)
def test_en_32_the_result_names_the_signals_that_took_part(
    vectors: Memory, corpus: Memory, text: str, ask: dict[str, Any], signals: tuple[str, ...]
) -> None:
    memory = vectors if "vector" in ask else corpus
    assert memory.recall(text, recipe="engrava", **ask).signals == signals


def test_en_32_an_answer_without_hits_names_no_recency(corpus: Memory) -> None:
    none, some = (corpus.recall(text, recipe="engrava", cycle=40) for text in ("zzqx", "pricing"))
    assert (none.rows(), none.signals) == ([], ("fts5",))
    assert "recency" in some.signals


def test_en_33_the_weight_of_the_graph_is_part_of_the_sum(vectors: Memory) -> None:
    plain, lifted = asked(vectors, 30), asked(vectors, 30, graph_weight=0.3)
    unlinked = {"m08", "m18", "m13", "m07", "m19", "m16"}  # no neighbour lifts them
    for id in unlinked:
        assert dict(lifted.rows())[id] == pytest.approx(dict(plain.rows())[id] * 0.9 / 1.2)
