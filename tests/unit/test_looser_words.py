"""The words of a second try."""

from __future__ import annotations

import pytest

from memoriter.systems.jeffs_brain.dialect import longest_word
from memoriter.text.retry import content_words, sanitised, trigrams


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
