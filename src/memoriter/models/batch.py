"""Groups token rows into padded batches for a local model. Used by `embed.onnx`, `rerank.onnx`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

BATCH: Final = 32
"""Texts per batch at most."""
_BATCH_TOKENS: Final = 4_096
"""Tokens per batch at most, padding included."""


class _Sized(Protocol):
    def __len__(self) -> int: ...


_Text = TypeVar("_Text", bound=_Sized)


def batches(texts: Sequence[_Text], most: int) -> Iterator[Sequence[_Text]]:
    """Split texts into batches of at most `most` texts and 4,096 tokens.

    The texts must be sorted by length: neighbours then need little padding, and the last text of a
    batch is its longest.

    >>> [len(batch) for batch in batches([[1]] * 3, 2)]
    [2, 1]
    """
    begin = 0
    for end in range(1, len(texts) + 1):
        full = end - begin == most
        # With the next text in, every row would be padded to the length of that text.
        if end == len(texts) or full or (end + 1 - begin) * len(texts[end]) > _BATCH_TOKENS:
            yield texts[begin:end]
            begin = end


def padded(rows: Sequence[Sequence[int]], pad: int) -> NDArray[np.int64]:
    """The rows as one table; shorter rows are filled up with `pad`.

    >>> padded([[5, 6], [7]], 0).tolist()
    [[5, 6], [7, 0]]
    """
    table = np.full((len(rows), max(map(len, rows))), pad, np.int64)
    for nth, row in enumerate(rows):
        table[nth, : len(row)] = row
    return table


def mask(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """The attention mask of the padded rows: 1 for a token, 0 for padding."""
    return padded([[1] * len(row) for row in rows], 0)
