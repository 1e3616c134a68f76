"""Memories and questions as JSON lines: what they are read into, how they are replayed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

import memoriter
from memoriter.core.errors import InputError
from memoriter.core.times import micros
from memoriter.evaluate.data import EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.find import VARIABLE, find_datasets
from memoriter.evaluate.run import EvalOptions, evaluate, questions_to_ask, steps_of
from memoriter.pipeline.load import recipe_of

Data = dict[str, object]
JAN, FEB, MAR = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
MEMORIES: list[Data] = [
    {"id": "old", "text": "The gate code is 1111.", "created": JAN, "tags": ["home"]},
    {"id": "new", "text": "The gate code is 2222.", "created": FEB, "supersedes": "old"},
    {
        "id": "chat", "text": "Halloumi, and chairs.", "created": FEB, "speaker": "Marcus",
        "session": "s1", "title": "Party", "kind": "plan", "occurred": JAN, "expires": MAR,
    },
]  # fmt: skip
QUESTIONS: list[Data] = [
    {"id": "q1", "question": "gate code?", "asked_at": FEB, "gold": ["new"], "type": "current"},
    {"id": "q2", "question": "gate code?", "asked_at": JAN, "gold": ["old"], "type": "current"},
    {"id": "q3", "question": "Halloumi?", "asked_at": FEB, "gold": ["chat"], "answerable": True},
    {"id": "q4", "question": "thanks!", "asked_at": FEB, "gold": [], "type": "smalltalk"},
]


def write(path: Path, lines: Iterable[Data]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def folder(
    place: Path, memories: Iterable[Data] = MEMORIES, questions: Iterable[Data] = QUESTIONS
) -> Path:
    write(place / "memories.jsonl", memories)
    write(place / "questions.jsonl", questions)
    return place


def case_of(place: Path) -> EvalCase:
    (dataset,) = find_datasets(place)
    (case,) = dataset.cases
    return case


# --- reading ---------------------------------------------------------------------------------


def test_a_folder_of_memories_and_questions_is_read_with_all_fields(tmp_path: Path) -> None:
    case = case_of(folder(tmp_path / "home"))
    jan, feb = micros(JAN, "created"), micros(FEB, "created")
    more = {"kind": "plan", "occurred": JAN, "expires": MAR}
    assert case.records == (
        EvalRecord("old", "The gate code is 1111.", created=jan, more={"tags": ["home"]}),
        EvalRecord("new", "The gate code is 2222.", created=feb, more={"supersedes": "old"}),
        EvalRecord(
            "chat", "Marcus: Halloumi, and chairs.", "Party", "s1", feb,
            source={"who": "Marcus"}, more=more,
        ),
    )  # fmt: skip
    assert case.questions == (
        EvalQuestion("gate code?", frozenset({"new"}), "current", feb),
        EvalQuestion("gate code?", frozenset({"old"}), "current", jan),
        EvalQuestion("Halloumi?", frozenset({"chat"}), "question", feb),
        EvalQuestion("thanks!", frozenset(), "smalltalk", feb),
    )
    assert case.replay


def test_a_role_is_a_speaker_and_is_not_written_twice(tmp_path: Path) -> None:
    memories: list[Data] = [
        {"text": "Mondays, 7:30", "role": "assistant"},
        {"text": "user: When?", "role": "user", "source": {"channel": "chat"}},
    ]
    one, two = case_of(folder(tmp_path, memories, [{"question": "?", "gold": 1}])).records
    assert (one.id, one.text, one.source) == ("1", "assistant: Mondays, 7:30", {"who": "assistant"})
    assert (two.id, two.text) == ("2", "user: When?")
    assert two.source == {"channel": "chat", "who": "user"}


def test_an_exported_memory_is_read_as_it_was_written(tmp_path: Path) -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("Ann drinks tea", id="tea", tags=["food"])
        memory.export(tmp_path / "memories.jsonl", where={})
    write(tmp_path / "questions.jsonl", [{"question": "?", "answer": "tea"}])
    (record,) = case_of(tmp_path).records
    assert (record.id, record.text, record.source) == ("tea", "Ann drinks tea", None)
    assert record.more["role"] == "memory"


def test_folders_beside_each_other_are_the_stores_of_one_data_set(tmp_path: Path) -> None:
    folder(tmp_path / "everyday" / "home")
    folder(tmp_path / "everyday" / "work")
    for place in (tmp_path / "everyday", tmp_path):
        (dataset,) = find_datasets(place)
        assert dataset.name == "everyday"
        assert len(dataset.cases) == 2
        assert dataset.questions == 8


def test_one_file_may_hold_both_and_an_answer_names_what_contains_it(tmp_path: Path) -> None:
    lines: list[Data] = [
        {"text": "The ssh port\nis 49222", "title": "Ops"},
        {"text": "Ann drinks green tea"},
        {"question": "Which port?", "answer": "port IS  49222"},
        {"question": "Which page?", "answer": ["nowhere", "ops"]},
        {"question": "Both", "answer": "of no use where gold is named", "gold": ["1", "2"]},
        {"question": "Who is Ben?", "answerable": False},
    ]
    (dataset,) = find_datasets(write(tmp_path / "mine.jsonl", lines))
    assert dataset.name == "mine.jsonl"
    golds = [question.gold for question in dataset.cases[0].questions]
    assert golds == [{"1"}, {"1"}, {"1", "2"}, frozenset()]
    assert [q.category for q in dataset.cases[0].questions[2:]] == ["question", "unanswerable"]


def test_memories_may_lie_beside_the_file_of_questions(tmp_path: Path) -> None:
    write(tmp_path / "memories.jsonl", MEMORIES)
    asked = write(tmp_path / "hard.jsonl", [{"question": "code?", "answer": "2222"}])
    case = case_of(asked)
    assert len(case.records) == 3
    assert case.questions[0].gold == {"new"}


def test_an_answer_is_looked_for_in_what_the_question_sees(tmp_path: Path) -> None:
    asked: list[Data] = [{"question": "code?", "answer": "gate code", "asked_at": JAN}]
    assert case_of(folder(tmp_path, MEMORIES, asked)).questions[0].gold == {"old"}


WRONG: list[tuple[Data, str]] = [
    ({"question": "?"}, "gold or answer: is required"),
    ({"question": "?", "gold": ["nosuch"]}, "'nosuch' is no memory"),
    ({"question": "?", "gold": ["new"], "asked_at": JAN}, "'new' is of a later time"),
    ({"question": "?", "gold": [["a"]]}, "expected a text or a list of texts"),
    ({"question": "?", "answer": "3333"}, "no memory contains it"),
    ({"question": "?", "gold": ["new"], "answerable": False}, "answerable: is False"),
    ({"question": "?", "gold": [], "answerable": True}, "there is no gold"),
    ({"question": " ", "gold": []}, "question: expected text"),
    ({"question": "?", "gold": [], "asked": JAN}, "unknown field 'asked'"),
    ({"question": "?", "gold": [], "asked_at": "soon"}, "asked_at"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_wrong_question_is_refused_with_its_line(
    tmp_path: Path, line: Data, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        find_datasets(folder(tmp_path, MEMORIES, [QUESTIONS[0], line]))
    assert "questions.jsonl:2: " in caught.value.message
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "old", "text": "again"}, "'old' comes twice"),
        ({"text": "x", "supersedes": "nosuch"}, "no earlier memory 'nosuch'"),
        ({"text": ""}, "text: must not be empty"),
        ({"id": "x"}, "text: is required"),
        ({"text": "x", "colour": "red"}, "colour: there is no such field"),
        ({"text": "x", "created": "soon"}, "created"),
    ],
)
def test_a_wrong_memory_is_refused_with_its_line(tmp_path: Path, line: Data, message: str) -> None:
    with pytest.raises(InputError) as caught:
        find_datasets(folder(tmp_path, [*MEMORIES, {"created": MAR, **line}], QUESTIONS))
    assert "memories.jsonl:4: " in caught.value.message
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", ":1: is not JSON"),
        ("[]", ":1: is not a JSON object"),
        ('{"answer": "x"}', ":1: neither a memory nor a question"),
        ('{"text": "a", "question": "b"}', ":1: neither a memory nor a question"),
        ('{"text": "a"}', "has no line with a question"),
        ('{"question": "a", "gold": []}', "has no line with a memory"),
    ],
)
def test_a_file_that_is_no_test_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        find_datasets(path)


# --- replaying -------------------------------------------------------------------------------


def test_a_question_sees_what_was_created_by_its_time(tmp_path: Path) -> None:
    case = case_of(folder(tmp_path, MEMORIES, [*QUESTIONS, {"question": "end", "gold": []}]))
    steps = [
        ([record.id for record in step.records], [place for place, _ in step.questions])
        for step in steps_of(case)
    ]
    assert steps == [(["old"], [1]), (["new", "chat"], [0, 2, 3]), ([], [4])]
    nows = [step.now for step in steps_of(case)]
    assert nows == [micros(JAN, ""), micros(FEB, ""), micros("2026-02-02T00:00:00Z", "")]


def test_the_answers_of_a_replay_are_those_of_each_moment(tmp_path: Path) -> None:
    (dataset,) = find_datasets(folder(tmp_path))
    (run,) = evaluate(dataset, {"lexical": recipe_of("lexical")}, lambda _: None)
    now, before, chat, _ = [outcome.reply.ids for outcome in run.outcomes]
    assert before == ("old",)
    assert now == ("new",)  # what it supersedes is hidden
    assert chat == ("chat",)


def test_a_question_is_asked_again_without_its_gold(tmp_path: Path) -> None:
    (dataset,) = find_datasets(folder(tmp_path))
    options = EvalOptions(remove_gold=True)
    (run,) = evaluate(dataset, {"lexical": recipe_of("lexical")}, lambda _: None, options)
    again = [outcome.without_gold for outcome in run.outcomes]
    assert again[3] is None  # it has no gold
    for outcome, reply in zip(run.outcomes[:3], again, strict=False):
        assert outcome.in_ten
        assert reply is not None
        assert not outcome.question.gold & set(reply.ids)


def test_each_store_is_asked_what_the_others_answer(tmp_path: Path) -> None:
    folder(tmp_path / "home")
    tea: Data = {"text": "Ann drinks tea", "created": JAN}
    folder(tmp_path / "tea", [tea], [{"question": "tea?", "gold": ["1"]}])
    (dataset,) = find_datasets(tmp_path)
    options = EvalOptions(cross=True)
    progress: list[int] = []
    (run,) = evaluate(dataset, {"lexical": recipe_of("lexical")}, progress.append, options)
    # The first store is asked for tea, the second the three answerable ones of the first.
    assert [reply.ids for reply in run.cross] == [(), (), (), ()]
    assert progress == list(range(1, 10))
    assert questions_to_ask(dataset, options) == 9
    assert questions_to_ask(dataset, EvalOptions()) == 5


def test_the_everyday_set_can_be_read_where_it_is() -> None:
    place = Path(os.environ.get(VARIABLE) or "nowhere") / "everyday"
    if not place.is_dir():
        pytest.skip(f"set {VARIABLE} to a folder that contains everyday/")
    (dataset,) = find_datasets(place)
    questions = [question for case in dataset.cases for question in case.questions]
    assert {"paraphrase", "past", "absent", "smalltalk"} <= {q.category for q in questions}
    assert all(case.replay for case in dataset.cases)
