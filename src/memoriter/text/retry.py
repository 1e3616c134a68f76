"""Weaker queries for a search without hits: its longest word, its plain words, similar spellings.

Pure functions. The retry ladder of the `bm25` lane decides which are tried, and in which order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.text.stops import RETRY_STOPS

_SHORTEST: Final = 3
_ASCII_MARKS: Final = re.compile(r"[!-/:-@\[-`{-~]+")
_WORDS: Final = re.compile(r"[^\W_]+")
_WIDTH: Final = 3
_PAD: Final = "$"


def sanitised(text: str) -> str:
    """The text without punctuation and symbols, with single spaces; case is kept.

    >>> sanitised("((pricing))!!  v1.29")
    'pricing v1 29'
    """
    if text.isascii():
        return " ".join(_ASCII_MARKS.sub(" ", text).split())
    category = unicodedata.category
    return " ".join("".join(" " if category(one)[0] in "PS" else one for one in text).split())


def content_words(text: str) -> list[str]:
    """The distinct words of three letters or more that are no stop words, in order."""
    words = sanitised(text).lower().split()
    return list(
        dict.fromkeys(word for word in words if len(word) >= _SHORTEST and word not in RETRY_STOPS)
    )


def longest_word(text: str, df: Callable[[str], int]) -> str | None:
    """The longest content word; ties go to the rarest one that occurs at all, then to the first.

    `df` returns the document frequency of a word. None if the text has no content word.

    >>> longest_word("what is the oude reimer status?", {"status": 3, "reimer": 2}.__getitem__)
    'reimer'
    """
    words = content_words(text)
    longest = max(map(len, words), default=0)
    tied = [word for word in words if len(word) == longest]
    if len(tied) <= 1:
        return next(iter(tied), None)
    return min(tied, key=lambda word: df(word) or math.inf)


def trigrams(text: str) -> frozenset[str]:
    """The character trigrams of its words, each word padded with `$` on both sides.

    >>> sorted(trigrams("Bosch"))
    ['$bo', 'bos', 'ch$', 'osc', 'sch']
    """
    padded = [f"{_PAD}{word}{_PAD}" for word in _WORDS.findall(text.lower())]
    return frozenset(word[at : at + _WIDTH] for word in padded for at in range(len(word) - 2))


def jaccard(one: Set[str], other: Set[str]) -> float:
    """The Jaccard index of two sets: |A ∩ B| / |A ∪ B|, 0 for two empty ones.

    >>> round(jaccard(trigrams("kubernets"), trigrams("kubernetes")), 4)
    0.5833
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def similar_words(
    tokens: Iterable[str], words: Iterable[str], floor: float = 0.3
) -> dict[str, float]:
    """The words spelt like one of the tokens, each with its similarity to the closest token.

    Similarity is the Jaccard index of their trigrams, above 0 and at least `floor`. Tokens of fewer
    than three letters are skipped. Made for vocabularies of a hundred thousand words: one pass in
    NumPy drops the words that share too few trigrams to reach the floor.
    """
    grams = [trigrams(token) for token in dict.fromkeys(tokens) if len(token) >= _SHORTEST]
    sizes = [len(each) for each in grams]
    having: dict[str, list[int]] = {}  # trigram -> the tokens that have it
    for nth, each in enumerate(grams):
        for gram in each:
            having.setdefault(gram, []).append(nth)
    if not having:
        return {}
    # |A ∩ B| / |A ∪ B| ≥ floor implies |A ∩ B| ≥ floor · |A|; the slack absorbs rounding.
    least = max(1, math.ceil(floor * min(size for size in sizes if size) - 1e-9))
    similar: dict[str, float] = {}
    for word in _prefiltered(list(dict.fromkeys(words)), list(having), least):
        best = _best(trigrams(word), having, sizes)
        if best >= floor:
            similar[word] = best
    return similar


def _best(grams: Set[str], having: Mapping[str, Sequence[int]], sizes: Sequence[int]) -> float:
    """The highest Jaccard index of a set with one of the sets that `having` inverts."""
    shared: dict[int, int] = {}
    for gram in grams:
        for nth in having.get(gram, ()):
            shared[nth] = shared.get(nth, 0) + 1
    whole = len(grams)
    return max((both / (whole + sizes[nth] - both) for nth, both in shared.items()), default=0.0)


def _prefiltered(words: Sequence[str], grams: Sequence[str], least: int) -> list[str]:
    """The words that have at least `least` of the trigrams, or seem to: repeats count twice."""
    lowered = map(str.lower, words)
    padded = [f"${low}$" if low.isalnum() else _runs(low) for low in lowered]
    windows = _windows("\n".join(padded))
    wanted = np.concatenate([_windows(gram) for gram in grams])
    hits = np.flatnonzero(np.isin(windows, wanted))
    ends = np.cumsum([len(each) + 1 for each in padded])
    counts = np.bincount(np.searchsorted(ends, hits, side="right"), minlength=len(words))
    return [words[nth] for nth in np.flatnonzero(counts >= least).tolist()]


def _runs(text: str) -> str:
    return _PAD + _PAD.join(_WORDS.findall(text)) + _PAD


def _windows(text: str) -> NDArray[np.uint64]:
    """Every three adjacent characters packed into one integer: a code point takes 21 bits."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    shift = np.uint64(21)
    return (((points[:-2] << shift) | points[1:-1]) << shift) | points[2:]
