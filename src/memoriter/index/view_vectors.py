"""The vectors of a view inside a selection, segment by segment, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows
from memoriter.index.segment import Segment
from memoriter.index.view import View

Places = NDArray[np.intp]


@dataclass(frozen=True)
class SegmentVectors:
    """The vectors of one segment."""

    segment: Segment
    start: int
    """Where the segment's rows begin among all rows of the view."""
    seen: Mask
    """Which of its vectors are wanted."""
    late: Places
    """Those whose rows are in other segments, ascending."""
    late_docs: Places
    """Where these rows stand among all; -1 where they are gone."""

    @property
    def count(self) -> int:
        """How many vectors are wanted."""
        return int(np.count_nonzero(self.seen))

    @property
    def is_plain(self) -> bool:
        """Whether every vector is the only one of its row."""
        return self.segment.in_order

    @property
    def matrix(self) -> NDArray[np.float32]:
        """All its vectors, at unit length on the grid."""
        return self.segment.arrays["vectors.matrix"]

    def docs(self, at: Places) -> Places:
        """Where the owners of some of its wanted vectors stand among all rows of the view."""
        if self.is_plain:
            return at + self.start
        docs = self.segment.owners[0][at] + self.start
        if self.late.size:
            near = np.minimum(np.searchsorted(self.late, at), self.late.size - 1)
            late = self.late[near] == at
            docs[late] = self.late_docs[near[late]]
        return docs


def selected_vectors(view: View, masks: Sequence[Mask]) -> list[SegmentVectors]:
    """For each segment the vectors that the view sees and whose rows are inside the masks."""
    return [each for each in _each(view, masks) if each.seen.any()]


def has_vectors(view: View) -> bool:
    """Whether the view sees any vector."""
    return any(each.seen.any() for each in _each(view, view.visible))


def rows_at(view: View, docs: Places) -> Rows:
    """The rows that stand at these places among all rows of the view."""
    out = np.zeros(docs.size, np.int64)
    start = 0
    for segment in view.segments:
        mine = (docs >= start) & (docs < start + len(segment))
        out[mine] = segment.rows[docs[mine] - start]
        start += len(segment)
    return out


def _each(view: View, masks: Sequence[Mask]) -> Iterator[SegmentVectors]:
    none = np.zeros(0, np.intp)
    start = 0
    for segment, mask in zip(view.segments, masks, strict=True):
        if segment.in_order:
            seen, late, docs = mask, none, none
        else:
            places, home = segment.owners
            seen = mask[places] & home if mask.size else np.zeros(places.size, np.bool_)
            late = np.flatnonzero(~home)
            docs = _elsewhere(view, segment.arrays["vectors.rows"][late])
            if late.size:
                flat = np.concatenate(masks)
                seen[late] = (docs >= 0) & flat[docs]
        if segment.last > view.seq:
            seen = seen & (segment.arrays["vectors.seqs"] <= view.seq)
        yield SegmentVectors(segment, start, seen, late, docs)
        start += len(segment)


def _elsewhere(view: View, owners: Rows) -> Places:
    """Where rows stand that have a vector in another segment; -1 where they are gone."""
    docs = np.full(owners.size, -1, np.intp)
    start = 0
    for segment in view.segments if owners.size else ():
        found, mine = segment.places(owners)
        docs[mine] = found + start
        start += len(segment)
    return docs
