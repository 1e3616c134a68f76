"""Reliability: answers by relevance and verdicts by store, from answers written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memoriter.doors.cli.main import app
from memoriter.evaluate.data import EvalQuestion
from memoriter.evaluate.reliability import MOST_STORES, reliability_lines, reliability_of
from memoriter.evaluate.run import EvalOutcome, EvalReply, EvalRun, StoreReplies
from memoriter.pipeline.load import recipe_of


def outcome(gold: str, ids: str, relevance: float | None, strength: str = "weak") -> EvalOutcome:
    """An outcome whose answer has one-letter ids."""
    reply = EvalReply(tuple(ids), 1.0, relevance, strength)
    return EvalOutcome(EvalQuestion("?", frozenset(gold), "who"), reply)


def run_of(*outcomes: EvalOutcome) -> EvalRun:
    return EvalRun("x", recipe_of("memoriter"), list(outcomes))


RUN = run_of(
    outcome("a", "abc", 0.75),
    outcome("c", "abc", 0.7),
    outcome("z", "abc", 0.79),
    outcome("b", "bcd", 1.0, "strong"),
    outcome("b", "bcd", 0.9, "unknown"),
    outcome("", "bcd", 0.05, "none"),
    outcome("", "bcd", 0.71),
)


def test_answers_are_counted_by_the_stretch_of_their_relevance() -> None:
    bins = reliability_of(RUN).bins
    assert [(each.low, each.high) for each in bins[:2]] == [(0.0, 0.1), (0.1, 0.2)]
    assert [each.questions for each in bins] == [0, 0, 0, 0, 0, 0, 0, 3, 0, 1]
    assert (bins[7].first, bins[7].three) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (bins[9].first, bins[0].first) == (1.0, None)
    assert [each.unanswerable for each in bins] == [1, 0, 0, 0, 0, 0, 0, 1, 0, 0]


def test_questions_of_other_stores_and_without_gold_count_as_unanswerable() -> None:
    again = outcome("a", "abc", 0.75)._replace(without_gold=EvalReply(("b",), 1.0, 0.35, "weak"))
    run = run_of(again)
    run.cross.append(EvalReply(("b",), 1.0, 0.15, "none"))
    assert [each.unanswerable for each in reliability_of(run).bins][:4] == [0, 1, 0, 1]


def test_each_store_has_its_own_share_of_wrong_and_right_silence() -> None:
    run = run_of()
    wrong = [outcome("a", "ab", 0.1, "none"), outcome("a", "ab", 0.5), outcome("z", "ab", 0.1)]
    cross = [EvalReply(("a",), 1.0, 0.1, "none"), EvalReply((), None, 0.0, "none")]
    run.stores.update(home=StoreReplies(wrong, cross), work=StoreReplies([], []))
    home, work = reliability_of(run).stores
    assert home.wrongly_none is not None
    assert (home.wrongly_none.value, home.wrongly_none.questions) == (0.5, 2)
    assert home.cross_none is not None
    assert home.cross_none.value == 1.0
    assert (work.wrongly_none, work.cross_none) == (None, None)
    run.stores.update({str(n): StoreReplies([], []) for n in range(MOST_STORES)})
    assert reliability_of(run).stores == ()


def test_the_table_has_a_bar_as_long_as_hit_at_1() -> None:
    lines = list(reliability_lines(reliability_of(RUN)))
    rows = {line.split()[0]: line for line in lines if "–" in line}
    assert len(rows) == 10
    assert [rows[name].count("█") for name in ("0.0–0.1", "0.7–0.8", "0.9–1.0")] == [0, 7, 20]
    assert rows["0.7–0.8"].split()[1:4] == ["3", "33.3", "66.7"]
    assert rows["0.7–0.8"].endswith("1 50 %")


def test_a_recipe_without_relevance_says_so() -> None:
    plain = outcome("a", "abc", None)
    assert reliability_of(run_of(plain)).bins == ()
    (line,) = reliability_lines(reliability_of(run_of(plain)))
    assert "has no relevance" in line


def test_the_command_prints_it_on_request_only(tmp_path: Path) -> None:
    for name, text, question in (
        ("home", "The gate code is 4711", "What is the gate code?"),
        ("work", "The ssh port is 49222", "Which port does ssh use?"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memories.jsonl").write_text(json.dumps({"id": "a", "text": text}))
        asked = json.dumps({"question": question, "gold": ["a"]})
        (tmp_path / name / "questions.jsonl").write_text(asked)
    args = ["eval", "--data", str(tmp_path), "--recipe", "memoriter", "--cross"]
    plain = CliRunner().invoke(app, args).output
    shown = CliRunner().invoke(app, [*args, "--reliability"]).output
    assert "answers by relevance" not in plain
    assert "memoriter, answers by relevance" in shown
    assert [line.split()[0] for line in shown.splitlines()[-2:]] == ["home", "work"]
    (data,) = json.loads(CliRunner().invoke(app, [*args, "--reliability", "--json"]).output)["data"]
    relied = data["reliability"]["memoriter"]
    assert sum(each["questions"] for each in relied["bins"]) == 2
    assert sum(each["unanswerable"] for each in relied["bins"]) == 2
    assert [each["store"] for each in relied["stores"]] == ["home", "work"]
