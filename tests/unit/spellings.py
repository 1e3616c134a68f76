"""Words that are spelled alike, by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoriter.index.dictionary import Dictionary
from memoriter.index.trigrams import Spellings


def similar_words(
    tokens: Iterable[str], words: Sequence[str], floor: float = 0.3
) -> dict[str, float]:
    """The words of a dictionary that resemble a token."""
    dictionary = Dictionary.of(sorted(set(words)))
    near = Spellings.of(dictionary).similar(tokens, floor)
    return {dictionary[ordinal]: similarity for ordinal, similarity in near.items()}
