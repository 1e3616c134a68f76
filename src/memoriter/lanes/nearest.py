"""Nearest-neighbour search for the lane `vector`: exact, or approximate by quantized codes.

Exact: a float32 scan keeps every vector that could belong to the pool, with a proven margin for
rounding errors; exact dot products on the grid decide. Approximate: two estimates from the codes
(`rank/codes.py`), rough and fine, drop vectors that lie more than some standard errors below the
pool; the rest is decided by exact dot products as well. Either way the answer does not depend on
how vectors are spread over segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.segment import Segment
from memoriter.index.view import View
from memoriter.index.view_vectors import (
    Places,
    SegmentVectors,
    rows_at,
    selected_vectors,
    vectors_of,
)
from memoriter.kernel.calls import ByteQuery, exact_dots, scan_bytes
from memoriter.kernel.library import native_library
from memoriter.rank.codes import NARROWEST, WIDEST, Probe
from memoriter.rank.grid import exact_cosines, scan_margin, snap
from memoriter.rank.top import reached_by

_ERRORS: Final = 2.1
"""Standard errors that an estimate may be off; with 2.1, recall is at least 99 % (ADR 0031)."""
_FIRST: Final = 4096
"""How many vectors are estimated first, to learn the pool's lowest cosine."""
_SAMPLE: Final = 16
"""One in this many vectors is in a segment's sample."""
_FARTHEST: Final = float(np.iinfo(np.uint16).max)
"""The largest possible rough distance."""
_BLOCK: Final = 2048
"""Vectors copied at a time, so that a block stays in the cache."""
_FEW: Final = 4
"""If less than 1/4 of a segment is selected, its vectors are copied out before they are scanned."""
_BYTES_FROM: Final = 1024
"""With fewer vectors, reading bytes first saves nothing."""
T = TypeVar("T", np.float32, np.float64)
Chosen = list[tuple[SegmentVectors, Places]]
_Bounded = tuple[SegmentVectors, Places, NDArray[np.float32]]
"""Vectors of a segment, and what the cosine of each is at least."""
Near = list[tuple[SegmentVectors, Places, Scores]]
Scan = Literal["exact", "approximate"]


def scan_of(view: View, masks: Sequence[Mask], exact_up_to: int) -> Scan:
    """Whether the vectors inside some masks are searched exactly or approximately."""
    return _scan_of(selected_vectors(view, masks), exact_up_to)


def _scan_of(parts: Sequence[SegmentVectors], exact_up_to: int) -> Scan:
    coded = all(NARROWEST <= each.width <= WIDEST for each in parts)
    many = sum(each.count for each in parts) > exact_up_to
    return "approximate" if many and coded else "exact"


class Nearest:
    """One query against the vectors of the rows inside some masks."""

    def __init__(self, view: View, masks: Sequence[Mask], query: NDArray[np.float32]) -> None:
        self._view = view
        self._query = query
        self._held = selected_vectors(view, masks)
        self._is_plain = all(each.is_plain for each in self._held)

    def best(self, pool: int, floor: float, exact_up_to: int) -> tuple[Rows, Scores, Scan]:
        """(rows, cosines, kind of scan): at least the best `pool` rows above the floor."""
        scan = _scan_of(self._held, exact_up_to)
        chosen = self._by_codes(pool, floor) if scan == "approximate" else None
        if chosen is None:
            scan, chosen = "exact", [(each, each.places) for each in self._held]
        rows, scores = self._decided(self._narrowed(chosen, pool, floor))
        return rows, scores, scan

    def _decided(self, chosen: Chosen) -> tuple[Rows, Scores]:
        """(rows, the exact cosine of each row's best vector among the chosen ones)."""
        decided = [_cosines(each.segment, at, self._query) for each, at in chosen]
        scores = np.concatenate([np.zeros(0), *decided])
        if self._is_plain:
            rows = [each.segment.rows[at] for each, at in chosen]
            return np.concatenate([np.zeros(0, np.int64), *rows]), scores
        docs = np.concatenate([np.zeros(0, np.intp), *(each.docs(at) for each, at in chosen)])
        docs, scores = _best_part(docs, scores)
        return rows_at(self._view, docs), scores

    def _narrowed(self, chosen: Chosen, pool: int, floor: float) -> Chosen:
        """The chosen vectors whose cosine may reach pool and floor, as far as a scan can tell."""
        if sum(at.size for _, at in chosen) <= pool:
            return chosen  # all of them fit; the caller compares exact cosines with the floor
        ends = list(accumulate(at.size for _, at in chosen))
        # Of all segments one behind the other, for a look at all of them at once.
        low, high = np.empty(ends[-1], np.float32), np.empty(ends[-1], np.float32)
        parts = [slice(*pair) for pair in pairwise((0, *ends))]
        for (each, at), part in zip(chosen, parts, strict=True):
            self._bound(each, at, low[part], high[part])
        lows = [(each, at, low[part]) for (each, at), part in zip(chosen, parts, strict=True)]
        met = high >= max(floor, self._reached_by_rows(low, lows, pool))
        return [(each, at[met[part]]) for (each, at), part in zip(chosen, parts, strict=True)]

    def _bound(
        self,
        each: SegmentVectors,
        at: Places,
        low: NDArray[np.float32],
        high: NDArray[np.float32],
    ) -> None:
        """Write bounds of the cosines of some vectors, by float32 dot products.

        From bytes where that is quicker: they are a quarter to read, and their wider bounds let a
        few more vectors through.
        """
        fast = native_library()
        if fast is None or at.size < _BYTES_FROM or _FEW * at.size <= each.seen.size:
            scores = _scan(each, at, self._query)
            # A little more, for the rounding of the bounds.
            margin = np.float32(scan_margin(self._query.size) + 2.0**-22)
            np.subtract(scores, margin, out=low)
            np.add(scores, margin, out=high)
            return
        vectors = each.segment.byte_vectors
        if at.size == vectors.size:
            scan_bytes(fast, vectors, self._steps, low, high)
            return
        every = np.empty((2, vectors.size), np.float32)
        scan_bytes(fast, vectors, self._steps, *every)
        low[:], high[:] = every[:, at]

    @cached_property
    def _steps(self) -> ByteQuery:
        return ByteQuery(self._query)

    def _reached_by_rows(
        self, scores: NDArray[np.float32], lows: Sequence[_Bounded], pool: int
    ) -> float:
        """A cosine that at least `pool` rows reach, by lower bounds; -inf if there are no more.

        `scores` are the bounds of all segments one behind the other.
        """
        if self._is_plain:
            return reached_by(scores, pool) if scores.size > pool else -np.inf
        count = 2 * pool
        while count < scores.size:
            # A row with several vectors counts once: of the best vectors, are there enough rows?
            best = _by_rows(lows, reached_by(scores, count))
            if best.size >= pool:
                return float(np.partition(best, -pool)[-pool])
            count *= 4
        best = _by_rows(lows, -np.inf)
        return reached_by(best, pool) if best.size > pool else -np.inf

    def _by_codes(self, pool: int, floor: float) -> Chosen | None:
        """The vectors that the estimates keep; None if they keep too many to save anything."""
        probe = Probe.of(self._query)
        looks = [_Look(each, probe) for each in self._held]
        cut = _rough_cut(looks, max(_FIRST, 8 * pool))
        # First a small set around the query gives a cosine that the pool surely reaches; with that
        # bound the second, wider cut leaves out only vectors that are very unlikely to reach it.
        first = _estimated(looks, cut)
        least = _least(first, 2 * pool, -2.0)
        bound = max(floor, self._reached(first, least, pool))
        cut = max(cut, probe.within(bound - _ERRORS * probe.rough_error))
        near = _estimated(looks, cut)
        if 2 * sum(at.size for _, at, _ in near) > sum(each.count for each in self._held):
            return None
        least = _least(near, 2 * pool, least)
        bound = max(bound, self._reached(near, least, pool)) - _ERRORS * probe.fine_error
        return _reaching(near, bound)

    def _reached(self, near: Near, least: float, pool: int) -> float:
        """An exact cosine that at least `pool` rows reach, by the vectors estimated at `least`."""
        _, scores = self._decided(_reaching(near, least))
        return float(np.partition(scores, -pool)[-pool]) if scores.size >= pool else -1.0


def _estimated(looks: Sequence[_Look], cut: float) -> Near:
    """The vectors within a rough distance, with fine estimates."""
    near = [(look, look.within(cut)) for look in looks]
    return [(look.selected_vectors, at, look.fine(at)) for look, at in near]


def _reaching(near: Near, least: float) -> Chosen:
    return [(each, at[estimates >= least]) for each, at, estimates in near]


def _least(near: Near, count: int, floor: float) -> float:
    """The count-th largest estimate; `floor` if no more than `count` reach it."""
    flat = np.concatenate([estimates[estimates >= floor] for _, _, estimates in near])
    return float(np.partition(flat, -count)[-count]) if flat.size > count else floor


class _Look:
    """The selected vectors of a segment with their rough distances from the query."""

    def __init__(self, each: SegmentVectors, probe: Probe) -> None:
        self.selected_vectors = each
        self._probe = probe
        signs = each.segment.codes.signs
        self._some: Places | None = None
        if _FEW * each.count < each.seen.size:
            self._some = np.flatnonzero(each.seen)
            signs = np.take(signs, self._some, axis=1)
        self._rough = probe.rough(signs)

    @property
    def sample(self) -> NDArray[np.uint16]:
        """The rough distances of the sampled vectors, one in sixteen."""
        at = self.selected_vectors.segment.sampled
        at = at[self.selected_vectors.seen[at]]
        return self._rough[at if self._some is None else np.searchsorted(self._some, at)]

    def within(self, distance: float) -> Places:
        """The selected vectors within a rough distance."""
        near = np.flatnonzero(self._rough <= int(min(max(distance, 0.0), _FARTHEST)))
        return near[self.selected_vectors.seen[near]] if self._some is None else self._some[near]

    def fine(self, at: Places) -> Scores:
        """Fine estimates of some of them."""
        place = at if self._some is None else np.searchsorted(self._some, at)
        return self._probe.fine(self.selected_vectors.segment.codes.steps, at, self._rough[place])


def _rough_cut(looks: Sequence[_Look], count: int) -> float:
    """The distance within which about so many vectors lie."""
    sample = np.concatenate([look.sample for look in looks])
    place = count // _SAMPLE
    return float(np.partition(sample, place)[place]) if place < sample.size else _FARTHEST


def _scan(each: SegmentVectors, at: Places, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Float32 cosines of some vectors; computed for all at once if most are selected."""
    if _FEW * at.size > each.seen.size:
        scores = np.vecdot(each.matrix, query)
        return scores if at.size == scores.size else scores[at]
    out = np.empty(at.size, np.float32)
    for start in range(0, at.size, _BLOCK):
        taken = each.vectors(at[start : start + _BLOCK])
        np.vecdot(taken, query, out=out[start : start + _BLOCK])
    return out


def _cosines(segment: Segment, at: Places, query: NDArray[np.float32]) -> Scores:
    """Exact cosines of some vectors, on the grid."""
    fast = native_library()
    if fast is None:
        return snap(exact_cosines(segment.vectors_at(at), query))
    return exact_dots(fast, segment.matrix_at(at), at, query)


def cosines_of(view: View, rows: Rows, query: NDArray[np.float32]) -> tuple[Rows, Scores]:
    """(rows, exact cosines of the best vector) of those of these rows that have one."""
    best = np.full(rows.size, -np.inf)
    for segment, at, nth in vectors_of(view, rows):
        cosines = _cosines(segment, at, query)
        if nth is None:  # each row has one vector, and all are here
            return rows, cosines
        np.maximum.at(best, nth, cosines)
    known = np.flatnonzero(best > -np.inf)
    return rows[known], best[known]


def _by_rows(lows: Sequence[_Bounded], least: float) -> NDArray[np.float32]:
    """The best lower bound of each row that has one of at least so much."""
    some = [(each, at[scores >= least], scores[scores >= least]) for each, at, scores in lows]
    docs = np.concatenate([np.zeros(0, np.intp), *(each.docs(at) for each, at, _ in some)])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, _, scores in some)])
    return _best_part(docs, scores)[1]


def _best_part(docs: Places, scores: NDArray[T]) -> tuple[Places, NDArray[T]]:
    """Each row once, ascending, with the best score of its vectors."""
    if (docs[1:] < docs[:-1]).any():  # vectors that were computed late are behind the others
        order = np.argsort(docs, kind="stable")
        docs, scores = docs[order], scores[order]
    begin = np.flatnonzero(np.diff(docs, prepend=-1))
    return (docs[begin], np.maximum.reduceat(scores, begin)) if begin.size else (docs, scores)
