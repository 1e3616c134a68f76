"""What a search without hits is tried with: the content words of its text, similar spellings.

Pure functions; `lanes.fuzzy` and the dialects call them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.text.stops import RETRY_STOPS

_SHORTEST: Final = 3
_ASCII_MARKS: Final = re.compile(r"[!-/:-@\[-`{-~]+")
_WORDS: Final = re.compile(r"[^\W_]+")
_WIDTH: Final = 3
PAD: Final = "$"


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


def trigrams(text: str) -> frozenset[str]:
    """The character trigrams of its words, each word padded with `$` on both sides.

    >>> sorted(trigrams("Bosch"))
    ['$bo', 'bos', 'ch$', 'osc', 'sch']
    """
    padded = [f"{PAD}{word}{PAD}" for word in _WORDS.findall(text.lower())]
    return frozenset(word[at : at + _WIDTH] for word in padded for at in range(len(word) - 2))


def jaccard(one: Set[str], other: Set[str]) -> float:
    """The Jaccard index of two sets: |A ∩ B| / |A ∪ B|, 0 for two empty ones.

    >>> round(jaccard(trigrams("kubernets"), trigrams("kubernetes")), 4)
    0.5833
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def question_trigrams(tokens: Iterable[str]) -> list[NDArray[np.uint64]]:
    """The trigrams of each distinct token of three letters or more, packed by `windows`."""
    asked = [token for token in dict.fromkeys(tokens) if len(token) >= _SHORTEST]
    return [
        np.concatenate([np.zeros(0, np.uint64), *map(windows, sorted(trigrams(token)))])
        for token in asked
    ]


def windows(text: str) -> NDArray[np.uint64]:
    """Every three adjacent characters packed into one integer: a code point takes 21 bits."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    shift = np.uint64(21)
    return (((points[:-2] << shift) | points[1:-1]) << shift) | points[2:]
