"""The boosts that read texts, by hand: records that ask, and records with words for a time."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.receipts import resealed

import memoriter

TEXTS = {
    "asked": "Which evening do we meet?",
    "quoted": 'Ann said: "why not?"',
    "answer": "Mondays, 7:30",
    "plain": "at my place",
}
SCORES = {"asked": 1.0, "quoted": 0.75, "answer": 0.5, "plain": 0.25}


def recipe_of(spec: dict[str, Any]) -> dict[str, Any]:
    """One lane of the caller, and one boost."""
    return {
        "name": "given", "version": 1, "analyzer": "memoriter",
        "lanes": {"own": {"kind": "list"}}, "boosts": {"reads": spec},
        "pass": [{"fuse": {"kind": "weighted", "scale": "none", "weights": {"own": 1.0}},
                  "boosts": ["reads"]}],
    }  # fmt: skip


def ranked(question: str, spec: dict[str, Any]) -> Any:
    """The caller's own scores, changed by one boost."""
    memory = memoriter.open(":memory:", embedder=None)
    for id, text in TEXTS.items():
        memory.remember(text, id=id)
    return memory.recall(question, recipe=recipe_of(spec), lists={"own": list(SCORES.items())})


def changed(result: Any) -> dict[str, float]:
    return {hit.id: hit.score - SCORES[hit.id] for hit in result if hit.score != SCORES[hit.id]}


def test_a_record_that_ends_in_a_question_loses() -> None:
    result = ranked("when do we meet?", {"kind": "asking", "weight": 0.125})
    assert changed(result) == {"asked": -0.125, "quoted": -0.125}
    (part,) = [part for part in result[0].explanation.parts if part.label == "reads"]
    assert part.facts["asks"] == 1.0
    assert memoriter.verify(result.receipt).ok


def test_a_record_with_words_for_a_time_gains_where_the_question_asks_when() -> None:
    result = ranked("when do we meet?", {"kind": "dated", "weight": 0.125})
    assert changed(result) == {"asked": 0.125, "answer": 0.125}
    assert memoriter.verify(result.receipt).ok


def test_another_question_leaves_words_for_a_time_alone() -> None:
    result = ranked("where do we meet?", {"kind": "dated"})
    assert changed(result) == {}
    assert result.status == "complete"
    steps = {step.name: step.skipped for step in result.plan.steps}
    assert steps["reads"] == "the question asks for no time"


def test_a_record_that_says_something_and_then_asks_loses_by_the_share_that_asks() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("We moved on Monday. Coming?", id="both")  # one of five words asks
    memory.remember("Coming? We moved.", id="says")
    spec = {"kind": "asking", "weight": 0.128}
    own = {"own": [("both", 1.0), ("says", 0.5)]}
    result = memory.recall("moved", recipe=recipe_of(spec), lists=own)
    both, says = result
    (part,) = [part for part in both.explanation.parts if part.label == "reads"]
    assert part.facts["asks"] == 26 / 128  # a fifth, in steps of 1/128
    assert abs(both.score - (1.0 - 0.026)) < 2**-32
    assert says.score == 0.5
    assert memoriter.verify(result.receipt).ok


def test_a_long_record_gains_less_for_its_words_for_a_time() -> None:
    result = ranked("when do we meet?", {"kind": "dated", "weight": 0.125, "words": 2})
    assert abs(changed(result)["asked"] - 0.125 * 2 / 5) < 2**-32
    assert memoriter.verify(result.receipt).ok


def test_a_receipt_with_another_gain_is_refused() -> None:
    for kind, mark in (("asking", "asks"), ("dated", "times")):
        receipt = ranked("when do we meet?", {"kind": kind, "weight": 0.125}).receipt
        body = json.loads(receipt.to_bytes())
        body["slate"]["columns"][f"reads.{mark}"] = {"whole": [2, None, None, None]}
        problems = memoriter.verify(resealed(body)).problems
        assert any(f"reads.{mark}" in problem for problem in problems)
