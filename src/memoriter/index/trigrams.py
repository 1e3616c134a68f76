"""An inverted index from trigrams to the words of a dictionary, to find words spelt alike.

`lanes/fuzzy` asks it for the words of a segment that resemble those of a question. Similarity is
the Jaccard index of trigrams (`text.retry`), computed only for words that share one with a word of
the question. Segments in files have its arrays; one in memory makes them on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.index.columns import Arrays
from memoriter.index.dictionary import Dictionary
from memoriter.text.retry import PAD, question_trigrams, windows

_NO_WORD: Final = re.compile(r"(?:[^\w\n]|_)+")
_PADS: Final = re.compile(r"\$\$+")
_NAMES: Final = ("spellings.grams", "spellings.starts", "spellings.words", "spellings.sizes")
_NARROW: Final = 2**16
"""Ordinals of so many words fit 16 bits."""
_LINE: Final = ord("\n")
_MASK: Final = np.uint64(2**21 - 1)


class Spellings(NamedTuple):
    """For each trigram the words that have it; for each word how many it has."""

    grams: NDArray[np.uint64]
    """The trigrams, packed and ascending."""
    starts: NDArray[np.int32]
    words: NDArray[np.integer]
    """For each trigram in turn the ordinals of its words, ascending."""
    sizes: NDArray[np.uint16]

    @classmethod
    def read(cls, arrays: Arrays) -> Spellings | None:
        """Those that a segment has; None if they are still to be made."""
        return cls(*(arrays[name] for name in _NAMES)) if _NAMES[0] in arrays else None

    def arrays(self) -> Arrays:
        """The arrays by the names that a segment stores them by."""
        return dict(zip(_NAMES, self, strict=True))

    @classmethod
    def of(cls, dictionary: Dictionary) -> Spellings:
        """The trigrams of all words of a dictionary."""
        grams, owners = _grams(dictionary)
        known, codes = np.unique(grams, return_inverse=True)
        # A word may have a trigram twice ("banana"), which counts once.
        keys = np.sort(codes.astype(np.int64) * max(len(dictionary), 1) + owners)
        keys = keys[np.diff(keys, prepend=-1) > 0]  # quicker than np.unique, which hashes first
        gram, word = np.divmod(keys, max(len(dictionary), 1))
        starts = np.searchsorted(gram, np.arange(known.size + 1))
        sizes = np.bincount(word, minlength=len(dictionary))
        narrow = np.uint16 if len(dictionary) <= _NARROW else np.int32
        return cls(known, starts.astype(np.int32), word.astype(narrow), sizes.astype(np.uint16))

    def similar(self, tokens: Iterable[str], floor: float) -> dict[int, float]:
        """Ordinals of the words spelt like a token, each with its similarity to the closest one.

        Similarity is at least `floor`. Tokens of fewer than three letters are skipped.
        """
        best: dict[int, float] = {}
        for packed in question_trigrams(tokens):
            shared = np.concatenate([np.zeros(0, np.int32), *map(self._having, packed.tolist())])
            words, counts = np.unique(shared, return_counts=True)
            near = counts / (self.sizes[words].astype(np.int64) + packed.size - counts)
            for at in np.flatnonzero(near >= floor).tolist():
                word, value = int(words[at]), float(near[at])
                best[word] = max(value, best.get(word, value))
        return best

    def _having(self, gram: int) -> NDArray[np.integer]:
        at = int(np.searchsorted(self.grams, np.uint64(gram)))
        if at == self.grams.size or int(self.grams[at]) != gram:
            return self.words[:0]
        return self.words[int(self.starts[at]) : int(self.starts[at + 1])]


def _grams(dictionary: Dictionary) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """(every trigram of every word, the ordinal of its word), as `text.retry.trigrams` cuts them.

    All words are cut at once, as lines of one text: a loop over words would slow down writing.
    """
    if not len(dictionary):
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    words = dictionary.many(np.arange(len(dictionary)))
    text = "\n".join(words).lower()
    if text.count("\n") >= len(words):  # no analyzer of ours makes a word with a line break
        text = "\n".join(word.replace("\n", PAD) for word in words).lower()
    if not text.replace("\n", "").isalnum():
        text = _NO_WORD.sub(PAD, text)
    text = PAD + text.replace("\n", f"{PAD}\n{PAD}") + PAD
    if PAD + PAD in text:
        text = _PADS.sub(PAD, text)
    packed = windows(text)
    middle = packed >> np.uint64(21) & _MASK
    first, last = packed >> np.uint64(42), packed & _MASK
    inside = (middle != ord(PAD)) & (middle != _LINE) & (first != _LINE) & (last != _LINE)
    # A line break is the middle of exactly one window: so many lines end before a later one.
    lines = np.cumsum(middle == _LINE)
    return packed[inside], lines[inside].astype(np.int64)
