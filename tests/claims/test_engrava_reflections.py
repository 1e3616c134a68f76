"""What engrava promises of reflections: EN-34, EN-35, EN-38, EN-39; the lift of EN-28."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.claims.corpus import VECTOR, close, ids, open_corpus, scores
from tests.claims.recipes import ENGRAVA, with_vectors

from recollect.memory.facade import Memory
from recollect.why.result import Result
from recollect.write.reflect import Reflected

R0, R1 = "reflection:27f3fb890d43dbb7", "reflection:61fd5efc629a2883"
TRAVEL = ("m09", "m10", "m20")
WORK = ("m01", "m02", "m07", "m08", "m13", "m17", "m18", "m19")


def dream(memory: Memory) -> Reflected:
    return memory.reflect(algorithm="agglomerative", similarity=0.95, cycle=50)


@pytest.fixture
def dreamt() -> Iterator[Memory]:
    """Corpus A after a run at cycle 50."""
    with open_corpus(vectors=True) as memory:
        dream(memory)
        yield memory


def test_en_34_clusters_become_reflections_of_their_members() -> None:
    with open_corpus(vectors=True) as memory:
        done = dream(memory)
        assert {each.id: each.members for each in done.created} == {R0: TRAVEL, R1: WORK}
        assert done.rejected == done.kept == done.retired == ()
        assert (done.considered, done.left_out) == (20, 0)
        told = json.loads(memory.get(R0).text)
        assert (told["type"], told["version"], told["member_count"]) == ("reflection", 2, 3)
        assert told["cluster_hash"] == "27f3fb890d43dbb7"
        assert told["cluster_algorithm"] == "agglomerative"
        assert told["member_ids"] == list(TRAVEL)
        words = "berlin booked flight conference may hotel close station passport expires"
        assert told["keywords"] == words.split()
        assert told["top_keyphrases"][0] == ["2027 must", 2.3514]
        assert json.loads(memory.get(R1).text)["top_keyphrases"][0] == ["pricing pricing", 4.7028]


def test_en_34_a_reflection_is_a_record_with_edges_to_its_members(dreamt: Memory) -> None:
    record = dreamt.get(R0)
    assert (record.kind, record.priority, record.cycle) == ("reflection", "P2", 50)
    assert record.source.channel == "dreaming:27f3fb890d43dbb7"
    assert record.essence == "REFLECTION [berlin, booked, flight]"
    edges = [edge for edge in dreamt.links(R0) if edge.source == R0]
    assert [(edge.target, edge.kind, edge.weight) for edge in edges] == [
        (member, "consolidated_from", 1.0) for member in TRAVEL
    ]


def test_en_34_a_second_run_makes_none(dreamt: Memory) -> None:
    before = dreamt.status().seq
    again = dream(dreamt)
    assert again.created == again.retired == ()
    assert set(again.kept) == {R0, R1}
    assert dreamt.status().seq == before


def hybrid(memory: Memory, limit: int, shown: str = "show") -> Result:
    overrides = {"select.reflections": shown}
    recipe = with_vectors(ENGRAVA)
    return memory.recall("pricing berlin", limit, recipe=recipe, vector=VECTOR, overrides=overrides)


def test_en_35_reflections_are_among_the_hits_unless_hidden(dreamt: Memory) -> None:
    assert {R0, R1} <= set(ids(hybrid(dreamt, 30)))
    assert {hit.record.kind for hit in hybrid(dreamt, 30, "hide")} == {"note"}
    assert set(ids(hybrid(dreamt, 30, "only"))) == {R0, R1}


def test_en_35_the_places_of_hidden_reflections_go_to_others(dreamt: Memory) -> None:
    with_them, without = hybrid(dreamt, 4), hybrid(dreamt, 4, "hide")
    assert R1 in ids(with_them)
    assert len(without) == 4


def test_en_38_reflections_only_by_cosine(dreamt: Memory) -> None:
    found = dreamt.reflections(vector=VECTOR)
    assert [(hit.id, hit.score) for hit in found] == close([(R1, 0.993087), (R0, 0.396812)])
    assert scores(found, "meaning") == close([(R1, 0.993087), (R0, 0.396812)])
    assert ids(dreamt.reflections(vector=VECTOR, limit=1)) == [R1]


_AGED = {"score": 0.870551, "weight": 0.1}


def test_en_38_a_cycle_blends_in_how_fresh_they_are(dreamt: Memory) -> None:
    found = dreamt.reflections(vector=VECTOR, cycle=60)
    assert [(hit.id, hit.score) for hit in found] == close([(R1, 0.980833), (R0, 0.444186)])
    parts = {part.label: part for part in found[0].explanation.parts}
    assert parts["meaning"].facts["weight"] == pytest.approx(0.9)
    recency = {key: pytest.approx(value, abs=1e-6) for key, value in _AGED.items()}
    assert parts["recency"].facts == recency
    (step,) = [step.to_dict() for step in found.plan.steps if step.name == "recency"]
    assert (step["unit"], step["half_life"]) == ("cycle", 50.0)


@pytest.mark.parametrize("cycle", [None, 60])
def test_en_38_without_a_vector_they_come_by_id_with_no_score(
    dreamt: Memory, cycle: int | None
) -> None:
    found = dreamt.reflections(cycle=cycle)
    assert [(hit.id, hit.score) for hit in found] == [(R0, 0.0), (R1, 0.0)]
    assert (found.status, found.used) == ("complete", ("listed",))
    asked = dreamt.reflections("berlin", cycle=cycle)
    assert [(hit.id, hit.score) for hit in asked] == [(R0, 0.0), (R1, 0.0)]
    assert asked.status == "degraded"  # there was a question, and nothing to compare it with


def test_en_38_no_pool_hides_one_and_one_without_a_vector_stands_at_the_end(
    dreamt: Memory,
) -> None:
    dreamt.remember_many({"text": f"away {n}", "vector": (0, -1, 0, n)} for n in range(30))
    dreamt.remember_many(
        {"text": f"of my own {n}", "kind": "reflection", "id": f"own{n:04}", "vector": (n, 1, 0, 0)}
        for n in range(1200)
    )
    dreamt.remember("no vector", kind="reflection", id="bare")
    found = dreamt.reflections(vector=VECTOR, limit=5000)
    assert len(found) == found.total == 1203
    assert ids(found)[:2] == [R1, "own0000"]
    assert ids(found)[-1] == "bare"


def without(memory: Memory) -> Result:
    recipe = with_vectors(ENGRAVA)
    overrides = {"fusion.scale": "min_max"}
    return memory.recall("pricing berlin", recipe=recipe, vector=VECTOR, overrides=overrides)


def engrava_score(result: Result, id: str) -> float:
    """.3 of the scaled words and .55 of the cosine, over .9; m17 has no priority to add."""
    (hit,) = [hit for hit in result if hit.id == id]
    (words,) = [part for part in hit.explanation.parts if part.label == "words"]
    scaled = words.facts["scaled"]
    assert isinstance(scaled, float)
    return (0.3 * scaled + 0.55 * hit.lanes["vector"].score) / 0.9


@pytest.mark.parametrize("change", [{"archived": True}, {"expires": 0}])
def test_en_39_without_hidden_records_the_scaling_is_done_anew(change: dict[str, Any]) -> None:
    with open_corpus(vectors=True) as memory:
        assert engrava_score(without(memory), "m17") == pytest.approx(0.763962, abs=1e-6)
        memory.update("m02", **change)
        assert "m02" not in ids(without(memory))
        assert engrava_score(without(memory), "m17") == pytest.approx(0.937212, abs=1e-6)


def test_en_39_retired_reflections_are_in_no_answer_unless_asked_for(dreamt: Memory) -> None:
    dreamt.forget("m20")
    done = dream(dreamt)
    assert done.retired == (R0,)
    assert ids(dreamt.reflections(vector=VECTOR)) == [R1]
    assert R0 not in ids(hybrid(dreamt, 30))
    shown = dreamt.reflections(vector=VECTOR, overrides={"select.archived": "show"})
    assert ids(shown) == [R1, R0]
