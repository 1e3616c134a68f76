"""What engrava promises of its words: EN-11 to EN-21."""

from __future__ import annotations

import pytest
from tests.claims.corpus import (
    VECTOR,
    close,
    ids,
    note,
    open_empty,
    open_texts,
    scores,
    understood,
)

from memoriter.memory.facade import Memory
from memoriter.systems.engrava import dialect as engrava
from memoriter.why.result import Result


def ask(memory: Memory, text: str, limit: int | None = None) -> Result:
    return memory.keywords(text, limit, recipe="engrava")


BERLIN = [
    ("m02", 4.291834), ("m17", 3.112759), ("m10", 2.212977), ("m09", 2.082802), ("m01", 2.023293),
]  # fmt: skip


def test_en_11_words_alone_give_the_keyword_signal(corpus: Memory) -> None:
    result = corpus.keywords("pricing berlin", recipe="engrava")
    assert result.rows() == scores(result) == close(BERLIN)
    assert ids(ask(corpus, "pricing berlin", 2)) == ["m02", "m17"]
    assert result.plan.to_dict()["steps"][-1] == {"step": "limit", "limit": 10, "rows": 5}  # type: ignore[index]  # data


def test_en_12_bare_text_finds_records_that_share_any_word(corpus: Memory) -> None:
    result = ask(corpus, "what was my sister doing")
    assert understood(result.plan) == "what OR was OR my OR sister OR doing"
    assert set(ids(result)) == {"m02", "m03", "m04", "m05", "m08", "m19"}
    assert ids(result)[:2] == ["m03", "m04"]  # the rarest word weighs most


def test_en_12_there_is_no_stop_list_and_no_stemmer_and_any_language_will_do() -> None:
    memory = open_texts("the price", "prices", "Цена", "τιμή", "価格 表")
    assert ids(ask(memory, "the")) == ["r0"]
    assert ids(ask(memory, "prices")) == ["r1"]
    assert ids(ask(memory, "цена")) == ["r2"]
    assert ids(ask(memory, "ΤΙΜΉ")) == ["r3"]
    assert ids(ask(memory, "価格")) == ["r4"]


def test_en_12_a_very_common_word_still_orders_its_hits(corpus: Memory) -> None:
    result = corpus.recall("the", 4, recipe="engrava")
    assert max(score for _, score in scores(result)) < 3e-6
    expected = [("m07", 0.9), ("m10", 0.857143), ("m01", 0.801299), ("m18", 0.414286)]
    assert result.rows() == close(expected, 1e-3)


def test_en_13_a_quoted_phrase_is_the_exact_phrase(corpus: Memory) -> None:
    assert scores(ask(corpus, '"machine learning"')) == close([("m18", 3.761926)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pricing AND berlin", ["m02"]),
        ("(pricing OR hotel) AND berlin", ["m10", "m02"]),
        ("pricing OR berlin", ["m02", "m17", "m10", "m09", "m01"]),
        ("pricing NOT berlin", ["m17", "m01"]),
    ],
)
def test_en_14_operators_in_capitals_combine(
    corpus: Memory, text: str, expected: list[str]
) -> None:
    result = ask(corpus, text)
    assert ids(result) == expected
    assert note(result.plan) == ""


def test_en_14_small_operators_are_words(corpus: Memory) -> None:
    result = ask(corpus, "and or not")
    assert understood(result.plan) == "and OR or OR not"
    assert sorted(ids(result)) == ["m04", "m20"]


def test_en_14_and_keeps_the_score_of_both_words(corpus: Memory) -> None:
    assert scores(ask(corpus, "pricing AND berlin")) == close([("m02", 4.291834)])


def test_en_15_and_not_takes_away(corpus: Memory) -> None:
    expected = [("m17", 3.112759), ("m01", 2.023293)]
    assert scores(ask(corpus, "pricing AND NOT berlin")) == close(expected)
    memory = open_texts("a python snake", "python code", "snake and not python")
    assert ids(ask(memory, "python AND NOT snake")) == ["r1"]


@pytest.mark.parametrize("text", ["learn*", "LEARN*"])
def test_en_16_a_star_at_the_end_is_a_prefix(corpus: Memory, text: str) -> None:
    expected = [("m15", 2.360509), ("m18", 2.360509), ("m19", 2.212977)]
    assert scores(ask(corpus, text)) == close(expected)


def test_en_16_a_prefix_inside_bare_text_keeps_it_bare(corpus: Memory) -> None:
    expected = [("m10", 2.212977), ("m02", 2.145917), ("m09", 2.082802)]
    assert scores(ask(corpus, "neur* berlin")) == close(expected)
    assert set(ids(ask(corpus, "learn* berlin"))) == {"m02", "m09", "m10", "m15", "m18", "m19"}


def test_en_17_a_column_is_searched_alone(corpus: Memory) -> None:
    expected = [("m10", 1.609438), ("m02", 1.539462), ("m09", 1.475318)]
    for text in ("content:berlin", "CONTENT:Berlin", "essence:berlin", "Essence:BERLIN"):
        assert scores(ask(corpus, text)) == close(expected)


def test_en_17_essence_is_the_summary_or_the_first_200_characters() -> None:
    memory = open_empty()
    memory.remember("alpha " * 40 + "omega", id="long")
    memory.remember("alpha", id="told", summary="omega")
    assert ids(ask(memory, "essence:omega")) == ["told"]
    assert ids(ask(memory, "content:omega")) == ["long"]
    assert ids(ask(memory, "essence:alpha")) == ["long"]


def test_en_17_no_other_prefix_is_a_column(corpus: Memory) -> None:
    result = ask(corpus, "title:berlin")
    assert understood(result.plan) == "title OR berlin"
    assert ids(result) == ["m10", "m02", "m09"]


NORMAL = [
    ("what was my sister doing", "what OR was OR my OR sister OR doing", False),
    ("sister's", "sister OR s", False),
    ("http://example.com", "http OR example OR com", False),
    ("12:30", "12 OR 30", False),
    ('"machine learning"', '"machine learning"', True),
    ("python AND NOT snake", "python AND NOT snake", True),
    ("neur*", "neur*", False),
    ("content:berlin", "content:berlin", True),
    ("ESSENCE:Berlin", "ESSENCE:Berlin", True),
    ('he said "run', "he OR said OR run", False),
    ('"forum"?', '"forum"?', True),
    ("foo**", "foo*", False),
    ("a-b-c", '"a-b-c"', False),
    ("REQ-FUNC*", '"REQ-FUNC"*', False),
    ("NOT", "NOT", True),
    ("forum NOT body", "forum NOT body", True),
    ("and or not", "and OR or OR not", False),
    ("(pricing OR hotel) AND berlin", "(pricing OR hotel) AND berlin", True),
    ("l'école", "l OR école", False),
    ("!!!", "", False),
    ("x:y essence:z", "x y essence:z", True),
    ('""', "", False),
    ("C++ & C#", "C OR C", False),
    ("café-crème", '"café-crème"', False),
    ("12/05/2026", "12 OR 05 OR 2026", False),
    ("pricing*berlin", "pricing*berlin", False),
    ("__init__", "__init__", False),
    ("NEAR(a b)", "NEAR OR a OR b", False),
]


@pytest.mark.parametrize(("text", "form", "expert"), NORMAL)
def test_en_18_the_switch_between_bare_and_expert_is_as_tabled(
    text: str, form: str, *, expert: bool
) -> None:
    assert engrava.normal_form(text) == (form, expert)


def test_en_18_an_odd_number_of_quotes_is_bare() -> None:
    memory = open_texts("he", "said", "run", "berlin")
    result = ask(memory, 'he said "run')
    assert sorted(ids(result)) == ["r0", "r1", "r2"]
    assert sorted(ids(ask(memory, 'run AND "berlin'))) == ["r2", "r3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sister's", [("m03", 6.697430), ("m04", 2.668640)]),
        ("http://example.com", [("m13", 9.958039)]),
        ("12:30", [("m11", 6.088572), ("m09", 2.590151)]),
    ],
)
def test_en_19_punctuation_splits_words(
    corpus: Memory, text: str, expected: list[tuple[str, float]]
) -> None:
    assert scores(ask(corpus, text)) == close(expected)


@pytest.mark.parametrize("text", ["!!!", "!!! ???", "—", "🙂"])
def test_en_19_punctuation_alone_finds_nothing_and_keeps_the_weight_of_the_words(
    vectors: Memory, text: str
) -> None:
    result = vectors.recall(text, 3, recipe="engrava", vector=VECTOR)
    assert result.rows()[0] == ("m01", pytest.approx(0.648466, abs=1e-6))  # as for `zzqx` (EN-08)
    assert ids(result) == ["m01", "m08", "m18"]
    assert result.skipped == {}
    assert result.signals == ("fts5", "vector", "priority")
    alone = vectors.recall(text, recipe="engrava", overrides={"lanes.meaning.enabled": False})
    assert (alone.rows(), alone.signals, alone.status) == ([], ("fts5",), "complete")


@pytest.mark.parametrize("text", ["", "  ", "\t\n", "!!! ???"])
def test_en_11_words_alone_find_nothing_for_a_text_without_a_word(
    corpus: Memory, text: str
) -> None:
    result = ask(corpus, text)
    assert (result.rows(), result.status) == ([], "complete")


def test_en_20_hyphen_and_underscore_belong_to_words() -> None:
    memory = open_texts("a-b-c", "a b c", "REQ-FUNC-12", "REQ FUNC", "__init__", "init")
    assert ids(ask(memory, "a-b-c")) == ["r0"]
    assert ids(ask(memory, "REQ-FUNC*")) == ["r2"]
    assert ids(ask(memory, "req-func-12")) == ["r2"]
    assert ids(ask(memory, "__init__")) == ["r4"]
    assert ids(ask(memory, "init")) == ["r5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"pricing"?', ["m17", "m02", "m01"]),
        ("pricing AND (", ["m17", "m20", "m04", "m02", "m01"]),
        ("AND OR", ["m20", "m04"]),
        ('"zzqx"?', []),
    ],
)
def test_en_21_a_malformed_expression_is_tried_as_bare_words(
    vectors: Memory, text: str, expected: list[str]
) -> None:
    result = ask(vectors, text)
    assert ids(result) == expected
    assert "read as bare words" in note(result.plan)
    assert [step.shows.get("malformed") for step in result.plan.steps if step.name == "words"] == [
        1
    ]
    hybrid = vectors.recall(text, 20, recipe="engrava", vector=VECTOR)
    assert len(hybrid) >= 16
    assert [step.rows for step in hybrid.plan.steps if step.name == "words"] == [len(expected)]


def test_en_21_the_words_of_a_malformed_expression_keep_their_scores(corpus: Memory) -> None:
    expected = [("m17", 3.112759), ("m02", 2.145917), ("m01", 2.023293)]
    assert scores(ask(corpus, '"pricing"?')) == close(expected)
