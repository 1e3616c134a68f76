"""The vectors of a view inside a selection, segment by segment, for the vector lane's scan.

A vector is usually in the segment of its row; one that was computed later ("late") is in a later
segment, and must be matched with its row. A "doc" here is an index into all rows of the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows, VectorMatrix
from memoriter.index.segment import Segment
from memoriter.index.view import View

Places = NDArray[np.intp]


@dataclass(frozen=True)
class SegmentVectors:
    """The vectors of one segment, and which of them are selected."""

    segment: Segment
    start: int
    """The doc of the segment's first row."""
    seen: Mask
    """A mask of the selected vectors."""
    late: Places
    """Indices of the vectors whose rows are in other segments, ascending."""
    late_docs: Places
    """The docs of these rows; -1 if a row was dropped."""

    @property
    def places(self) -> Places:
        """The indices of the selected vectors."""
        return np.flatnonzero(self.seen)

    @property
    def unseen(self) -> Places:
        """The indices of the vectors that are not selected."""
        return self._known("unselected", lambda: np.flatnonzero(~self.seen))

    @property
    def sampled(self) -> Places:
        """The indices of the selected vectors in the segment's sample."""
        some = self.segment.sampled
        return self._known("sampled", lambda: some[self.seen[some]])

    @cached_property
    def count(self) -> int:
        """How many vectors are selected."""
        return int(np.count_nonzero(self.seen))

    def _known(self, what: str, made: Callable[[], Places]) -> Places:
        """What follows from the selection; kept for later views that see the same rows."""
        known = self.segment.memo.get(what)
        if known is None or known[0] is not self.seen:
            known = (self.seen, made())
            self.segment.remember(what, known)
        return known[1]

    @property
    def is_plain(self) -> bool:
        """Whether the n-th vector is the only vector of the n-th row."""
        return self.segment.in_order

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return self.segment.width

    @property
    def matrix(self) -> VectorMatrix:
        """All vectors of the segment, at unit length on the grid or in bytes."""
        return self.segment.arrays["vectors.matrix"]

    def docs(self, at: Places) -> Places:
        """The docs of the rows that own these selected vectors."""
        if self.is_plain:
            return at + self.start
        docs = self.segment.owners[0][at] + self.start
        if self.late.size:
            near = np.minimum(np.searchsorted(self.late, at), self.late.size - 1)
            late = self.late[near] == at
            docs[late] = self.late_docs[near[late]]
        return docs


class SelectedVectors:
    """The selected vectors of all segments; an index counts the vectors of all of them."""

    def __init__(self, parts: Sequence[SegmentVectors]) -> None:
        self.parts = parts
        self.starts = list(accumulate((each.seen.size for each in parts), initial=0))
        """The index of each segment's first vector, and last the number of all vectors."""
        self.size = self.starts[-1]
        self.count = sum(each.count for each in parts)
        """How many vectors are selected."""
        self.is_plain = all(each.is_plain for each in parts)
        """Whether each row has one vector, in its own segment."""

    @cached_property
    def places(self) -> Places:
        """The indices of the selected vectors."""
        return self._joined([each.places for each in self.parts])

    @cached_property
    def unseen(self) -> Places:
        """The indices of the vectors that are not selected."""
        return self._joined([each.unseen for each in self.parts])

    @cached_property
    def sampled(self) -> Places:
        """The indices of the selected vectors in the samples of the segments."""
        return self._joined([each.sampled for each in self.parts])

    def _joined(self, at: Sequence[Places]) -> Places:
        moved = [some + start for some, start in zip(at, self.starts, strict=False)]
        return np.concatenate([np.zeros(0, np.intp), *moved])

    def by_segment(self, at: Places) -> list[tuple[SegmentVectors, Places]]:
        """(segment, indices into its own vectors) for some vectors, ascending."""
        if len(self.parts) == 1:
            return [(self.parts[0], at)]
        ends = pairwise(at.searchsorted(self.starts).tolist())
        triples = zip(self.parts, self.starts, ends, strict=False)
        return [(each, at[a:b] - start) for each, start, (a, b) in triples if a < b]

    def docs(self, at: Places) -> Places:
        """The docs of the rows that own some selected vectors, ascending."""
        docs = [each.docs(own) for each, own in self.by_segment(at)]
        return np.concatenate([np.zeros(0, np.intp), *docs])


def selected_vectors(view: View, masks: Sequence[Mask]) -> SelectedVectors:
    """The vectors that the view sees and whose rows are inside the masks.

    Plan and scan ask for the same masks, so the last ones are kept, and those of the whole view.
    """
    whole = all(mask is seen for mask, seen in zip(masks, view.visible, strict=True))
    key = "vectors" if whole else "selected vectors"
    known = view.memo.get(key)
    if known is None or not (whole or known[0] is masks):
        parts = [each for each in _each(view, masks) if each.count]
        known = (masks, SelectedVectors(parts))
        view.memo[key] = known
    return known[1]


def has_vectors(view: View) -> bool:
    """Whether the view sees any vector."""
    known = view.memo.get("vectors")  # asked several times in a search
    held = selected_vectors(view, view.visible) if known is None else known[1]
    return held.count > 0


def vectors_of(view: View, rows: Rows) -> Iterator[tuple[Segment, Places, Places | None]]:
    """(segment, its vectors of these rows, for each of them the index of its row).

    None in place of the indices if these are the only vectors of all rows, in their order.
    """
    for segment in view.segments:
        if segment.in_order and segment.last <= view.seq:
            at, here = segment.places(rows)
            if at.size == rows.size and len(view.segments) == 1:
                yield segment, at, None
            elif at.size:
                yield segment, at, np.flatnonzero(here)
            continue
        order, owners = _by_row(segment)
        first = np.searchsorted(owners, rows)
        sizes = np.searchsorted(owners, rows, "right") - first
        if not sizes.any():
            continue
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at, nth = np.repeat(first, sizes) + within, np.repeat(np.arange(rows.size), sizes)
        at = at if order is None else order[at]
        if segment.last > view.seq:
            seen = segment.arrays["vectors.seqs"][at] <= view.seq
            at, nth = at[seen], nth[seen]
        yield segment, at, nth


def _by_row(segment: Segment) -> tuple[Places | None, Rows]:
    """(the vectors sorted by row, None if they are; the row of each in that order)."""
    known = segment.memo.get("vectors by row")
    if known is None:
        owners = segment.arrays["vectors.rows"]
        known = (None, owners)
        if (owners[1:] < owners[:-1]).any():
            order = np.argsort(owners, kind="stable")
            known = (order, owners[order])
        segment.remember("vectors by row", known)
    return known


def rows_at(view: View, docs: Places) -> Rows:
    """The row numbers of these docs."""
    out = np.zeros(docs.size, np.int64)
    start = 0
    for segment in view.segments:
        here = (docs >= start) & (docs < start + len(segment))
        out[here] = segment.rows[docs[here] - start]
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
        # A past view may end inside a segment: vectors added after it do not count.
        if segment.last > view.seq:
            seen = seen & (segment.arrays["vectors.seqs"] <= view.seq)
        yield SegmentVectors(segment, start, seen, late, docs)
        start += len(segment)


def _elsewhere(view: View, owners: Rows) -> Places:
    """The docs of these rows in any segment; -1 for rows that were dropped."""
    docs = np.full(owners.size, -1, np.intp)
    start = 0
    for segment in view.segments if owners.size else ():
        places, here = segment.places(owners)
        docs[here] = places + start
        start += len(segment)
    return docs
