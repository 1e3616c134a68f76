"""Words spelt alike: the trigrams of a dictionary, and what resembles a word by them."""

from __future__ import annotations

import pytest
from tests.unit.spellings import similar_words

from memoriter.index.dictionary import Dictionary
from memoriter.index.trigrams import Spellings
from memoriter.text.retry import jaccard, trigrams


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


def test_the_stored_arrays_are_read_back_as_they_were() -> None:
    made = Spellings.of(Dictionary.of(sorted({"banana", "bandana", "a-b", "é", "--"})))
    again = Spellings.read(made.arrays())
    assert again is not None
    assert all((one == other).all() for one, other in zip(made, again, strict=True))
    assert made.sizes.tolist() == [
        len(trigrams(word)) for word in ("--", "a-b", "banana", "bandana", "é")
    ]
