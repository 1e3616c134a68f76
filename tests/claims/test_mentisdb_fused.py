"""What MentisDB claims of its whole answer, by number: fusion, cohesion, the second pass, order."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from tests.claims.corpus import open_empty
from tests.claims.mentisdb_asking import asked, near, totals
from tests.sound import sound

import memoriter
from memoriter import rank
from memoriter.core.errors import BadQuery
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

GRAPH = {"graph": True}
RERANK = {"enable_reranking": True}


def tie(target: str, kind: str) -> dict[str, Any]:
    return {"target": target, "kind": kind}


def open_e1() -> Memory:
    memory = open_empty()
    say = memory.remember
    say("Cache miss rate measured at forty percent.", id="0", agent="a1")
    say("We picked LRU eviction for the cache.", id="1", agent="a1", importance=0.9,
        links=[tie("0", "derived_from")])  # fmt: skip
    say("Unrelated lunch plans.", id="2", agent="a1")
    say("Follow up on eviction tuning.", id="3", agent="a1", importance=0.2, confidence=0.8,
        links=[tie("1", "continues_from")])  # fmt: skip
    say("Note pointing back.", id="4", agent="a1", refs=[1])
    say("Eviction policy review summary.", id="5", agent="a1", tags=["eviction"],
        links=[tie("3", "summarizes")])  # fmt: skip
    return memory


COSINES = {20: 0.6, 22: 0.3, 30: 0.3, 35: 0.3, 32: 0.02}


def open_e2() -> Memory:
    memory = open_empty("given:2")
    for n in range(40):
        cosine = COSINES.get(n, 0.0)
        text = "zebra quokka marmot expedition" if n == 20 else f"filler note number{n}"
        vector = [cosine, (1.0 - cosine * cosine) ** 0.5]
        memory.remember(text, id=f"{n}", vector=vector)
    return memory


def test_md_42_the_total_is_the_sum_of_the_parts_without_a_graph() -> None:
    assert asked(open_e1(), "LRU eviction") == near(
        [("1", 2.12395), ("5", 1.90478), ("3", 0.73199)]
    )


def test_md_42_what_a_vector_counts_falls_with_the_words_and_without_a_jump() -> None:
    def counts(lexical: float) -> float:
        ((_, total),) = rank.smooth([("a", lexical)], [("a", 1.0)])
        return total - lexical

    counted = [counts(lexical) for lexical in (0.0, 3.0, 6.0)]
    assert counted == [pytest.approx(value, abs=5e-3) for value in (36.0, 13.88, 5.74)]
    steps = [counts(n / 10) for n in range(200)]
    assert all(0.0 < one - two < 1.2 for one, two in itertools.pairwise(steps))


def test_md_40_seeds_earn_no_credit_from_one_another() -> None:
    result = asked(open_e1(), "LRU eviction", overrides=GRAPH)
    assert [id for id, _ in result] == ["1", "5", "0", "4", "3"]
    assert dict(result)["0"] == pytest.approx(1.60, abs=1e-4)
    assert dict(result)["4"] == pytest.approx(1.30, abs=1e-4)


def test_md_44_a_neighbour_of_a_strong_hit_gains_by_distance() -> None:
    result = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0])
    wanted = [("20", 7.66724), ("22", 6.42821), ("30", 5.63846), ("35", 5.44487)]
    assert result == near(wanted)


def test_md_48_the_second_pass_fuses_ranks_and_keeps_the_rest() -> None:
    result = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0], overrides=RERANK)
    assert result == near([("22", 1.07659), ("30", 0.28608), ("35", 0.09175), ("20", 0.07482)])


def test_md_49_what_is_in_no_list_follows_in_its_former_order() -> None:
    overrides = {**RERANK, "rerank_k": 1}
    answer = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0], overrides=overrides)
    assert [id for id, _ in answer] == ["20", "22", "30", "35"]
    result = open_e2().recall(
        "zebra quokka", recipe="mentisdb", vector=[1.0, 0.0], overrides=overrides
    )
    shown = next(step.shows for step in result.plan.steps if step.name == "again")
    assert (shown["head"], shown["rest"]) == (1, "below, in its former order")


def test_md_43_importance_weighs_by_the_words() -> None:
    memory = open_empty()
    memory.remember("Consider vector search later.", id="0", agent="planner", importance=0.3)
    memory.remember("Vector search ranking plan.", id="1", agent="planner", importance=0.8,
        tags=["vector", "search"], concepts=["vector search"])  # fmt: skip
    memory.agents.upsert("planner", display_name="planner")
    assert asked(memory, "vector search") == near([("1", 1.293668), ("0", 0.342765)])


def test_md_43_importance_tips_a_near_tie_and_no_strong_lead() -> None:
    memory = open_empty()
    memory.remember("zebra crossing", id="plain")
    memory.remember("zebra crossing", id="weighty", importance=0.9)
    memory.remember("zebra quokka marmot expedition", id="strong", importance=0.1)
    for n in range(12):
        memory.remember(f"filler note number{n}")
    assert [id for id, _ in asked(memory, "zebra crossing")][:2] == ["weighty", "plain"]
    assert asked(memory, "zebra quokka marmot")[0][0] == "strong"


def test_md_47_a_blank_question_lists_every_candidate() -> None:
    memory = open_empty()
    memory.remember("one", id="0", importance=1.0, confidence=1.0)
    memory.remember("two", id="1", importance=0.1, confidence=0.1)
    assert asked(memory, "  ") == near([("0", 0.15), ("1", 0.02)])


def test_md_46_total_counts_before_the_limit() -> None:
    memory = open_empty()
    for n, importance in enumerate((0.0, 1.0, 0.5, 0.1)):
        text = f"ranked lexical candidate {n} with shared tokens"
        memory.remember(text, id=f"{n}", tags=["search", "ranked"], importance=importance)
    result = memory.recall("ranked lexical candidate", 2, recipe="mentisdb")
    assert totals(result) == near([("1", 0.57402), ("2", 0.51799)])
    assert result.total == 4
    everything = totals(memory.recall("ranked lexical candidate", recipe="mentisdb"))
    assert everything[2:] == near([("3", 0.47650), ("0", 0.41196)])


def test_md_37_a_first_hop_scores_more_than_a_second() -> None:
    memory = open_empty()
    say = memory.remember
    common: dict[str, Any] = {"tags": ["search"], "agent": "planner"}
    say("Latency ranking seed for graph-aware retrieval.", id="0", **common)
    say("First-hop support note for rollout preparation.", id="1",
        links=[tie("0", "derived_from")], **common)  # fmt: skip
    say("Second-hop support note for operator coordination.", id="2",
        links=[tie("1", "continues_from")], **common)  # fmt: skip
    result = asked(memory, "latency ranking", overrides={**GRAPH, "mode": "in"})
    assert result == near([("0", 1.96166), ("1", 1.425), ("2", 0.85)])


def test_md_38_seed_support_lifts_what_two_seeds_reach() -> None:
    memory = open_empty()
    say = memory.remember
    common: dict[str, Any] = {"tags": ["search"], "agent": "planner"}
    say("Memory cap seed alpha.", id="0", **common)
    say("Memory cap seed beta.", id="1", **common)
    say("Shared support context reached from both seeds.", id="2",
        links=[tie("0", "derived_from"), tie("1", "derived_from")], **common)  # fmt: skip
    overrides = {**GRAPH, "mode": "in", "max_depth": 1}
    result = asked(memory, "memory cap", overrides=overrides)
    assert result == near([("2", 1.65), ("1", 1.04877), ("0", 1.02377)])


NUMBERS = [
    "lexical", "vector", "graph", "relation", "seed_support", "importance", "confidence",
    "recency", "session_cohesion", "rrf", "total",
]  # fmt: skip
ADDED = NUMBERS[2:9]
"""What counts in both passes."""


KNOBS = [{}, GRAPH, RERANK, {**GRAPH, **RERANK}, {"rerank_k": 1, **RERANK}]


@pytest.mark.parametrize("overrides", KNOBS)
def test_md_45_each_hit_carries_eleven_numbers_that_sum_to_the_total(
    overrides: dict[str, Any],
) -> None:
    """M22."""
    memory = open_e2()
    memory.link("20", "21", "derived_from")
    memory.update("22", importance=0.9, confidence=0.5)
    result = memory.recall(
        "zebra quokka", 50, recipe="mentisdb", vector=[1.0, 0.0], overrides=overrides
    )
    assert len(sound(result)) == (5 if "graph" in overrides else 4)
    for hit in result:
        assert [name for name in hit.scores if name != "vector_contribution"] == NUMBERS
        first = hit.scores["lexical"] + hit.scores["vector_contribution"]
        listed = hit.scores["rrf"] > 0.0
        base = hit.scores["rrf"] if listed else first
        whole = base + sum(hit.scores[name] for name in ADDED)
        assert whole == pytest.approx(hit.score, abs=1e-9) == hit.scores["total"]
        if not overrides.get("enable_reranking"):
            assert not listed
    assert any(hit.scores["rrf"] > 0.0 for hit in result) == bool(overrides.get("enable_reranking"))


def test_md_45_the_amplified_vector_stands_beside_the_raw_one() -> None:
    result = open_e2().recall("zebra quokka", recipe="mentisdb", vector=[1.0, 0.0])
    rows = [(hit.id, hit.scores["vector"], hit.scores["vector_contribution"]) for hit in result]
    wanted = [("20", 0.3, 1.79614), ("22", 0.15, 5.4), ("30", 0.15, 5.4), ("35", 0.15, 5.4)]
    for (id, raw, amplified), (name, vector, contribution) in zip(rows, wanted, strict=True):
        assert id == name
        assert (raw, amplified) == (
            pytest.approx(vector, abs=1e-4), pytest.approx(contribution, abs=1e-4),
        )  # fmt: skip
    assert result[0].to_dict()["scores"] == result[0].scores


def test_md_46_each_hit_tells_its_terms_their_sources_and_its_way() -> None:
    memory = open_e1()
    result = memory.recall("LRU eviction", 50, recipe="mentisdb", overrides=GRAPH)
    by_id = {hit.id: hit for hit in result}
    assert list(by_id["1"].matched) == ["lru", "evict"]  # as the question has them
    turned = memory.recall("eviction LRU", recipe="mentisdb")
    assert [list(hit.matched) for hit in turned if hit.id == "1"] == [["evict", "lru"]]
    assert {term: set(fields) for term, fields in by_id["5"].matched.items()} == {
        "evict": {"text", "tags"}
    }
    way = {id: hit.lanes["links"].why.facts for id, hit in by_id.items()}
    assert {id: facts["distance"] for id, facts in way.items()} == {
        "1": 0, "5": 0, "0": 1, "4": 1, "3": 0,
    }  # fmt: skip
    assert [hop["id"] for hop in cast("list[dict[str, str]]", way["0"]["path"])] == ["1", "0"]
    plain = memory.recall("LRU eviction", 50, recipe="mentisdb")
    assert all("links" not in hit.lanes for hit in plain)


def test_md_46_the_answer_names_its_backend() -> None:
    bare, full = open_e1(), open_e2()
    vector: dict[str, Any] = {"vector": [1.0, 0.0]}
    cases: list[tuple[Memory, str, dict[str, Any], str]] = [
        (full, "zebra", {**vector, "overrides": GRAPH}, "hybrid_graph"),
        (bare, "eviction", {"overrides": GRAPH}, "lexical_graph"),
        (full, "zebra", vector, "hybrid"),
        (full, "zebra", {"vector": [-1.0, 0.0]}, "lexical"),  # no vector is near enough
        (bare, "eviction", {}, "lexical"),
        (bare, "no such word", {}, "lexical"),
        (bare, "", {}, "heuristic"),
        (bare, "", {"overrides": GRAPH}, "heuristic"),
        (bare, "", {"where": {"kind": "none"}}, "heuristic"),
    ]
    for memory, text, more, label in cases:
        result = memory.recall(text, recipe="mentisdb", **more)
        assert (text, result.backend) == (text, label)
        assert result.to_dict()["backend"] == label


def test_md_47_a_blank_question_ignores_the_graph_and_has_zeros_in_the_lanes() -> None:
    """M13."""
    result = open_e1().recall("  ", 50, recipe="mentisdb", overrides=GRAPH)
    assert {hit.id for hit in result} == set("012345")
    for hit in result:
        assert [hit.scores[name] for name in NUMBERS[:5]] == [0.0] * 5


def test_md_51_equals_go_by_their_parts_and_then_the_newer_first() -> None:
    memory = open_empty("given:2")
    flat = {"boosts.recency.weight": 0.0}
    for n in range(3):
        memory.remember("same words", id=f"{n}", vector=[0.0, 1.0])
    answer = asked(memory, "same words", vector=[1.0, 0.0], overrides=flat)
    assert [id for id, _ in answer] == ["2", "1", "0"]
    result = memory.recall("same words", recipe="mentisdb", vector=[1.0, 0.0])
    shown = next(step.shows for step in result.plan.steps if step.name == "fuse")
    assert shown["ties"] == [
        "-words.score", "-meaning.score", "-links.graph", "-links.relation",
        "-links.seed_support", "-importance", "-confidence", "-position",
    ]  # fmt: skip


def test_md_51_of_equal_totals_the_larger_lexical_part_is_first() -> None:
    memory = open_empty("given:2")
    memory.remember("zebra", id="words", vector=[0.0, 1.0])
    memory.remember("other", id="vector", vector=[1.0, 0.0])
    lexical = dict(asked(memory, "zebra", vector=[0.0, -1.0]))["words"]
    # The recency of the newer one is taken off, and its vector made as heavy as the word.
    overrides = {"boosts.recency.weight": 0.0, "fusion.lift": 0.0, "lanes.meaning.fresh": lexical}
    result = asked(memory, "zebra", vector=[1.0, 0.0], overrides=overrides)
    assert [id for id, _ in result] == ["words", "vector"]
    assert result[0][1] == result[1][1]


def test_md_51_a_limit_is_a_prefix_ten_by_default_and_at_least_one() -> None:
    memory = open_e2()
    for overrides in ({}, RERANK):
        ask: dict[str, Any] = {"recipe": "mentisdb", "vector": [1.0, 0.1], "overrides": overrides}
        text = "zebra quokka note number3"
        whole = totals(memory.recall(text, 100, **ask))
        assert len(whole) > 10
        for limit in (1, 2, 5, 30):
            assert totals(memory.recall(text, limit, **ask)) == whole[:limit]
        assert len(memory.recall(text, **ask)) == 10
        ask["overrides"] = {**overrides, "limit": 50}
        assert len(memory.recall(text, **ask)) > 10
    with pytest.raises(BadQuery, match="limit"):
        memory.recall("zebra", 0, recipe="mentisdb")


def test_md_52_two_equal_calls_give_equal_bytes_in_another_process_too(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with memoriter.open(place, clock=HandClock(), entropy=CountedEntropy()) as memory:
        for n, text in enumerate(("zebra quokka", "a zebra", "quokka and lunch", "unrelated")):
            memory.remember(text, id=f"{n}", links=[tie("0", "derived_from")] if n else [])
    program = (
        "import json, sys, memoriter\n"
        f"memory = memoriter.open({str(place)!r}, read_only=True)\n"
        "told = {'graph': True, 'enable_reranking': True}\n"
        "ask = {'recipe': 'mentisdb', 'overrides': told, 'now': '2030-01-01'}\n"
        "for _ in range(2):\n"
        "    result = memory.recall('zebra quokka', **ask)\n"
        "    print(json.dumps(result.to_dict()), result.receipt.to_bytes())\n"
    )
    seen: set[bytes] = set()
    for seed in ("0", "1", "12345"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.check_output([sys.executable, "-c", program], env=env)  # noqa: S603  # ours
        seen.update(out.splitlines())
    assert len(seen) == 1
