"""What is read off many texts at once, in C: whether they name a time, and the words at their ends.

Only ASCII texts are given to it; the callers read all others with the twins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.kernel.library import Library, address
from memoriter.kernel.terms import WantedTerms


class FlaggedWords:
    """Words with flags, as the library takes them."""

    def __init__(self, flags: Mapping[str, int]) -> None:
        words = sorted(flags)
        self._words = WantedTerms(words)
        self._flags = np.array([flags[word] for word in words], np.int32)
        blob, at, count = self._words.given
        self.given = (blob, at, address(self._flags), count)


class EndMarks(NamedTuple):
    """For each text two marks, of its first and of its last words, and whether they are known."""

    marks: NDArray[np.uint32]
    known: NDArray[np.bool_]


def times_in(fast: Library, texts: Sequence[str], words: FlaggedWords) -> NDArray[np.bool_]:
    """Whether each of some ASCII texts names a time."""
    text, ends = _joined(texts)
    out = np.empty(len(texts), np.bool_)
    given = (address(text), address(ends), len(texts), *words.given, address(out))
    fast.call("times", given, 8 * text.size)
    return out


def ends_in(fast: Library, texts: Sequence[str], special: FlaggedWords, count: int) -> EndMarks:
    """The marks of the first and the last `count` words of ASCII texts."""
    text, ends = _joined(texts)
    marks, known = np.zeros((len(texts), 2), np.uint32), np.empty(len(texts), np.bool_)
    given = (address(text), address(ends), len(texts), *special.given)
    fast.call("ends", (*given, count, address(marks), address(known)), 8 * text.size)
    return EndMarks(marks, known)


def _joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(ASCII texts one behind the other, where each ends)."""
    text = np.frombuffer(bytearray("".join(texts), "ascii"), np.uint8)
    return text, np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
