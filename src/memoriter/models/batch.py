"""What a model reads at a time: texts of like length side by side, padded to the longest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

BATCH: Final = 32
_BATCH_TOKENS: Final = 4_096
"""Texts and tokens, padding included, of one batch."""


class _Sized(Protocol):
    def __len__(self) -> int: ...


_Text = TypeVar("_Text", bound=_Sized)


def batches(texts: Sequence[_Text], most: int) -> Iterator[Sequence[_Text]]:
    """Texts in the order of their lengths, so that little is padded, at most so many at a time.

    >>> [len(batch) for batch in batches([[1]] * 3, 2)]
    [2, 1]
    """
    begin = 0
    for end in range(1, len(texts) + 1):
        full = end - begin == most
        if end == len(texts) or full or (end + 1 - begin) * len(texts[end]) > _BATCH_TOKENS:
            yield texts[begin:end]
            begin = end


def padded(rows: Sequence[Sequence[int]], pad: int) -> NDArray[np.int64]:
    """Rows of one width: the shorter ones end in `pad`.

    >>> padded([[5, 6], [7]], 0).tolist()
    [[5, 6], [7, 0]]
    """
    table = np.full((len(rows), max(map(len, rows))), pad, np.int64)
    for nth, row in enumerate(rows):
        table[nth, : len(row)] = row
    return table


def mask(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Where the padded rows hold something: 1, else 0."""
    return padded([[1] * len(row) for row in rows], 0)
