"""The vectors of a merged segment, read from those that it is made of when they are needed.

They are most of a segment. A merge that is written to a file at once does not hold them: it reads
and writes some thousands at a time, so that its memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import VectorMatrix
from memoriter.index.segment import Segment
from memoriter.rank.units import widened

_BLOCK: Final = 8192
"""How many vectors are read at a time; their bytes are a multiple of every checked block."""


class VectorStream:
    """Stands for the matrix of some vectors; only slices of it can be read."""

    def __init__(self, segments: Sequence[Segment], at: NDArray[np.intp]) -> None:
        """`at` are their indices, counted over the vectors of all segments."""
        self._segments, self._at = segments, at
        sizes = [segment.arrays["vectors.rows"].size for segment in segments]
        self._starts = np.cumsum([0, *sizes])
        owners: list[int] = np.unique(np.searchsorted(self._starts, at, "right") - 1).tolist()
        kinds = {segments[n].matrix_at(at[:0]).dtype for n in owners}
        self.dtype = np.dtype(np.int8 if kinds == {np.dtype(np.int8)} else np.float32)
        self.shape = at.size, max(segment.width for segment in segments)
        self.size = self.shape[0] * self.shape[1]
        self.nbytes = self.size * self.dtype.itemsize

    def __getitem__(self, span: slice) -> VectorMatrix:
        some = self._at[span]
        out = np.empty((some.size, self.shape[1]), self.dtype)
        for segment, (first, last) in zip(self._segments, pairwise(self._starts), strict=True):
            here = (some >= first) & (some < last)
            if here.any():
                at = some[here] - first
                taken = segment.matrix_at(at)[at]
                out[here] = taken if taken.dtype == self.dtype else widened(taken)
        return out

    def blocks(self) -> Iterator[VectorMatrix]:
        """All vectors, some at a time."""
        for begin in range(0, self.shape[0], _BLOCK):
            yield self[begin : begin + _BLOCK]
