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


def test_a_long_record_gains_less_for_its_words_for_a_time() -> None:
    result = ranked("when do we meet?", {"kind": "dated", "weight": 0.125, "words": 2})
    assert abs(changed(result)["asked"] - 0.125 * 2 / 5) < 2**-32
    assert memoriter.verify(result.receipt).ok


def test_a_receipt_with_another_gain_is_refused() -> None:
    receipt = ranked("when do we meet?", {"kind": "dated", "weight": 0.125}).receipt
    body = json.loads(receipt.to_bytes())
    body["slate"]["columns"]["reads.times"] = {"whole": [2, None, None, None]}
    problems = memoriter.verify(resealed(body)).problems
    assert any("reads.times" in problem for problem in problems)
