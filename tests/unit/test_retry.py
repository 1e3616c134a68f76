"""The words of a second try, and words spelt alike."""

from __future__ import annotations

import pytest

from memoriter.text import retry
from memoriter.text.retry import (
    content_words,
    jaccard,
    longest_word,
    sanitised,
    similar_words,
    trigrams,
)


def never(word: str) -> int:
    return 0


@pytest.mark.parametrize(
    ("text", "strong", "words", "clean"),
    [
        ("kubernets", "kubernets", ["kubernets"], "kubernets"),
        (
            "what is the oude reimer status?",
            "reimer",
            ["oude", "reimer", "status"],
            "what is the oude reimer status",
        ),
        ("!!!hello, world???", "hello", ["hello", "world"], "hello world"),
        ("the and or", None, [], "the and or"),
        ("Any tips for planning my weekend?", None, [], "Any tips for planning my weekend"),
        ("version 1.29 of k8s", "version", ["version", "k8s"], "version 1 29 of k8s"),
        ("naïve café–bar 50€", "naïve", ["naïve", "café", "bar"], "naïve café bar 50"),
        ("((pricing))!!", "pricing", ["pricing"], "pricing"),
        ("list List LIST", "list", ["list"], "list List LIST"),
        ("a_b\u00a0c", None, [], "a b c"),
        ("", None, [], ""),
        ("🎉 \ud800\0", None, [], "\ud800\0"),
    ],
)
def test_a_query_is_reduced_to_its_strongest_words(
    text: str, strong: str | None, words: list[str], clean: str
) -> None:
    assert sanitised(text) == clean
    assert content_words(text) == words
    assert longest_word(text, never) == strong


@pytest.mark.parametrize(
    ("frequencies", "strong"),
    [
        ({}, "hello"),
        ({"hello": 4, "world": 3}, "world"),
        ({"hello": 4, "world": 0}, "hello"),
        ({"hello": 4, "world": 4}, "hello"),
        ({"bye": 1}, "hello"),
    ],
)
def test_of_equally_long_words_the_rarest_that_occurs_is_strongest(
    frequencies: dict[str, int], strong: str
) -> None:
    assert longest_word("hello world bye", lambda word: frequencies.get(word, 0)) == strong


def test_trigrams_are_windows_of_padded_words() -> None:
    assert trigrams("bosch") == {"$bo", "bos", "osc", "sch", "ch$"}
    assert trigrams("Oude-Reimer") == trigrams("oude") | trigrams("reimer")
    assert trigrams("snake_case") == trigrams("snake case")
    assert trigrams("a") == {"$a$"}
    assert trigrams("!!!") == frozenset()


@pytest.mark.parametrize(
    ("token", "word", "similarity"),
    [
        ("kubernets", "kubernetes", 0.5833),
        ("cofee", "coffee", 0.5714),
        ("pasport", "passport", 0.6667),
        ("dentits", "dentist", 0.40),
        ("berlni", "berlin", 0.3333),
        ("sourdoh", "sourdough", 0.4545),
        ("bosh", "bosch", 0.2857),
        ("kubernetes", "kubernetes-cluster-setup", 0.4545),
        ("reimer", "oude-reimer", 0.6),
    ],
)
def test_misspelt_words_are_near_to_what_was_meant(
    token: str, word: str, similarity: float
) -> None:
    assert jaccard(trigrams(token), trigrams(word)) == pytest.approx(similarity, abs=5e-5)
    hits = similar_words([token], [word])
    assert hits == ({word: pytest.approx(similarity, abs=5e-5)} if similarity >= 0.3 else {})


def test_the_best_token_counts_and_short_ones_are_not_tried() -> None:
    words = ["coffee", "berlin", "ai", "tea"]
    hits = similar_words(["cofee", "ai", "berlin", "coffee"], words)
    assert hits == {"coffee": 1.0, "berlin": 1.0}
    assert similar_words(["ai"], words) == {}
    assert similar_words([], words) == {}
    assert similar_words(["coffee"], []) == {}
    assert similar_words(["!!!!"], words) == {}


def test_a_word_that_shares_exactly_the_floor_is_near() -> None:
    assert jaccard(trigrams("abcd"), trigrams("abcdefghi")) == 0.3
    assert similar_words(["abcd"], ["abcdefghi"]) == {"abcdefghi": 0.3}


def test_of_a_large_vocabulary_few_words_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut: list[str] = []
    monkeypatch.setattr(retry, "trigrams", lambda word: cut.append(word) or trigrams(word))
    words = [f"{first}{nth}{last}" for nth in range(25_000) for first in "kc" for last in "sx"]
    words.append("kubernetes")
    assert similar_words(["kubernets", "cofee", "upgrde"], words) == {
        "kubernetes": pytest.approx(7 / 12)
    }
    assert cut == ["kubernets", "cofee", "upgrde", "kubernetes"]
