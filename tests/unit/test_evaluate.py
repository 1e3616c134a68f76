"""Metrics against numbers worked out by hand, and the shape that each format is read into."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from memoriter.core.errors import InputError, NotFound
from memoriter.core.times import micros
from memoriter.embed.call import Patience
from memoriter.evaluate import run as eval_run
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord, longmemeval
from memoriter.evaluate.find import VARIABLE, find_datasets
from memoriter.evaluate.metrics import (
    all_at,
    hit_at,
    metrics_of,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from memoriter.evaluate.run import EvalOptions, evaluate
from memoriter.evaluate.score import score_run
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.spaces import patience_of
from memoriter.pipeline.load import recipe_of

RANKED = ["a", "x", "b", "y", "c"]
GOLD = {"b", "c", "lost"}


# --- metrics ---------------------------------------------------------------------------------


def test_recall_is_the_share_of_gold_that_was_found() -> None:
    assert recall_at(2, RANKED, GOLD) == 0.0
    assert recall_at(3, RANKED, GOLD) == 1 / 3
    assert recall_at(10, RANKED, GOLD) == 2 / 3


def test_a_hit_is_any_gold_record() -> None:
    assert hit_at(2, RANKED, GOLD) == 0.0
    assert hit_at(3, RANKED, GOLD) == 1.0


def test_ndcg_discounts_by_rank_and_divides_by_the_best_possible() -> None:
    # Gold at ranks 3 and 5: 1/log2(4) + 1/log2(6); three gold records at best at 1, 2, 3.
    best = 1.0 + 1 / math.log2(3) + 0.5
    assert ndcg_at(10, RANKED, GOLD) == pytest.approx((0.5 + 1 / math.log2(6)) / best, abs=1e-12)
    assert ndcg_at(3, RANKED, GOLD) == pytest.approx(0.5 / best, abs=1e-12)


def test_ndcg_of_a_perfect_answer_is_one_even_when_k_is_less_than_the_gold() -> None:
    assert ndcg_at(2, ["b", "c"], GOLD) == 1.0


def test_the_first_gold_record_decides_the_reciprocal_rank() -> None:
    assert reciprocal_rank(RANKED, GOLD) == 1 / 3
    assert reciprocal_rank(["a", "x"], GOLD) == 0.0


def test_mrr_looks_no_further_than_twenty() -> None:
    ranked = [f"x{n}" for n in range(20)]
    assert metrics_of([*ranked, "b"], {"b"})["MRR"] == 0.0
    assert metrics_of([*ranked[:19], "b"], {"b"})["MRR"] == 1 / 20


def test_all_at_needs_every_gold_record() -> None:
    assert all_at(5, RANKED, {"a", "c"}) == 1.0
    assert all_at(4, RANKED, {"a", "c"}) == 0.0


def test_all_at_ten_is_for_questions_that_need_every_gold_record() -> None:
    assert metrics_of(RANKED, GOLD, "list")["all@10"] == 0.0
    assert metrics_of(RANKED, {"a", "c"}, "twohop")["all@10"] == 1.0
    assert "all@10" not in metrics_of(RANKED, GOLD, "paraphrase")


# --- formats ---------------------------------------------------------------------------------


def locomo_data() -> list[dict[str, object]]:
    talk = {
        "speaker_a": "Ann",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I sold the car."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red kite"},
        ],
        "session_2_date_time": "some day",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Nice kite."}],
    }
    asked = [
        {"question": "Who has a kite?", "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "What was sold?", "evidence": ["D1:1", "D9:9"], "category": 4},
        {"question": "Never said?", "evidence": ["D1:1"], "category": 5},
        {"question": "Wrong evidence?", "evidence": ["D:1:1", "D7:7"], "category": 2},
        {"question": "No evidence?", "evidence": [], "category": 3},
    ]
    return [{"conversation": talk, "qa": asked}]


def test_locomo_turns_become_records_and_evidence_becomes_gold(tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text(json.dumps(locomo_data()))
    (dataset,) = find_datasets(tmp_path / "some.json")
    (case,) = dataset.cases
    noon = micros("2023-05-08T13:56:00Z", "created")
    assert case.records == (
        EvalRecord("D1:1", "Ann: I sold the car.", None, "1", noon, source={"who": "Ann"}),
        EvalRecord("D1:2", "Bob: Look! [a red kite]", None, "1", noon, source={"who": "Bob"}),
        EvalRecord("D2:1", "Ann: Nice kite.", None, "2", None, source={"who": "Ann"}),
    )
    assert case.questions == (
        EvalQuestion("Who has a kite?", frozenset({"D1:2", "D2:1"}), "1"),
        EvalQuestion("What was sold?", frozenset({"D1:1"}), "4"),
    )


def longmemeval_data() -> list[dict[str, object]]:
    def asked(name: str, session: str, *, answered: bool) -> dict[str, object]:
        turns = [
            {"role": "user", "content": f"My dog is called {session}.", "has_answer": answered},
            {"role": "assistant", "content": "What a name!"},
        ]
        return {
            "question_id": name,
            "question_type": "single",
            "question": f"What is the dog called, {session}?",
            "question_date": "2023/05/28 (Sun) 19:47",
            "haystack_dates": ["2023/05/21 (Sun) 19:50"],
            "haystack_session_ids": [session],
            "haystack_sessions": [turns],
        }

    return [
        asked("q1", "rex", answered=True),
        asked("q2", "ada", answered=True),
        asked("q3_abs", "tim", answered=False),
    ]


def test_longmemeval_is_asked_alone_and_pooled_without_abstentions() -> None:
    alone, pooled = longmemeval(longmemeval_data(), "x.json")
    assert [len(case.records) for case in alone.cases] == [2, 2]
    assert alone.cases[0].questions[0].gold == {"rex:0"}
    assert alone.cases[0].questions[0].now == micros("2023-05-28T19:47:00Z", "now")
    (case,) = pooled.cases
    assert [record.id for record in case.records] == ["rex:0", "rex:1", "ada:0", "ada:1"]
    assert case.records[0].text == "user: My dog is called rex."
    assert [question.gold for question in case.questions] == [{"rex:0"}, {"ada:0"}]


def beir_folder(folder: Path, judgements: str = "test") -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "1", "title": "Cells", "text": "Cells divide."},
        {"_id": "2", "title": "", "text": "Stars burn."},
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "what burns?"}\n')
    lines = "query-id\tcorpus-id\tscore\nq\t2\t1\nq\t1\t0\nq\tgone\t1\n"
    (folder / "qrels" / f"{judgements}.tsv").write_text(lines)
    return folder


@pytest.mark.parametrize("judgements", ["test", "dev"])
def test_a_beir_folder_is_read_with_the_judgements_it_has(tmp_path: Path, judgements: str) -> None:
    (dataset,) = find_datasets(beir_folder(tmp_path / "sky", judgements))
    (case,) = dataset.cases
    assert case.records == (
        EvalRecord("1", "Cells divide.", "Cells"),
        EvalRecord("2", "Stars burn."),
    )
    assert case.questions == (EvalQuestion("what burns?", frozenset({"2"}), judgements),)
    assert judgements in dataset.protocol


def test_a_folder_of_data_is_searched(tmp_path: Path) -> None:
    beir_folder(tmp_path / "sky")
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "a.json").write_text(json.dumps(locomo_data()))
    (tmp_path / "talk" / "b.json").write_text(json.dumps(longmemeval_data()))
    (tmp_path / "talk" / "README.md").write_text("not data")
    names = [dataset.name for dataset in find_datasets(tmp_path)]
    assert names == [
        "sky (BEIR)",
        "LoCoMo (a.json)",
        "LongMemEval (b.json)",
        "LongMemEval, pooled (b.json)",
    ]


def test_where_the_data_is_may_stand_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(beir_folder(tmp_path / "sky")))
    assert len(find_datasets(None)) == 1


@pytest.mark.parametrize("unset", [None, ""])
def test_without_data_the_error_says_how_to_name_it(
    monkeypatch: pytest.MonkeyPatch, unset: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if unset is not None:
        monkeypatch.setenv(VARIABLE, unset)
    with pytest.raises(NotFound) as caught:
        find_datasets(None)
    assert "--data" in caught.value.hint
    assert VARIABLE in caught.value.hint


def test_a_place_without_data_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find_datasets(tmp_path)
    with pytest.raises(NotFound):
        find_datasets(tmp_path / "gone")


@pytest.mark.parametrize(
    "text", ["not json", "{}", "[]", "3", '[{"x": 1}]', '[{"conversation": 1}]']
)
def test_a_file_of_another_format_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError):
        find_datasets(tmp_path / "x.json")


def numbered(*sizes: int) -> Dataset:
    cases = tuple(
        EvalCase(
            (EvalRecord("a", "a"),),
            tuple(EvalQuestion(f"{nth}.{n}", frozenset({"a"}), "") for n in range(size)),
        )
        for nth, size in enumerate(sizes)
    )
    return Dataset("numbered", "", cases)


def test_a_limit_spreads_over_the_questions() -> None:
    few = numbered(4, 1, 5).first(4)
    assert [q.text for case in few.cases for q in case.questions] == ["0.0", "0.2", "2.0", "2.2"]
    assert numbered(2).first(None).questions == 2
    assert numbered(2).first(9).questions == 2


# --- runs ------------------------------------------------------------------------------------


def test_recipes_are_scored_on_the_same_questions() -> None:
    records = (
        EvalRecord("port", "The ssh port is 49222"),
        EvalRecord("tea", "Ann drinks green tea"),
    )
    questions = (
        EvalQuestion("which ssh port?", frozenset({"port"}), "ops"),
        EvalQuestion("green tea", frozenset({"tea"}), "home"),
        EvalQuestion("quantum", frozenset({"tea"}), "home"),
        EvalQuestion("???", frozenset({"tea"}), "home"),
    )
    progress: list[int] = []
    recipes = {name: recipe_of(name) for name in ("lexical", "memoriter")}
    runs = evaluate(Dataset("x", "", (EvalCase(records, questions),)), recipes, progress.append)
    assert [run.label for run in runs] == ["lexical", "memoriter"]
    assert progress == list(range(1, 9))
    lexical = score_run(runs[0])
    assert lexical.questions == 4
    assert lexical.figures["R@10"].value == 0.5
    assert lexical.types["ops"]["MRR"].value == 1.0
    assert lexical.types["home"]["MRR"].value == 1 / 3


def test_an_evaluation_waits_longer_for_an_embedder_than_a_search_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Any] = []

    def opening(*args: Any, **options: Any) -> Memory:
        opened.append(options["embed_timeout"])
        return open_memory(*args, **options)

    monkeypatch.setattr(eval_run, "open_memory", opening)
    case = EvalCase((EvalRecord("tea", "Ann drinks green tea"),), ())
    evaluate(Dataset("x", "", (case,)), {"lexical": recipe_of("lexical")}, lambda _: None)
    (seconds,) = opened
    patience = patience_of(seconds)
    assert min(patience.query, patience.record) >= 60 * Patience().query


def test_every_embedder_of_an_evaluation_has_the_vectors_of_all_records() -> None:
    question = EvalQuestion("automobile", frozenset({"car"}), "")
    case = EvalCase((EvalRecord("car", "Ann bought a car"),), (question,))

    def best(*embedders: str) -> float:
        options = EvalOptions(embedders=embedders)
        recipes = {"semantic": recipe_of("semantic")}
        (run,) = evaluate(Dataset("x", "", (case,)), recipes, lambda _: None, options)
        return run.outcomes[0].reply.top or 0.0

    assert best("hash", "table") == best("table") > best("hash")
