"""What engrava promises of reflections: EN-28, EN-34 to EN-39."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import CORPUS, VECTOR, close, ids, open_corpus, open_empty, scores
from tests.sound import sound

from memoriter.core.errors import InputError
from memoriter.memory.facade import Memory
from memoriter.why.result import Result
from memoriter.write.reflect import Reflected

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
        body = json.loads(memory.get(R0).text)
        assert (body["type"], body["version"], body["member_count"]) == ("reflection", 2, 3)
        assert body["cluster_hash"] == "27f3fb890d43dbb7"
        assert body["cluster_algorithm"] == "agglomerative"
        assert body["member_ids"] == list(TRAVEL)
        words = "berlin booked flight conference may hotel close station passport expires"
        assert body["keywords"] == words.split()
        assert body["top_keyphrases"][0] == ["2027 must", 2.3514]
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


def test_en_34_at_the_gates_of_the_program_associations_make_the_clusters() -> None:
    """Its default: label propagation along associations, of thoughts of any type or archived."""
    gates: dict[str, Any] = {"algorithm": "linked", "archived": "show"}
    with open_corpus(vectors=True) as memory:
        for note in CORPUS:
            memory.update(note.id, kind="task" if note.id == "m13" else "observation")
        assert memory.reflect(**gates).created == ()  # nothing is associated yet, as there
        for one, two in itertools.combinations(TRAVEL, 2):
            memory.link(one, two, "associated", weight=0.5)
        memory.update("m10", archived=True)
        for one, two in itertools.combinations(("m07", "m08", "m13"), 2):  # m13 is a task
            memory.link(one, two, "associated", weight=0.5)
        memory.link("m03", "m04", "related_to")
        memory.link("m04", "m05", "related_to")
        done = memory.reflect(**gates)
        assert {each.members for each in done.created} == {TRAVEL, ("m07", "m08", "m13")}
        assert done.rejected == ()
        assert len(memory.reflect(**gates).kept) == 2
        assert memory.reflect(algorithm="linked").retired == (R0,)  # m10 is archived
        with pytest.raises(InputError, match="kinds"):
            memory.reflect(kinds=5)  # pyright: ignore[reportArgumentType]  # on purpose


def test_en_34_of_associations_the_last_that_was_written_comes_first() -> None:
    """There those of a cycle come as an index of SQLite has them, here as they were written."""
    newest_first = [("n1", "n5"), ("n3", "n5"), ("n0", "n2"), ("n0", "n3"), ("n0", "n4")]
    apart = {("n0", "n2", "n4"), ("n1", "n3", "n5")}
    together = {("n0", "n1", "n2", "n3", "n4", "n5")}
    for written, expected in ((newest_first[::-1], apart), (newest_first, together)):
        with open_empty("given:2") as memory:
            for n in range(6):
                text = f"harbour crane {'abcdef'[n] * 3} light"
                memory.remember(text, id=f"n{n}", vector=[9, n])
            for one, two in written:
                memory.link(one, two, "associated")
            done = memory.reflect(algorithm="linked")
            assert {each.members for each in done.created} == expected


def test_en_34_what_is_expired_superseded_or_without_a_vector_is_no_member() -> None:
    """There all of them are, along associations."""
    with open_empty("given:2") as memory:
        for n in range(6):
            vector: Any = {} if n == 5 else {"vector": [9, n]}
            memory.remember(f"harbour crane {'abcdef'[n] * 3} light", id=f"n{n}", **vector)
        for one, two in itertools.combinations([f"n{n}" for n in range(6)], 2):
            memory.link(one, two, "associated")
        memory.update("n3", expires=0)
        memory.link("n0", "n4", "supersedes")
        (only,) = memory.reflect(algorithm="linked", archived="show").created
        assert only.members == ("n0", "n1", "n2")


def test_en_34_more_than_two_hundred_thoughts_are_considered_along_associations() -> None:
    with open_empty("given:2") as memory:
        texts = [f"harbour crane {n} light" for n in range(300)]
        memory.remember_many(
            {"text": text, "id": f"n{n:03}", "vector": [1, n / 300]} for n, text in enumerate(texts)
        )
        for one, two in itertools.combinations(("n000", "n150", "n299"), 2):
            memory.link(one, two, "associated")
        (only,) = memory.reflect(algorithm="linked").created
        assert only.members == ("n000", "n150", "n299")


def test_en_34_the_source_of_a_reflection_is_that_of_the_program_and_its_id_is_ours(
    dreamt: Memory,
) -> None:
    """There an id is drawn at random, so that no two stores have the same."""
    for id in (R0, R1):
        assert dreamt.get(id).source.channel == id.replace("reflection:", "dreaming:")


def test_en_34_names_are_read_by_our_rules() -> None:
    """Ana Lopez is one name here and two there, where this cluster passes the gate."""
    texts = ("ask Ana Lopez about it", "it was Ana who came", "then Ana left early")
    with open_empty("given:2") as memory:
        for nth, text in enumerate(texts):
            memory.remember(text, id=f"r{nth}", vector=[1.0, 0.01 * nth])
        (refused,) = memory.reflect(similarity=0.9).rejected
        assert refused.reason == "too few members share an entity with the first"
        memory.update("r0", entities=["Ana", "Lopez"])  # what the caller says counts
        assert len(memory.reflect(similarity=0.9).created) == 1


def hybrid(memory: Memory, limit: int, shown: str = "show") -> Result:
    overrides = {"include_reflections": {"show": True, "hide": False}.get(shown, shown)}
    return asked(memory, limit, overrides=overrides)


def asked(memory: Memory, limit: int = 10, **ask: Any) -> Result:
    return sound(memory.recall("pricing berlin", limit, recipe="engrava", vector=VECTOR, **ask))


def test_en_35_reflections_are_among_the_hits_unless_hidden(dreamt: Memory) -> None:
    assert {R0, R1} <= set(ids(hybrid(dreamt, 30)))
    assert {hit.record.kind for hit in hybrid(dreamt, 30, "hide")} == {"note"}
    assert set(ids(hybrid(dreamt, 30, "only"))) == {R0, R1}


def test_en_35_the_places_of_hidden_reflections_go_to_others(dreamt: Memory) -> None:
    with_them, without = hybrid(dreamt, 4), hybrid(dreamt, 4, "hide")
    assert R1 in ids(with_them)
    assert len(without) == 4


def test_en_38_reflections_only_by_cosine(dreamt: Memory) -> None:
    result = dreamt.reflections(vector=VECTOR)
    assert [(hit.id, hit.score) for hit in result] == close([(R1, 0.993087), (R0, 0.396812)])
    assert scores(result, "meaning") == close([(R1, 0.993087), (R0, 0.396812)])
    assert ids(dreamt.reflections(vector=VECTOR, limit=1)) == [R1]


_AGED = {"score": 0.870551, "weight": 0.1}


def test_en_38_a_cycle_blends_in_how_fresh_they_are(dreamt: Memory) -> None:
    result = dreamt.reflections(vector=VECTOR, cycle=60)
    assert [(hit.id, hit.score) for hit in result] == close([(R1, 0.980833), (R0, 0.444186)])
    parts = {part.label: part for part in result[0].explanation.parts}
    assert parts["meaning"].facts["weight"] == pytest.approx(0.9)
    recency = {key: pytest.approx(value, abs=1e-6) for key, value in _AGED.items()}
    assert parts["recency"].facts == recency
    (step,) = [step.to_dict() for step in result.plan.steps if step.name == "recency"]
    assert (step["unit"], step["half_life"]) == ("cycle", 50.0)


@pytest.mark.parametrize("cycle", [None, 60])
def test_en_38_without_a_vector_they_come_by_id_with_no_score(
    dreamt: Memory, cycle: int | None
) -> None:
    result = dreamt.reflections(cycle=cycle)
    assert [(hit.id, hit.score) for hit in result] == [(R0, 0.0), (R1, 0.0)]
    assert (result.status, result.used) == ("complete", ("listed",))
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
    result = dreamt.reflections(vector=VECTOR, limit=5000)
    assert len(result) == result.total == 1203
    assert ids(result)[:2] == [R1, "own0000"]
    assert ids(result)[-1] == "bare"


@pytest.mark.parametrize("change", [{"archived": True}, {"expires": 0}])
def test_en_39_without_hidden_records_the_scaling_is_done_anew(change: dict[str, Any]) -> None:
    with open_corpus(vectors=True) as memory:
        assert dict(asked(memory).rows())["m17"] == pytest.approx(0.763962, abs=1e-6)
        memory.update("m02", **change)
        assert "m02" not in ids(asked(memory))
        assert asked(memory).rows()[0] == ("m17", pytest.approx(0.937212, abs=1e-6))


def test_en_39_retired_reflections_are_in_no_answer_unless_asked_for(dreamt: Memory) -> None:
    dreamt.forget("m20", keep_reflections=True)
    done = dream(dreamt)
    assert done.retired == (R0,)
    assert ids(dreamt.reflections(vector=VECTOR)) == [R1]
    assert R0 not in ids(hybrid(dreamt, 30))
    shown = dreamt.reflections(vector=VECTOR, overrides={"select.archived": "show"})
    assert ids(shown) == [R1, R0]


THEIR_R0 = json.dumps({
    "type": "reflection", "version": 2, "member_ids": ["m09", "m10", "m20"],
    "keywords": [
        "berlin", "booked", "flight", "conference", "may", "hotel", "close", "station", "passport",
        "expires",
    ],
    "cluster_hash": "27f3fb890d43dbb7", "member_count": 3, "cluster_algorithm": "agglomerative",
    "created_at": "2026-11-16T07:34:16.793882+00:00",
    "top_keyphrases": [
        {"phrase": phrase, "score": 2.3514}
        for phrase in ("2027 must", "2027 must renewed", "berlin close")
    ],
    "member_excerpts": [
        {"thought_id": note.id, "excerpt": note.text}
        for note in CORPUS if note.id in ("m09", "m10", "m20")
    ],
    "temporal_span": {
        "min_created_at": "2026-11-16T07:34:16.716586+00:00",
        "max_created_at": "2026-11-16T07:34:16.752845+00:00", "span_days": 0.0,
    },
    "named_entities": ["2027", "Berlin", "Booked", "May", "Passport"],
})  # fmt: skip
THEIR_R1 = json.dumps({
    "type": "reflection", "version": 2,
    "member_ids": ["m01", "m02", "m07", "m08", "m13", "m17", "m18", "m19"],
    "keywords": [
        "pricing", "docs", "notes", "machine", "learning", "decision", "pro", "plan", "euros",
        "per",
    ],
    "cluster_hash": "61fd5efc629a2883", "member_count": 8, "cluster_algorithm": "agglomerative",
    "created_at": "2026-11-16T07:34:16.804492+00:00",
    "top_keyphrases": [
        {"phrase": "pricing pricing", "score": 4.7028}, {"phrase": "again sales", "score": 2.3514},
        {"phrase": "again sales team", "score": 2.3514},
    ],
    "member_excerpts": [
        {"thought_id": note.id, "excerpt": note.text}
        for note in CORPUS if note.id in ("m01", "m08", "m18", "m13", "m07")
    ],
    "temporal_span": {
        "min_created_at": "2026-11-16T07:34:16.688336+00:00",
        "max_created_at": "2026-11-16T07:34:16.751421+00:00", "span_days": 0.0,
    },
    "named_entities": ["Berlin", "Docs", "March", "Pricing", "September", "VPN"],
})  # fmt: skip
LIFTED = [("m02", 0.955123), ("m17", 0.789336), (R1, 0.722552), ("m01", 0.721230)]


@pytest.fixture
def theirs() -> Iterator[Memory]:
    """Corpus A with the two reflections that engrava makes of it, word for word as long."""
    with open_corpus(vectors=True) as memory:
        for id, members, content in ((R0, TRAVEL, THEIR_R0), (R1, WORK, THEIR_R1)):
            mean = np.mean([note.vector for note in CORPUS if note.id in members], axis=0)
            words = json.loads(content)["keywords"][:3]
            memory.remember(
                content, id=id, kind="reflection", priority="P2", cycle=50,
                summary=f"REFLECTION [{', '.join(words)}]", vector=mean.tolist(),
            )  # fmt: skip
        yield memory


def test_en_36_a_boost_of_1_leaves_the_order(theirs: Memory) -> None:
    assert asked(theirs, 4).rows() == close(LIFTED)
    (step,) = [step for step in asked(theirs).plan.steps if step.name == "reflections"]
    assert step.shows["factor"] == 1.0


def test_en_36_a_boost_multiplies_a_reflection_s_score_and_no_other(theirs: Memory) -> None:
    plain = asked(theirs, 30).rows()
    boosted = asked(theirs, 30, overrides={"reflection_boost": 1.5}).rows()
    assert boosted[0] == (R1, pytest.approx(1.083829, abs=1e-6))
    rest = [row for row in boosted if not row[0].startswith("reflection:")]
    assert rest == [row for row in plain if not row[0].startswith("reflection:")]


def test_en_37_reflections_compete_on_equal_terms_at_any_limit(dreamt: Memory) -> None:
    for limit in (3, 10):
        assert R1 in ids(asked(dreamt, limit))
    (step,) = [step for step in asked(dreamt).plan.steps if step.name == "cap"]
    assert step.skipped == "switched off"


def capped(window: int, **more: Any) -> dict[str, Any]:
    return {"order.0.enabled": True, "window": window, **more}


def test_en_37_a_cap_counts_against_the_window_and_not_the_limit(theirs: Memory) -> None:
    result = capped(4, reflection_boost=5.0)
    shown = asked(theirs, 4, overrides=result)
    assert ids(shown) == [R1, "m02", "m17", "m01"]
    assert shown[0].score == pytest.approx(3.612762, abs=1e-6)
    for limit in (1, 2, 3):
        assert ids(asked(theirs, limit, overrides=result)) == ids(shown)[:limit]
    (step,) = [step for step in shown.plan.steps if step.name == "cap"]
    assert (step.shows["at_most"], step.shows["evicted"]) == (1, 1)


def test_en_37_of_equal_reflections_above_the_cap_the_first_are_kept() -> None:
    with open_empty() as memory:
        for id in "abc":
            memory.remember("berlin", id=id, kind="reflection")
        for id in "xyz":
            memory.remember("berlin in may", id=id)
        shown = memory.recall("berlin", 4, recipe="engrava", overrides=capped(4))
        assert ids(shown) == ["a", "x", "y", "z"]  # the program evicts the first, and keeps c


def test_en_37_the_plan_warns_when_none_can_be_shown(dreamt: Memory) -> None:
    result = asked(dreamt, 2, overrides=capped(2))
    assert ids(result) == ["m02", "m17"]
    (step,) = [step for step in result.plan.steps if step.name == "cap"]
    assert (step.shows["evicted"], step.shows["warning"]) == (2, "no reflection can be shown")


EXPANSION = {"graph_expansion_enabled": True}


TYPES = {"m07": "task", "m08": "belief", "m13": "note"}


def expanded(memory: Memory, **overrides: Any) -> tuple[Result, Result]:
    """The answers without and with the expansion, of pools of four."""
    pools = {"vector_top_k": 4, "fts_top_k": 4, **overrides}
    question: dict[str, Any] = {"vector": VECTOR, "recipe": "engrava", "limit": 30}
    plain = sound(memory.recall("", overrides=pools, **question))
    return plain, sound(memory.recall("", overrides={**pools, **EXPANSION}, **question))


@pytest.fixture
def typed(dreamt: Memory) -> Memory:
    """Corpus A after a run at cycle 50: observations, but for a task, a belief and a note."""
    for note in CORPUS:
        dreamt.update(note.id, kind=TYPES.get(note.id, "observation"))
    return dreamt


def test_en_28_expansion_is_an_option_that_brings_observations_of_reflections(
    typed: Memory,
) -> None:
    plain, more = expanded(typed)
    assert len(plain) == 4
    assert R1 in ids(plain)
    parent = dict(plain.rows())[R1]
    lifts = {id: score for id, score in more.rows() if dict(plain.rows()).get(id) != score}
    assert set(lifts) == set(WORK) - set(TYPES) - set(ids(plain))
    assert lifts == dict.fromkeys(lifts, pytest.approx(0.7 * parent, abs=1e-6))
    assert "graph_expansion" in more.signals
    assert "graph_expansion" not in plain.signals


@pytest.mark.parametrize(
    "overrides",
    [
        {"graph_expansion_propagation_factor": 0.0},
        {"graph_expansion_reflection_source_ceiling": 7},  # R1 has eight sources
        {"vector_top_k": 50, "fts_top_k": 50, "graph_expansion_propagation_factor": 0.01},
    ],
)
def test_en_28_an_expansion_that_lifts_nothing_is_no_signal(
    typed: Memory, overrides: dict[str, Any]
) -> None:
    plain, more = expanded(typed, **overrides)
    assert more.rows() == plain.rows()
    assert "graph_expansion" not in more.signals


def test_en_28_an_edge_lends_by_its_weight_and_never_lowers_a_score(typed: Memory) -> None:
    typed.link(R1, "m17", "consolidated_from", weight=0.25)
    plain, more = expanded(typed)
    before, after = dict(plain.rows()), dict(more.rows())
    assert all(after[id] >= score for id, score in before.items())
    assert "m17" not in before
    assert after["m17"] == pytest.approx(0.7 * 0.25 * before[R1], abs=1e-6)


def test_en_28_of_equal_scores_at_the_edge_of_the_window_the_smaller_id_is_in() -> None:
    with open_empty() as memory:
        memory.remember("source", id="z", kind="observation", priority="P4")
        for n in range(25):
            memory.remember("berlin", id=f"n{n:02}", kind="observation", priority="P2")
        for name in ("early", "n99"):  # of 26 equals one is outside the window of 25
            memory.remember("berlin", id=name, kind="reflection", priority="P2")
            memory.link(name, "z", "consolidated_from")
            answer = memory.recall("berlin", 60, recipe="engrava", overrides=EXPANSION)
            assert ("z" in ids(answer)) is (name == "early")
            memory.forget(name)


def test_en_28_a_reflection_at_a_right_angle_lends_what_rounding_left() -> None:
    """Its cosine is 0 and lends nothing in the program; here it may be some 1e-7."""
    with open_empty("given:3") as memory:
        memory.remember("x", id="r", kind="reflection", vector=[1.0, 1.0, -1.0])
        memory.remember("x", id="z", kind="observation", vector=[-1.0, -2.0, -3.0])
        memory.link("r", "z", "consolidated_from")
        off = {"priority_weight": 0.0, **EXPANSION}
        ask: dict[str, Any] = {"recipe": "engrava", "vector": [1.0, 2.0, 3.0]}
        answer = memory.recall("", overrides=off, **ask)
        assert ids(answer) == ["r", "z"]
        assert all(0.0 < score < 1e-6 for _, score in answer.rows())
