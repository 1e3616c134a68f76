"""Questions about the past: how they are recognised, and what they bring back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START
from memoriter.text.past import past_words

NOW = int(datetime(2026, 4, 18, tzinfo=UTC).timestamp()) * 1_000_000
PAST: dict[str, Any] = {"select.superseded": "past"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who was my boss before Priit?", "before"),
        ("Which version were we on until the upgrade?", "until"),
        ("What did we use to build it originally?", "originally"),
        ("Where does she no longer work?", "no longer"),
        ("Who used to lead support?", "used to"),
        ("What is our old address?", "our old address"),
        ("Anna’s old number", "anna's old number"),
        ("the previous landlord", "previous"),
        ("What did we change it to, changed from what?", "changed from"),
        ("How many shops were in his first contract?", "his first"),
        ("What was the rent in March 2025?", "march 2025"),
    ],
)
def test_a_question_about_the_past_is_recognised(text: str, words: str) -> None:
    assert past_words(text, NOW) == words


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Who is my boss?",
        "What must be done before a release?",
        "How old is Tomos?",
        "Is she old enough?",
        "What did we do the day before we left?",
        "How many days before the wedding did she call?",
        "What was said today?",
        "What is due on the first of April?",
        "Has he got used to it?",
    ],
)
def test_a_question_about_the_present_is_not(text: str) -> None:
    assert past_words(text, NOW) is None


@given(st.text(), st.integers(-(10**18), 10**18))
def test_any_text_can_be_asked(text: str, now: int) -> None:
    assert past_words(text, now) == past_words(text, now)


def replaced() -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("I report to Deborah, my boss", id="old")
    memory.remember("my boss is Priit now", id="new", supersedes="old")
    memory.remember("a boss of a game", id="other")
    return memory


def test_what_was_superseded_comes_back_only_for_the_past_and_says_what_replaced_it() -> None:
    memory = replaced()
    present = memory.recall("who is my boss?", recipe="lexical", overrides=PAST)
    assert {hit.id for hit in present} == {"new", "other"}
    past = memory.recall("who was my boss before Priit?", recipe="lexical", overrides=PAST)
    assert {hit.id: hit.superseded_by for hit in past} == {"old": ("new",), "new": (), "other": ()}
    shown = "shown: the question asks about the past (before)"
    assert past.plan.steps[0].shows["superseded"] == shown
    assert shown in str(past.plan)
    assert "superseded" not in present.plan.steps[0].shows
    assert "superseded" in past.context()
    assert memoriter.verify(past.receipt).ok
    report = memory.why_not(present, "old")
    assert (report.stage, report.change) == (
        "superseded", {"overrides": {"select.superseded": "show"}},
    )  # fmt: skip


def lifted(memory: Memory, question: str, scores: dict[str, float], **spec: float) -> Any:
    """The caller's own scores, changed by the boost."""
    recipe = {
        "name": "given", "version": 1, "analyzer": "memoriter", "select": {"superseded": "show"},
        "lanes": {"own": {"kind": "list"}}, "boosts": {"once": {"kind": "past", **spec}},
        "pass": [{"fuse": {"kind": "weighted", "scale": "none", "weights": {"own": 1.0}},
                  "boosts": ["once"]}],
    }  # fmt: skip
    return memory.recall(question, recipe=recipe, lists={"own": list(scores.items())})


def test_a_superseded_record_gains_a_weight_and_a_share_of_what_took_its_place() -> None:
    memory = replaced()
    memory.remember("my boss is Ann from May on", id="newest", supersedes="old")
    scores = {"old": 0.25, "new": 1.0, "newest": 0.5, "other": 0.75}
    result = lifted(memory, "who was it before?", scores, weight=0.125, share=0.5)
    assert {hit.id: hit.score for hit in result} == {
        "new": 1.0, "old": 0.25 + 0.125 + 0.5 * 1.0, "other": 0.75, "newest": 0.5,
    }  # fmt: skip
    old = next(hit for hit in result if hit.id == "old")
    (lift,) = [part for part in old.explanation.parts if part.label == "once"]
    assert lift.facts["row"] == "new"
    assert memoriter.verify(result.receipt).ok


def test_without_a_question_about_the_past_the_boost_is_skipped() -> None:
    result = lifted(replaced(), "who is it?", {"old": 0.25, "new": 1.0})
    assert result[1].score == 0.25
    assert result.status == "complete"
    steps = {step.name: step.skipped for step in result.plan.steps}
    assert steps["once"] == "the question does not ask about the past"


def test_a_successor_that_is_no_candidate_lends_nothing() -> None:
    result = lifted(replaced(), "who was it before?", {"old": 0.25}, weight=0.125, share=0.5)
    assert result[0].score == 0.375
    assert memoriter.verify(result.receipt).ok


def test_a_fusion_may_weigh_it_beside_the_lanes() -> None:
    recipe = {
        "name": "given", "version": 1, "analyzer": "memoriter", "select": {"superseded": "show"},
        "lanes": {"own": {"kind": "list"}}, "boosts": {"once": {"kind": "past", "weight": 0.5}},
        "pass": [{"fuse": {"kind": "weighted", "scale": "none", "absent": "fixed",
                           "weights": {"own": 1.0, "once": 0.25}}}],
    }  # fmt: skip
    own = [("old", 0.25), ("new", 1.0)]
    result = replaced().recall("who was it before?", recipe=recipe, lists={"own": own})
    assert {hit.id: hit.score for hit in result} == {"new": 1.0, "old": 0.25 + 0.25 * 0.5}
    assert memoriter.verify(result.receipt).ok


def test_a_time_to_come_is_not_the_past() -> None:
    assert past_words("what was planned for next week?", START) is None
