"""Keywords and key phrases, counted by hand."""

from __future__ import annotations

import math

from memoriter.text.keywords import Phrases, frequent_words, phrases_of, words_of


def test_short_words_and_stop_words_say_nothing() -> None:
    assert words_of("It's 12 May: the Straße_1 was NEW") == ["may", "straße_1"]


def test_equal_counts_keep_the_order_of_the_texts() -> None:
    assert frequent_words(["zebra apple", "apple zebra pear"], 2) == ["zebra", "apple"]


def test_phrases_are_two_or_three_words_without_the_empty_ones_between() -> None:
    assert list(phrases_of("2027 and must be renewed")) == [
        "2027 must", "must renewed", "2027 must renewed",
    ]  # fmt: skip


def test_a_phrase_weighs_by_how_often_here_and_how_rarely_elsewhere() -> None:
    known = Phrases(["red car red car", "blue car", "red car", "sea"])
    weight = round(2 * math.log(5 / 3), 4)  # twice here, in two of four texts
    rest = round(math.log(5 / 2), 4)
    assert known.distinctive(["red car red car"], 2) == [("red car", weight), ("car red", rest)]
    assert known.distinctive(["sea"]) == []
