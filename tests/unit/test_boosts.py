"""Boosts by hand: what each is worth, and how several change one score."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.slates import Data, asked, holding, ids, ranked, step_of

import memoriter
from memoriter.rank.grid import snap_one
from memoriter.testing.fakes import SECOND, START
from memoriter.why.result import Result

DAY = 86_400 * SECOND


def boosted(memory: Any, scores: dict[str, float], boosts: dict[str, Data], **more: Any) -> Result:
    """The answer to one list, with every one of these boosts applied."""
    return asked(memory, {"mine": scores}, boosts=boosts, applied=list(boosts), **more)


def gains(result: Result, label: str) -> dict[str, float]:
    """What a boost added to each hit, or multiplied it by."""
    return {
        hit.id: part.value
        for hit in result
        for part in hit.explanation.parts
        if part.label == label
    }


# -- how a score changes ---------------------------------------------------------------------------


def test_sums_share_a_step_and_factors_share_the_next() -> None:
    memory = holding("a", confidence={"a": 1.0}, kind={"a": "reflection"}, trust={"a": "system"})
    boosts: dict[str, Data] = {
        "sure": {"kind": "confidence", "weight": 0.25},
        "urgent": {"kind": "priority", "weight": 0.5, "table": {"P3": 0.5}},
        "double": {"kind": "reflection", "factor": 2.0},
        "trusted": {"kind": "trust", "alpha": 0.5},
        "late": {"kind": "confidence", "weight": 0.125},
    }
    result = boosted(memory, {"a": 1.0}, boosts)
    # (1 + 0.25 + 0.25) · 2 · (1 + 0.5 · 0.5) + 0.125
    assert ranked(result) == [("a", 1.5 * 2.0 * 1.25 + 0.125)]
    last, factors = result[0].explanation, result[0].explanation.parts[0]
    sums = factors.parts[0]
    assert [each.op for each in (last, factors, sums, sums.parts[0])] == [
        "sum", "product", "sum", "sum",
    ]  # fmt: skip
    assert [part.label for part in sums.parts] == ["fuse", "sure", "urgent"]
    assert [part.label for part in factors.parts] == ["boosted", "double", "trusted"]


def test_a_product_is_rounded_to_the_grid_once() -> None:
    memory = holding("a", kind={"a": "reflection"}, trust={"a": "system"})
    boosts: dict[str, Data] = {
        "third": {"kind": "reflection", "factor": 1 / 3},
        "trusted": {"kind": "trust", "alpha": 0.1},
    }
    assert ranked(boosted(memory, {"a": 1.0}, boosts)) == [("a", snap_one(1 / 3 * snap_one(1.05)))]


def test_a_boost_may_be_weighed_beside_lanes() -> None:
    memory = holding("a", "b", confidence={"b": 1.0})
    boosts = {"sure": {"kind": "confidence", "weight": 1.0}}
    fuse = {"kind": "weighted", "scale": "max", "weights": {"mine": 3.0, "sure": 1.0}}
    result = asked(memory, {"mine": {"a": 4.0, "b": 3.0}}, boosts=boosts, fuse=fuse)
    assert ranked(result) == [("b", 0.75 * 0.75 + 0.25), ("a", 0.75)]
    off = {**fuse, "weights": {"mine": 3.0, "sure": 0.0}}
    result = asked(memory, {"mine": {"a": 4.0, "b": 3.0}}, boosts=boosts, fuse=off)
    assert ranked(result) == [("a", 1.0), ("b", 0.75)]
    assert step_of(result, "sure").skipped == "its weight is 0"


def test_a_boost_that_is_off_is_told_and_changes_nothing() -> None:
    memory = holding("a", confidence={"a": 1.0})
    result = boosted(memory, {"a": 1.0}, {"sure": {"kind": "confidence", "enabled": False}})
    assert ranked(result) == [("a", 1.0)]
    assert step_of(result, "sure").skipped == "switched off"
    assert result.status == "complete"


def test_a_lane_may_add_its_raw_score() -> None:
    memory = holding("a", "b")
    lists = {"mine": {"a": 4.0, "b": 2.0}, "other": {"b": 0.75}}
    fuse = {"kind": "weighted", "scale": "max", "weights": {"mine": 1.0, "other": 0.0}}
    result = asked(memory, lists, fuse=fuse, applied=["other"])
    assert ranked(result) == [("b", 0.5 + 0.75), ("a", 1.0)]


# -- age -------------------------------------------------------------------------------------------

THREE = {"a": 1.0, "b": 1.0, "c": 1.0}


def test_positions_count_evenly_from_the_first_record_to_the_last() -> None:
    memory = holding("a", "b", "c")
    memory.update("a", text="later")  # a new version stands where the first one stood
    result = boosted(memory, THREE, {"age": {"kind": "recency", "weight": 0.5}})
    assert gains(result, "age") == {"c": 0.5, "b": 0.25, "a": 0.0}
    alone = boosted(holding("a"), {"a": 1.0}, {"age": {"kind": "recency", "weight": 0.5}})
    assert gains(alone, "age") == {"a": 0.5}


def test_cycles_halve_and_are_idle_without_one() -> None:
    memory = holding("a", "b", "c", cycle={"a": 10, "b": 14})
    age: Data = {"kind": "recency", "unit": "cycle", "half_life": 2.0}
    result = boosted(memory, THREE, {"age": age}, cycle=14)
    assert gains(result, "age") == {"b": 1.0, "a": 0.25, "c": 0.0}
    idle = boosted(memory, THREE, {"age": age})
    assert step_of(idle, "age").skipped.startswith("no cycle is given")
    assert idle.status == "complete"


def test_a_clock_is_the_questions_own() -> None:
    memory = holding("a", "b", created={"a": START - 6 * SECOND, "b": START + DAY})
    age: Data = {"kind": "recency", "unit": "seconds", "half_life": 3.0}
    result = boosted(memory, {"a": 1.0, "b": 1.0}, {"age": age}, now=START)
    assert gains(result, "age") == {"b": 1.0, "a": 0.25}
    days: Data = {"kind": "recency", "unit": "days", "alpha": 1.0}
    result = boosted(memory, {"a": 1.0, "b": 1.0}, {"age": days}, now=START + 4 * DAY)
    # 1 / (1 + 3) for b, hardly less than 1 / 5 for a; each leans by its distance from one half
    assert gains(result, "age")["b"] == 0.75
    assert gains(result, "age")["a"] == pytest.approx(0.7, abs=1e-4)


def test_what_a_lane_does_not_know_has_no_age_beside_it() -> None:
    memory = holding("a", "b")
    lists = {"mine": {"a": 1.0, "b": 1.0}, "other": {"b": 0.0}}
    fuse = {"kind": "weighted", "scale": "none", "weights": {"mine": 1.0, "other": 0.0}}
    age = {"kind": "recency", "beside": "other"}
    result = asked(memory, lists, fuse=fuse, boosts={"age": age}, applied=["age"])
    assert gains(result, "age") == {"b": 1.0}


def test_a_time_that_the_question_names_counts_by_distance() -> None:
    memory = holding(
        "a", "b", "c", created={"a": START - DAY, "b": START - 3 * DAY, "c": START},
        occurred={"c": START - DAY},
    )  # fmt: skip
    when: Data = {"kind": "moment", "weight": 0.5}
    result = boosted(memory, THREE, {"when": when}, text="yesterday", now=START)
    gained = gains(result, "when")
    assert gained["a"] == gained["c"] == 0.5
    assert 0.15 < gained["b"] < 0.25
    assert step_of(boosted(memory, THREE, {"when": when}), "when").skipped == (
        "the question names no time"
    )


# -- what a record says of itself ------------------------------------------------------------------


def test_importance_counts_from_one_half_by_how_well_the_lane_found_a_record() -> None:
    memory = holding("a", "b", "c", importance={"a": 1.0, "b": 0.25, "c": 1.0})
    lists = {"mine": {"a": 1.0, "b": 1.0, "c": 1.0}, "other": {"a": 4.0, "b": 2.0}}
    fuse = {"kind": "weighted", "scale": "none", "weights": {"mine": 1.0, "other": 0.0}}
    heavy = {"kind": "importance", "lane": "other", "matched": 0.5, "unmatched": 0.25}
    result = asked(memory, lists, fuse=fuse, boosts={"heavy": heavy}, applied=["heavy"])
    assert gains(result, "heavy") == {"a": 0.5 * 4 * 0.5, "b": -0.25 * 2 * 0.5, "c": 0.5 * 0.25}


def test_tables_say_what_priority_and_trust_are_worth() -> None:
    memory = holding("a", "b", priority={"a": "P1", "b": "P4"}, trust={"a": "external"})
    urgent: Data = {"kind": "priority", "table": {"P1": 0.75}}
    trusted: Data = {"kind": "trust", "alpha": 0.5}
    result = boosted(memory, {"a": 1.0, "b": 1.0}, {"urgent": urgent})
    assert gains(result, "urgent") == {"a": 0.75, "b": 0.0}
    result = boosted(memory, {"a": 1.0, "b": 1.0}, {"trusted": trusted})
    assert gains(result, "trusted") == {"b": 1.0, "a": 0.75}


def test_only_reflections_get_their_factor() -> None:
    memory = holding("a", "b", kind={"a": "reflection"})
    result = boosted(memory, {"a": 1.0, "b": 0.75}, {"less": {"kind": "reflection", "factor": 0.5}})
    assert ranked(result) == [("b", 0.75), ("a", 0.5)]


def test_an_intent_looks_at_the_best_and_multiplies() -> None:
    memory = holding(
        "a", "b", kind={"a": "document", "b": "preference"}, text={"a": "tips, a summary"}
    )
    wanted: Data = {"kind": "intent"}
    result = boosted(memory, {"a": 2.0, "b": 1.0}, {"wanted": wanted}, text="recommend a coffee")
    assert ranked(result) == [("b", snap_one(2.35)), ("a", snap_one(2.0 * snap_one(0.82 * 0.9)))]
    few = boosted(
        memory, {"a": 2.0, "b": 1.0}, {"wanted": {**wanted, "head": 1}}, text="recommend a coffee"
    )
    assert gains(few, "wanted") == {"a": snap_one(0.82 * 0.9)}
    assert step_of(boosted(memory, {"a": 1.0}, {"wanted": wanted}), "wanted").idle


def test_an_intent_looks_at_the_best_after_the_boosts_before_it() -> None:
    memory = holding("a", "b", kind={"a": "reflection", "b": "preference"})
    boosts: dict[str, Data] = {
        "less": {"kind": "reflection", "factor": 0.25},
        "wanted": {"kind": "intent", "head": 1},
    }
    result = boosted(memory, {"a": 2.0, "b": 1.0}, boosts, text="recommend a coffee")
    assert gains(result, "wanted") == {"b": snap_one(2.35)}


# -- who stands near -------------------------------------------------------------------------------


def test_cohesion_lifts_the_weak_beside_the_strong() -> None:
    memory = holding("a", "b", "c", "d", "e")
    scores = {"a": 1.0, "b": 4.0, "c": 1.0, "d": 3.5, "e": 0.5}
    near: Data = {"kind": "cohesion", "lane": "mine", "radius": 4, "most": 1.0, "strong": 3.75,
                  "weak": 3.25}  # fmt: skip
    result = boosted(memory, scores, {"near": near})
    # b is strong; d is neither; at 1, 1 and 3 records away: 1 - 1/4, 1 - 1/4, 1 - 3/4
    assert gains(result, "near") == {"a": 0.75, "b": 0.0, "c": 0.75, "d": 0.0, "e": 0.25}


def test_cohesion_may_keep_to_a_session() -> None:
    memory = holding("a", "b", "c", session={"a": "s", "b": "t", "c": "s"})
    near: Data = {"kind": "cohesion", "lane": "mine", "radius": 4, "most": 1.0, "strong": 2.0,
                  "weak": 2.0, "same_session": True}  # fmt: skip
    result = boosted(memory, {"a": 3.0, "b": 1.0, "c": 1.0}, {"near": near})
    assert gains(result, "near") == {"a": 0.0, "b": 0.0, "c": 0.5}


def test_a_session_lends_from_the_better_neighbour() -> None:
    sessions = {"a": "s", "b": "s", "c": "s", "d": "t"}
    memory = holding("a", "b", "c", "d", session=sessions)
    talk: Data = {"kind": "session", "weight": 0.5}
    result = boosted(memory, {"a": 1.0, "b": 0.25, "c": 2.0, "d": 3.0}, {"talk": talk})
    assert gains(result, "talk") == {"a": 0.125, "b": 1.0, "c": 0.125}
    assert {h.id: h.explanation.parts[1].facts for h in result if h.id == "b"} == {
        "b": {"row": "c", "score": 2.0}
    }


def test_neighbours_give_the_best_of_some_columns_over_their_edges() -> None:
    memory = holding("a", "b", "c", "d")
    memory.link("a", "b", weight=0.5)
    memory.link("c", "a", weight=1.0)
    memory.link("a", "d", weight=0.75)
    linked: Data = {"kind": "neighbours", "of": ["mine.score"], "decay": 0.5, "most": 2}
    result = boosted(memory, {"a": 1.0, "b": 4.0, "c": 2.0}, {"linked": linked})
    # a: its two heaviest edges lead to c and d, and d is no candidate
    assert gains(result, "linked") == {"a": 1.0 * 2.0 * 0.5, "b": 0.25, "c": 0.5}
    assert step_of(result, "linked").shows["lifted"] == 3


def test_sources_take_the_larger_score_and_may_be_brought_in() -> None:
    memory = holding("a", "b", "c", kind={"a": "reflection"})
    memory.link("a", "b", "consolidated_from", weight=0.5)
    memory.link("a", "c", "consolidated_from", weight=1.0)
    lanes = {"mine": {"kind": "list"}, "made": {"kind": "sources", "seeds": ["mine"]}}
    lift: Data = {"kind": "sources", "factor": 0.5}
    spec = {"lanes": lanes, "boosts": {"lift": lift}, "applied": ["lift"]}
    result = asked(memory, {"mine": {"a": 4.0, "b": 1.5}}, **spec)
    assert ranked(result) == [("a", 4.0), ("c", 2.0), ("b", 1.5)]
    assert [hit.explanation.op for hit in result] == ["max", "max", "max"]
    bare = asked(memory, {"mine": {"a": 4.0}}, lanes=lanes)
    assert ids(bare) == ["a"]  # brought in, and nothing gave it a score


@pytest.mark.parametrize(
    ("options", "lifted"),
    [
        ({}, {"x", "z"}),  # b is no reflection and lends nothing, whatever its edges
        ({"window": 3}, {"x"}),  # a, b, c
        ({"reflections": 2}, {"x"}),  # a and c, of which c has no source
        ({"ceiling": 1}, {"z"}),
        ({"ceiling": 1, "reflections": 1}, set()),  # a takes the place and lends nothing
        ({"kinds": ["fact"]}, {"z"}),
    ],
)
def test_the_first_reflections_of_the_window_lend_to_whom_they_may(
    options: Data, lifted: set[str]
) -> None:
    kinds = {"a": "reflection", "c": "reflection", "d": "reflection", "z": "fact"}
    memory = holding("a", "b", "c", "d", "x", "y", "z", kind=kinds)
    for source, target in (("a", "x"), ("a", "c"), ("b", "y"), ("d", "z")):
        memory.link(source, target, "consolidated_from", weight=1.0)
    lanes = {"mine": {"kind": "list"}}
    lift: Data = {"kind": "sources", "factor": 1.0, **options}
    scores = {"a": 4.0, "b": 3.5, "c": 3.0, "d": 2.0, "x": 1.0, "y": 1.0, "z": 1.0}
    spec = {"lanes": lanes, "boosts": {"lift": lift}, "applied": ["lift"]}
    got = dict(ranked(asked(memory, {"mine": scores}, **spec)))
    assert {id for id in "xyz" if got[id] > scores[id]} == lifted


@pytest.mark.parametrize("label", ["lift", "weight", "scaled"])
def test_a_boost_may_be_called_like_a_column_of_a_fusion_and_is_still_proved(label: str) -> None:
    memory = holding("a", "b", confidence={"a": 0.9, "b": 0.1})
    result = boosted(memory, {"a": 1.0, "b": 0.5}, {label: {"kind": "confidence"}})
    report = memoriter.verify(result.receipt)
    assert report.ok, report.problems
