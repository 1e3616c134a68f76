"""What Comis promises of its words: CO-15 to CO-17."""

from __future__ import annotations

import pytest
from tests.claims.corpus import VECTOR, ids, open_empty, open_texts, scores, understood

from memoriter.memory.facade import Memory
from memoriter.why.result import Result


def ask(memory: Memory, text: str) -> Result:
    return memory.recall(text, 100, recipe="comis")


def test_co_15_scores_are_positive_and_the_denser_record_is_first() -> None:
    memory = open_texts(
        "A deadline somewhere in a long note about lunch, weather, travel and the dog",
        "deadline deadline",
        "nothing here",
        "nor here",
        "nor there",
    )
    result = ask(memory, "deadline")
    assert ids(result) == ["r1", "r0"]
    assert all(score > 0 for _, score in scores(result))


def test_co_15_run_finds_running() -> None:
    memory = open_texts("running", "resting")
    assert ids(ask(memory, "run")) == ["r0"]
    assert ids(ask(memory, "Runs")) == ["r0"]


def test_co_15_tags_are_not_searched() -> None:
    memory = open_empty()
    memory.remember("lunch", id="tagged", tags=["deadline"], title="deadline", summary="deadline")
    memory.remember("deadline", id="written")
    assert ids(ask(memory, "deadline")) == ["written"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("dentist appointment", "dentist OR appointment"),
        ("what have we built together", "built OR together"),
        ("и", "и"),
        ("the 日本語 is great", "日本語 OR great"),
        ("the שלום and مرحبا", "שלום OR مرحبا"),
        ('in"side', "inside"),
    ],
)
def test_co_16_stop_words_are_dropped_from_latin_words_only(text: str, kept: str) -> None:
    assert understood(open_texts("x").plan(text, recipe="comis")) == kept


@pytest.mark.parametrize("text", ["", "   ", "!!!", "what is the", "The AND of"])
def test_co_16_without_a_word_left_vectors_alone_answer(vectors: Memory, text: str) -> None:
    result = vectors.recall(text, 3, recipe="comis", vector=VECTOR)
    assert ids(result) == ["m18", "m13", "m08"]
    assert (result.used, result.skipped) == (("meaning",), {"words": "the query has no words"})


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("日本語の本", ["日本", "日本語", "本", "語の本"]),
        ("我们明天下午三点在北京开会讨论预算", ["北京", "明天下午", "讨论预算", "北京开会讨论"]),
        ("Завтра совещание по бюджету и планам", ["совещание", "БЮДЖЕТУ", "и"]),
        ("اجتماع الميزانية غدا في القاهرة", ["الميزانية", "القاهرة"]),
    ],
)
def test_co_17_text_of_any_script_is_found_by_its_parts(text: str, queries: list[str]) -> None:
    memory = open_texts("an English note", text, "東京タワー", "другое", "شيء آخر")
    for query in queries:
        assert ids(ask(memory, query))[0] == "r1"
    assert ids(ask(memory, "京北")) == []
