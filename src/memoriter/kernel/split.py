"""The words of many texts at once, each distinct one numbered: by the kernel, or by its twin.

The analyzer and the packaged table work out each distinct word once and the rest on arrays, so
that nothing in Python happens per word of a text.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.kernel.library import Library, address, native_library


class NumberedWords(NamedTuple):
    """The words of texts: `words` has each distinct one."""

    words: list[str]
    """In the order of first appearance among the texts that the kernel reads, then the others."""
    numbers: NDArray[np.int32]
    """The place in `words` of every word, text by text."""
    counts: NDArray[np.int64]
    """How many words each text has."""


class _Numbers(dict[str, int]):
    """Gives every new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def numbered_words(
    texts: Sequence[str], split: Callable[[str], list[str]], *, linked: bool
) -> NumberedWords:
    """The words that `split` finds in texts.

    Of ASCII texts the kernel finds the same: runs of letters and digits in small letters; with
    `linked`, runs that are joined as `text.chunk` has it are one word.
    """
    fast = native_library()
    plain = [] if fast is None else [n for n, text in enumerate(texts) if text.isascii()]
    known = _Numbers()
    numbers: list[NDArray[np.int32]] = []
    counts = np.zeros(len(texts), np.int64)
    owners = np.zeros(0, np.int64)
    if fast is not None and plain:
        made = _split(fast, [texts[n] for n in plain], linked=linked)
        known.update(zip(made.words, range(len(made.words)), strict=True))
        counts[plain] = made.counts
        owners = np.repeat(np.array(plain), made.counts)
        numbers.append(made.numbers)
    others = range(len(texts)) if fast is None else sorted({*range(len(texts))} - {*plain})
    rest: list[int] = []
    for n in others:
        of_text = list(map(known.__getitem__, split(texts[n])))
        counts[n] = len(of_text)
        rest += of_text
    if rest and owners.size:
        owners = np.concatenate([owners, np.repeat(np.array(others), counts[others])])
    numbers.append(np.array(rest, np.int32))
    every = np.concatenate(numbers)
    if rest and owners.size:
        every = every[np.argsort(owners, kind="stable")]  # text by text again
    return NumberedWords(list(known), every, counts)


def _split(fast: Library, texts: Sequence[str], *, linked: bool) -> NumberedWords:
    text = np.frombuffer(bytearray("".join(texts), "ascii"), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    most = text.size // 2 + len(texts)  # a word has a letter, and something behind it
    numbers, starts = np.empty(most, np.int32), np.empty(most, np.int64)
    sizes, counts = np.empty(most, np.int32), np.empty(len(texts), np.int64)
    out = tuple(map(address, (numbers, counts, starts, sizes)))
    key = secrets.randbits(63)
    given = (address(text), address(ends), len(texts), int(linked), key, *out)
    distinct = fast.call("split", given, 8 * text.size)
    lower = text.tobytes().decode("ascii")
    begins, lengths = starts[:distinct].tolist(), sizes[:distinct].tolist()
    words = [lower[at : at + size] for at, size in zip(begins, lengths, strict=True)]
    return NumberedWords(words, numbers[: int(counts.sum())], counts)
