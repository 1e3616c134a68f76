"""The word lane as a caller sees it: what matches, what it is worth, what is marked."""

from __future__ import annotations

from typing import Any

import pytest

import memoriter
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of


def lane(**changes: Any) -> dict[str, Any]:
    data = recipe_of("lexical").to_data()
    data["lanes"]["words"].update(changes)
    return data


def memory_of(*texts: str) -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember_many(texts)
    return memory


def texts_of(memory: Memory, query: str, **ask: Any) -> list[str]:
    return [hit.record.text for hit in memory.keywords(query, 50, **ask)]


def test_skipping_is_exact_where_most_records_lack_the_field() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    drafts: list[Any] = (
        [{"text": "x", "title": "rare"}] * 50
        + [{"text": "best", "title": "rare common"}]
        + [{"text": "x", "title": "common"}] * 700
        + [{"text": "x"}] * 2000
    )
    memory.remember_many(drafts)
    for least in (0.0, 1.0):
        spec = {"form": "row", "fields": {"title": 1.0}, "least_mean": least}
        first = memory.keywords("rare common", 1, recipe=lane(pool=1, **spec))[0]
        whole = memory.keywords("rare common", 1, recipe=lane(pool=10_000, **spec))[0]
        assert first.lanes["words"].score == whole.lanes["words"].score
        assert first.id == whole.id


def test_an_explanation_tells_the_mean_that_was_used() -> None:
    memory = memory_of("hello world hello", "hello there", *["..."] * 9, "foo bar baz qux")
    (term, *_) = memory.keywords("hello", recipe=lane(least_mean=0.0))[0].lanes["words"].why.parts
    facts: Any = term.facts
    assert facts["mean"] == 0.75
    norm = 1.2 * (0.25 + 0.75 * facts["length"] / facts["mean"])
    assert term.value == pytest.approx(facts["idf"] * facts["tf"] * 2.2 / (facts["tf"] + norm))


def test_what_a_query_takes_away_does_not_come_back() -> None:
    memory = memory_of("ssh prod password", "do not disturb", "a note")
    assert texts_of(memory, "ssh NOT prod") == []
    assert texts_of(memory, "foo NOT bar") == []
    assert texts_of(memory, "title:prod") == []


def test_a_word_that_counts_nothing_still_takes_away() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("apple pie", title="secret")
    memory.remember("apple tart", title="open")
    for fields in ({"text": 1.0, "title": 0.0}, {"text": 1.0}):
        assert texts_of(memory, "apple NOT title:secret", recipe=lane(fields=fields)) == [
            "apple tart"
        ]
    common = memory_of(*(f"common alpha {n}" for n in range(30)), "lone")
    gated = lane(gate={"text": 0.5})
    assert texts_of(common, "(lone OR 3) NOT common", recipe=gated) == ["lone"]
    assert texts_of(common, "3 AND common", recipe=gated) == ["common alpha 3"]


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Coffee is Good", '"Coffee"', "[Coffee] is Good"),
        ("Coffee is Good", "text:Coffee", "[Coffee] is Good"),
        ("Я живу в Москве", "в Москве", "Я живу [в] [Москве]"),
        ("naïve a plan", "naive a", "[naïve] [a] plan"),
        ("हिन्दी भाषा", "हिन्दी", "[हिन्दी] भाषा"),
        ("cafe\u0301 bar", "café", "[cafe\u0301] bar"),
        ("東京都の天気", "東京", "[東京]都の天気"),
        ("a\nline\nwith needle\nhere", "needles", "a\nline\nwith [needle]\nhere"),
    ],
)
def test_marks_stand_where_the_words_are(text: str, query: str, marked: str) -> None:
    assert memory_of(text).keywords(query)[0].snippet(80, ("[", "]")) == marked


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("see REQ-12/REQ-13", '"REQ-12"'),
        ("https://example.com/login", '"example.com"'),
        ("v1.2.3-rc1 is out", '"v1.2.3"'),
        ("open user_id.txt", '"user_id"'),
        ("open user_id now", "user_i* OR qq"),
        ("the year 2027", "202*"),
    ],
)
def test_identifiers_are_found_in_quotes_and_by_their_beginning(text: str, query: str) -> None:
    assert texts_of(memory_of(text, "something else"), query) == [text]


def test_a_long_phrase_of_one_word_is_read_once() -> None:
    memory = memory_of("a " * 20_000)
    assert len(memory.keywords('"' + "a " * 2000 + '"')) == 1


def test_boosts_stay_where_sums_are_exact() -> None:
    memory = memory_of(*(f"w{n} w{n + 1} w{n + 2}" for n in range(40)))
    recipe = lane(dialect="mnestic", fields={"text": 100.0})
    query = "w3^1.9401 OR w5^905799.7070 OR w9^568469.6859 OR w11^7425.9569 OR w12^3.3"
    for hit in memory.keywords(query, 50, recipe=recipe):
        assert hit.lanes["words"].why.value == hit.lanes["words"].score


def test_a_typing_error_names_the_word_and_its_field() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("expires in 2027", title="The passport")
    hit = memory.keywords("pasport")[0]
    assert hit.matched == {"passport": ["title"]}


def test_aliases_stand_for_a_word_in_our_dialect() -> None:
    memory = memory_of("the kubernetes cluster", "about k8s")
    assert texts_of(memory, "k8s", aliases={"k8s": ["kubernetes"]}) == ["the kubernetes cluster"]


@pytest.mark.parametrize("text", ["!!!", '"', "()", "\x00", "???", "🎉 NOT foo", "---"])
def test_a_query_without_words_is_an_empty_answer_and_no_error(text: str) -> None:
    result = memory_of("hello world").keywords(text, recipe=lane(ladder=False))
    assert (len(result), result.status) == (0, "complete")
    assert result.receipt.digest


def test_a_blank_query_is_an_error_that_says_why() -> None:
    with pytest.raises(memoriter.NothingToRun, match="no words"):
        memory_of("hello world").keywords("  ")


@pytest.mark.parametrize("recipe", ["memoriter", "lexical", "linked"])
def test_if_nothing_matches_our_recipes_try_misspelt_words_and_nothing_else(recipe: str) -> None:
    memory = memory_of("the passport expires")
    for text in ("pasport", "pasport's"):
        attempts = memory.recall(text, recipe=recipe).attempts
        assert [(each.name, bool(each.hits)) for each in attempts] == [
            ("initial", False),
            ("trigram_fuzzy", True),
        ]


def test_phrases_operators_and_aliases_work_in_the_default_recipe() -> None:
    memory = memory_of("I prefer oat milk", "milk made of oat", "the kubernetes cluster")
    assert [hit.record.text for hit in memory.recall('the "oat milk"')] == ["I prefer oat milk"]
    assert [hit.record.text for hit in memory.recall("milk NOT made")] == ["I prefer oat milk"]
    (hit,) = memory.recall("k8s", aliases={"k8s": ["kubernetes"]})
    assert hit.record.text == "the kubernetes cluster"


def test_a_word_that_an_expression_has_twice_is_explained_as_it_is_scored() -> None:
    with memoriter.open(embedder=None) as memory:
        memory.remember("the kettle is on the stove")
        (hit,) = memory.recall("kettle AND (kettle OR stove)", recipe="lexical")
        assert hit.lanes["words"].score == hit.lanes["words"].why.value
