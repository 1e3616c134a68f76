"""The bench that asks the installed programs: what they are given, and how answers are scored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.installed import (
    Moment,
    bare_cases,
    engrava_case,
    ids_of,
    mnestic_case,
    moments_of,
    run,
    titled,
    worded,
)
from bench.tools import Options, figures
from tools.bench_data import VARIABLE

from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord

RECORDS = (
    EvalRecord("later", "the code is 20", created=20),
    EvalRecord("early", "the code is 10", title="Door", created=10),
)


def question(text: str, now: int | None, *gold: str) -> EvalQuestion:
    return EvalQuestion(text, frozenset(gold), "shared", now)


def test_a_question_sees_only_the_records_that_were_written_by_its_time() -> None:
    asked = (question("at the end?", None), question("then?", 20), question("before?", 15))
    moments = list(moments_of(EvalCase(RECORDS, asked, replay=True)))
    seen = {
        each.text: [record.id for record in moment.records]
        for moment in moments
        for each in moment.questions
    }
    assert seen == {
        "before?": ["early"],
        "then?": ["early", "later"],
        "at the end?": ["early", "later"],
    }


def test_a_store_that_is_not_replayed_is_asked_once_with_all_records() -> None:
    asked = (question("one?", 5), question("two?", 30))
    (moment,) = moments_of(EvalCase(RECORDS, asked))
    assert (tuple(moment.records), tuple(moment.questions)) == (RECORDS, asked)


def test_both_programs_get_the_same_texts_and_vectors_and_no_option_of_a_search() -> None:
    moment = Moment(RECORDS, [question("Which code, NOT the old one?", 30, "later")])
    records = {titled(RECORDS[0]): np.array([1.0, 0.0], np.float32), titled(RECORDS[1]): None}
    questions = {"Which code, NOT the old one?": np.array([0.5, 0.5], np.float32)}
    engrava: Any = engrava_case(moment, records, questions)
    mnestic: Any = mnestic_case(moment, records, questions, " OR ")
    notes = [
        ("later", "the code is 20", [1.0, 0.0]),
        ("early", "Door\nthe code is 10", None),
    ]
    for case in (engrava, mnestic):
        assert [(each["id"], each["text"], each["vector"]) for each in case["notes"]] == notes
        assert [each["vector"] for each in case["questions"]] == [[0.5, 0.5]]
    assert engrava["questions"][0]["text"] == "Which code, NOT the old one?"
    assert engrava["questions"][0]["knobs"] == {}
    assert mnestic["questions"][0]["text"] == "which OR code OR not OR the OR old OR one"
    assert not {"vector_k", "ef", "fts_k", "rrf_k", "limit"} & set(mnestic["questions"][0])


def test_bare_stores_have_ids_and_texts_alone_and_are_not_replayed() -> None:
    asked = (question("before?", 15, "early"),)
    dataset = Dataset("own", "", (EvalCase(RECORDS, asked, replay=True),))
    (case,) = bare_cases(dataset)
    assert case == EvalCase((EvalRecord("early", "Door\nthe code is 10"),), asked)


def test_a_question_of_marks_alone_has_no_words() -> None:
    assert worded("?!", " OR ") == ""


def test_the_ids_of_both_shapes_of_answers_keep_their_order() -> None:
    rows = [["b", 0.9], ["a", 0.1]]
    assert ids_of(rows) == ids_of({"rows": rows, "notes": ["fts5"]}) == ["b", "a"]


def test_figures_are_means_over_the_questions_that_have_gold() -> None:
    answers = [(["a", "b"], {"a"}), (["c", "a"], {"a"}), (["c"], set[str]())]
    # nDCG of a gold record in the second place: 1 / log2(3) = .631
    assert figures(answers) == ["50.0", "100.0", "100.0", "81.5"]
    assert figures([(["c"], set[str]())]) == ["–", "–", "–", "–"]


def test_without_data_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    for options in (
        Options(small=False, profile=False),
        Options(small=False, profile=False, data=tmp_path / "nowhere"),
    ):
        run(options)
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith("no data here: ")


def test_without_the_package_index_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "memories.jsonl").write_text('{"id": "a", "text": "tea"}\n', "utf-8")
    (tmp_path / "questions.jsonl").write_text('{"question": "tea?", "gold": ["a"]}\n', "utf-8")
    others = tmp_path / "others" / "bin"
    others.mkdir(parents=True)
    fails = f"#!{sys.executable}\nimport sys\nsys.exit('ERROR: no index')\n"
    (others / "python").write_text(fails, "utf-8")
    (others / "python").chmod(0o755)
    monkeypatch.setenv("MEMORITER_SIDEBYSIDE_VENV", str(others.parent))
    run(Options(small=False, profile=False, data=tmp_path))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("the programs cannot be installed")
    assert line.endswith("ERROR: no index")
