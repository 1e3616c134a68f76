"""What MentisDB claims of its whole answer, by number: fusion, cohesion, the second pass, order."""

from __future__ import annotations

from typing import Any

import pytest
from tests.claims.corpus import close, open_empty
from tests.property.worlds import sound

from recollect.memory.facade import Memory
from recollect.why.result import Result

GRAPH = {"graph": True}
RERANK = {"enable_reranking": True}


def asked(memory: Memory, text: str, limit: int = 50, **ask: Any) -> list[tuple[str, float]]:
    return totals(memory.recall(text, limit, recipe="mentisdb", **ask))


def totals(result: Result) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in sound(result)]


def near(expected: list[tuple[str, float]]) -> list[tuple[str, Any]]:
    """MentisDB counts in 32 bits: its figures hold to 1e-4."""
    return close(expected, 1e-4)


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


def test_md_40_seeds_earn_no_credit_from_one_another() -> None:
    found = asked(open_e1(), "LRU eviction", overrides=GRAPH)
    assert [id for id, _ in found] == ["1", "5", "0", "4", "3"]
    assert dict(found)["0"] == pytest.approx(1.60, abs=1e-4)
    assert dict(found)["4"] == pytest.approx(1.30, abs=1e-4)


def test_md_44_a_neighbour_of_a_strong_hit_gains_by_distance() -> None:
    found = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0])
    wanted = [("20", 7.66724), ("22", 6.42821), ("30", 5.63846), ("35", 5.44487)]
    assert found == near(wanted)


def test_md_48_the_second_pass_fuses_ranks_and_keeps_the_rest() -> None:
    found = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0], overrides=RERANK)
    assert found == near([("22", 1.07659), ("30", 0.28608), ("35", 0.09175), ("20", 0.07482)])


def test_md_49_what_is_in_no_list_follows_in_its_former_order() -> None:
    told = {**RERANK, "rerank_k": 1}
    found = asked(open_e2(), "zebra quokka", vector=[1.0, 0.0], overrides=told)
    assert [id for id, _ in found] == ["20", "22", "30", "35"]


def test_md_43_importance_weighs_by_the_words() -> None:
    memory = open_empty()
    memory.remember("Consider vector search later.", id="0", agent="planner", importance=0.3)
    memory.remember("Vector search ranking plan.", id="1", agent="planner", importance=0.8,
        tags=["vector", "search"], concepts=["vector search"])  # fmt: skip
    memory.agents.upsert("planner", display_name="planner")
    assert asked(memory, "vector search") == near([("1", 1.293668), ("0", 0.342765)])


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


def test_md_37_a_first_hop_scores_more_than_a_second() -> None:
    memory = open_empty()
    say = memory.remember
    common: dict[str, Any] = {"tags": ["search"], "agent": "planner"}
    say("Latency ranking seed for graph-aware retrieval.", id="0", **common)
    say("First-hop support note for rollout preparation.", id="1",
        links=[tie("0", "derived_from")], **common)  # fmt: skip
    say("Second-hop support note for operator coordination.", id="2",
        links=[tie("1", "continues_from")], **common)  # fmt: skip
    found = asked(memory, "latency ranking", overrides={**GRAPH, "mode": "in"})
    assert found == near([("0", 1.96166), ("1", 1.425), ("2", 0.85)])


def test_md_38_seed_support_lifts_what_two_seeds_reach() -> None:
    memory = open_empty()
    say = memory.remember
    common: dict[str, Any] = {"tags": ["search"], "agent": "planner"}
    say("Memory cap seed alpha.", id="0", **common)
    say("Memory cap seed beta.", id="1", **common)
    say("Shared support context reached from both seeds.", id="2",
        links=[tie("0", "derived_from"), tie("1", "derived_from")], **common)  # fmt: skip
    told = {**GRAPH, "mode": "in", "max_depth": 1}
    found = asked(memory, "memory cap", overrides=told)
    assert found == near([("2", 1.65), ("1", 1.04877), ("0", 1.02377)])
