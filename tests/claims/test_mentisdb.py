"""What MentisDB promises of its words: MD-16 to MD-24.

Its names of the fields (content, agent_id) come with its door; ours are text and agent.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.claims.corpus import close, ids, open_empty, open_texts, scores, understood

from memoriter.memory.facade import Memory
from memoriter.systems.runs import LEMMAS
from memoriter.why.result import Result


def ask(memory: Memory, text: str, **more: Any) -> Result:
    return memory.recall(text, 10_000, recipe="mentisdb", **more)


def words(result: Result) -> list[tuple[str, float]]:
    """What the words gave to each hit, best first."""
    return sorted(scores(result), key=lambda scored: (-scored[1], scored[0]))


def three() -> Memory:
    """The three thoughts of G1."""
    memory = open_empty()
    each: list[tuple[str, list[str], list[str]]] = [
        (
            "Use BM25 ranking for lexical retrieval and document scoring.",
            ["ranking", "search"],
            ["bm25", "retrieval"],
        ),
        (
            "Graph expansion should happen after the lexical seed set is ranked.",
            ["graph", "expansion"],
            ["reasoning"],
        ),
        (
            "The lexical index is derived state and must be safe to rebuild.",
            ["integrity"],
            ["derived-state", "bm25"],
        ),
    ]
    for nth, (text, tags, concepts) in enumerate(each):
        memory.remember(text, id=f"g{nth}", tags=tags, concepts=concepts, agent="dirac")
    return memory


def widgets(total: int, having: int) -> Memory:
    """G9: a word in some of many contents."""
    begins = ["widget " if nth < having else "" for nth in range(total)]
    return open_texts(*(f"{begin}unique{nth} text" for nth, begin in enumerate(begins)))


def test_md_16_tokens_are_runs_of_letters_and_digits() -> None:
    memory = open_texts("BM25-style Search_v1; Graph+Expansion", "nothing of the kind")
    plan = memory.plan("BM25-style Search_v1; Graph+Expansion", recipe="mentisdb")
    assert understood(plan) == "bm25 OR style OR search OR v1 OR graph OR expans"
    for word in ("BM25", "style", "SEARCH", "v1", "graph", "expansions"):
        assert ids(ask(memory, word)) == ["r0"]
    assert ids(ask(memory, "the")) == ["r1"] == ids(ask(memory, "of"))  # no list of stop words


def test_md_16_a_text_without_letters_has_no_terms_no_hits_and_is_no_error() -> None:
    memory = open_empty("given:4")
    memory.remember("dash", vector=[1, 0, 0, 0])
    result = ask(memory, "   ---   ", vector=[0, 1, 0, 0])
    assert (ids(result), result.skipped) == ([], {"words": "the query has no words"})
    assert ids(ask(open_texts("dash"), "   ---   ")) == []


def test_md_17_words_of_one_stem_find_each_other() -> None:
    memory = open_texts("prefers tea", "preferred tea", "preferences for tea", "architecture")
    for word in ("prefer", "prefers", "preferred", "preferences"):
        assert sorted(ids(ask(memory, word))) == ["r0", "r1", "r2"]
        assert ask(memory, word)[0].matched == {"prefer": ["text"]}
    assert ids(ask(memory, "architect")) == []


def test_md_17_the_stemmer_is_the_second_of_porter() -> None:
    memory = open_texts("generic names", "general names", "gener")
    assert understood(memory.plan("generically", recipe="mentisdb")) == "generic"
    assert ids(ask(memory, "generically")) == ["r0"]


def test_md_18_an_irregular_form_also_asks_for_its_base() -> None:
    memory = open_texts("We must go to the store today.", "The weather is sunny.")
    result = ask(memory, "went")
    assert ids(result) == ["r0"]
    assert result[0].matched == {"go": ["text"]}
    assert understood(result.plan) == "went OR go"


def test_md_18_a_base_does_not_ask_for_its_irregular_forms() -> None:
    memory = open_texts("She went home.", "He goes home.", "They go home.")
    assert ids(ask(memory, "go")) == ["r2"]
    assert sorted(ids(ask(memory, "went"))) == ["r0", "r2"]  # "goes" has the stem goe


def test_md_18_there_are_171_irregular_forms() -> None:
    assert len(LEMMAS) == 171
    assert {LEMMAS[form] for form in ("went", "gave", "ran")} == {"go", "give", "run"}
    assert not LEMMAS.keys() & {"walked", "regular", "was", "is", "began", "sent", "slept"}


def test_md_19_words_alone_are_blind_to_paraphrase() -> None:
    memory = open_texts("memory lookups are slow", "the cache has a high latency")
    assert ids(ask(memory, "cache latency")) == ["r1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bm25 ranking retrieval", [("g0", 4.778299), ("g2", 0.546268), ("g1", 0.464071)]),
        ("bm25", [("g0", 1.160103), ("g2", 0.546268)]),
        ("bm25 search retrieval", [("g0", 5.031708), ("g2", 0.546268)]),
    ],
)
def test_md_20_a_score_is_the_sum_over_stems_and_fields(
    text: str, expected: list[tuple[str, float]]
) -> None:
    assert words(ask(three(), text)) == close(expected)


def test_md_20_a_repeated_word_counts_once() -> None:
    memory = three()
    once, often = ask(memory, "bm25"), ask(memory, "bm25 BM25 bm25")
    assert scores(often) == scores(once)
    assert {term: set(fields) for term, fields in often[0].matched.items()} == {
        "bm25": {"text", "concepts"}
    }


def test_md_20_a_mean_length_below_one_counts_as_one() -> None:
    memory = open_empty()
    memory.remember("alpha", id="tagged", tags=["zebra"])
    for nth in range(9):
        memory.remember(f"beta{nth}", id=f"r{nth}")
    # One tag among ten records: the mean is 0.1. ln(9.5/1.5 + 1) · 1.6 · 2.2/2.2
    assert scores(ask(memory, "zebra")) == close([("tagged", 3.187888)])


def test_md_21_each_field_has_its_weight_and_is_named_where_it_matched() -> None:
    memory = open_empty()
    memory.remember("zebra", id="text", tags=["b"], concepts=["c"], agent="one")
    memory.remember("x", id="tags", tags=["zebra"], concepts=["c"], agent="one")
    memory.remember("y", id="concepts", tags=["b"], concepts=["zebra"], agent="one")
    memory.remember("z", id="agent", tags=["b"], concepts=["c"], agent="zebra")
    memory.agents.upsert("two", description="zebra")
    memory.remember("w", id="agent_registry", tags=["b"], concepts=["c"], agent="two")
    result = ask(memory, "zebra")
    weights = {"text": 1.0, "tags": 1.6, "concepts": 1.4, "agent": 1.5, "agent_registry": 1.1}
    # An agent is registered with its id as its name, so the name of one is matched twice (MD-22).
    matched = {field: [field] for field in weights} | {"agent": ["agent", "agent_registry"]}
    assert {hit.id: hit.matched for hit in result} == {
        id: {"zebra": fields} for id, fields in matched.items()
    }
    # All five have it, so idf = ln(.5/5.5 + 1); fields of one word in means of one. The registry
    # tells of "two" in two words, of the others in one: a mean of 1.2.
    rare = 0.0870113769896
    weights["agent"] += 1.1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / 1.2))
    weights["agent_registry"] *= 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.2))
    assert dict(scores(result)) == {
        id: pytest.approx(weight * rare, abs=1e-6) for id, weight in weights.items()
    }


def named_agents() -> Memory:
    """Three records of two agents; nobody registers anyone."""
    memory = open_empty()
    memory.remember("Unrelated lunch plans.", id="lunch", agent="rust-backend-engineer")
    memory.remember("Ports of the cache.", id="ports", agent="planner")
    memory.remember("Prices of hotels.", id="prices", agent="planner")
    return memory


def test_md_22_an_agent_is_found_by_its_name_which_counts_in_both_fields() -> None:
    (hit,) = ask(named_agents(), "backend engineer")
    assert hit.id == "lunch"
    both = ["agent", "agent_registry"]
    assert hit.matched == {"backend": both, "engin": both}
    # Two stems, each in one record of three: idf = ln(2.5/1.5 + 1). Both fields have three words
    # in a mean of 5/3: 2.2 / (1 + 1.2 · (.25 + .75 · 9/5)), once for 1.5 and once for 1.1.
    each = math.log(2.5 / 1.5 + 1) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 9 / 5))
    assert hit.scores["lexical"] == pytest.approx(2 * (1.5 + 1.1) * each, abs=1e-6)


def test_md_22_one_record_of_one_agent_as_the_program_scores_it() -> None:
    memory = open_texts("Unrelated lunch plans.", agent="backend-engineer")
    (hit,) = ask(memory, "backend engineer")
    # ln(.5/1.5 + 1) · (1.5 + 1.1) for each of two stems; lengths are the means.
    assert hit.scores["lexical"] == pytest.approx(2 * 2.6 * math.log(4 / 3), abs=1e-6)


def test_md_22_no_write_is_needed_for_it_and_other_recipes_go_by_the_registry() -> None:
    memory = named_agents()
    assert memory.agents.list() == []
    (hit,) = memory.recall("backend engineer", recipe="lexical")
    assert set(hit.matched["backend"]) == {"agent"}


def test_md_22_a_display_name_takes_the_place_of_the_id() -> None:
    memory = named_agents()
    memory.agents.upsert("rust-backend-engineer", display_name="Kim", description="A gardener.")
    (hit,) = ask(memory, "backend")
    assert hit.matched == {"backend": ["agent"]}
    assert [hit.matched for hit in ask(memory, "kim gardener")] == [
        {"kim": ["agent_registry"], "garden": ["agent_registry"]}
    ]
    memory.agents.describe("planner", "A specialist.")
    assert {tuple(hit.matched["planner"]) for hit in ask(memory, "planner")} == {
        ("agent", "agent_registry")
    }


def test_md_22_an_agent_is_found_by_what_the_registry_says_and_an_edit_shows_at_once() -> None:
    memory = open_texts("Unrelated lunch plans.", agent="kim")
    assert ids(ask(memory, "specialist")) == []
    memory.agents.describe("kim", "A specialist for storage.")
    (hit,) = ask(memory, "specialist")
    assert hit.matched == {"specialist": ["agent_registry"]}
    memory.agents.describe("kim", "A gardener.")
    assert ids(ask(memory, "specialist")) == []
    assert ids(ask(memory, "gardener")) == ["r0"]


@pytest.mark.parametrize(
    ("total", "having", "score"),
    [(25, 8, None), (25, 7, 1.100964), (20, 6, 1.042876), (20, 7, None), (19, 19, 0.025318)],
)
def test_md_23_a_word_in_too_many_records_is_dead(
    total: int, having: int, score: float | None
) -> None:
    expected = [] if score is None else [(f"r{nth}", score) for nth in range(having)]
    assert words(ask(widgets(total, having), "widget")) == close(sorted(expected))


@pytest.mark.parametrize(
    ("field", "last_alive"),
    [("text", 6), ("tags", 6), ("concepts", 6), ("agent_registry", 12), ("agent", 14)],
)
def test_md_23_each_field_has_its_own_gate(field: str, last_alive: int) -> None:
    def hits(having: int) -> int:
        memory = open_empty()
        memory.agents.upsert("kim", description="widget")
        for nth in range(20):
            more: dict[str, Any] = {"text": f"text{nth}", "agent": f"agent{nth}"}
            if nth < having:
                listed: Any = ["widget"] if field in ("tags", "concepts") else "widget"
                more |= {"agent": "kim"} if field == "agent_registry" else {field: listed}
            memory.remember(**more)
        return len(ask(memory, "widget"))

    assert (hits(last_alive), hits(last_alive + 1)) == (last_alive, 0)


def test_md_23_how_often_a_word_occurs_is_counted_over_all_fields() -> None:
    memory = open_empty()
    for nth in range(20):
        tags = ["widget"] if nth < 4 else None
        memory.remember("widget" if 4 <= nth < 8 else f"text{nth}", tags=tags)
    assert len(ask(memory, "widget")) == 0  # four tags and four texts: 40 %


def test_md_24_a_filter_that_leaves_nothing_gives_no_hits() -> None:
    memory = three()
    nothing: Any = {"where": {"kind": "decision"}, "require": ["words"]}
    result = ask(memory, "bm25", **nothing)
    assert (ids(result), result.total) == ([], 0)
    page = memory.bundles("bm25", recipe="mentisdb", overrides={"graph": True}, **nothing)
    assert (list(page), page.total) == ([], 0)
