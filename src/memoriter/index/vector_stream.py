"""The vectors of a merged segment, read from those that it is made of when they are needed.

They are most of a segment. A merge that is written to a file at once does not hold them: it reads
and writes some thousands at a time, so that its memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import VectorMatrix
from memoriter.index.segment import Segment
from memoriter.rank.units import widened

_BLOCK: Final = 8192
"""How many vectors are read at a time; their bytes are a multiple of every checked block."""


class VectorStream:
    """Stands for the matrix of the vectors under a mask; only slices of it can be read."""

    def __init__(self, segments: Sequence[Segment], kept: NDArray[np.bool_]) -> None:
        sizes = [segment.arrays["vectors.rows"].size for segment in segments]
        bounds = np.cumsum([0, *sizes]).tolist()
        self._parts = [
            (segment, np.flatnonzero(kept[begin : begin + size]))
            for segment, begin, size in zip(segments, bounds, sizes, strict=False)
        ]
        self._ends = np.cumsum([places.size for _, places in self._parts])
        width = max(segment.width for segment in segments)
        kinds = {each.matrix_at(at[:0]).dtype for each, at in self._parts if at.size}
        self.dtype = np.dtype(np.int8 if kinds == {np.dtype(np.int8)} else np.float32)
        self.shape = int(kept.sum()), width
        self.size = self.shape[0] * width
        self.nbytes = self.size * self.dtype.itemsize

    def __getitem__(self, span: slice) -> VectorMatrix:
        begin, end, _ = span.indices(self.shape[0])
        out = np.empty((max(end - begin, 0), self.shape[1]), self.dtype)
        for (segment, places), last in zip(self._parts, self._ends.tolist(), strict=True):
            first = last - places.size
            low, high = max(begin, first), min(end, last)
            if low < high:
                at = places[low - first : high - first]
                taken = segment.matrix_at(at)[at]
                out[low - begin : high - begin] = (
                    taken if taken.dtype == self.dtype else widened(taken)
                )
        return out

    def blocks(self) -> Iterator[VectorMatrix]:
        """All vectors, some at a time."""
        for begin in range(0, self.shape[0], _BLOCK):
            yield self[begin : begin + _BLOCK]
