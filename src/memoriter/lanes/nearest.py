"""Nearest-neighbour search for the lane `vector`: exact, or approximate by quantized codes.

Exact: a float32 scan keeps every vector that could belong to the pool, with a proven margin for
rounding errors; exact dot products on the grid decide. Approximate: two estimates from the codes
(`rank/codes.py`), rough and fine, drop vectors that lie more than some standard errors below the
pool; the rest is decided by exact dot products as well. Either way the answer does not depend on
how vectors are spread over segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.segment import Segment
from memoriter.index.view import View
from memoriter.index.view_vectors import (
    Places,
    SelectedVectors,
    rows_at,
    selected_vectors,
    vectors_of,
)
from memoriter.kernel.found_rows import FoundRows, Wanted
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import Job, native_library
from memoriter.kernel.vectors import (
    NearestPart,
    NearestVectors,
    exact_dots,
    scan_bytes,
    within_distance,
)
from memoriter.rank.codes import FARTHEST, NARROWEST, WIDEST, Probe
from memoriter.rank.grid import exact_cosines, scan_margin, snap
from memoriter.rank.top import reached_by
from memoriter.rank.units import byte_rest

_ERRORS: Final = 2.1
"""Standard errors that an estimate may be off; with 2.1, recall is at least 99 % (ADR 0031)."""
_FIRST: Final = 4096
"""How many vectors are estimated first, to learn the pool's lowest cosine."""
_SAMPLE: Final = 16
"""One in this many vectors is in a segment's sample."""
_UNSEEN: Final = np.iinfo(np.uint16).max
"""The distance of vectors that are not selected: larger than any other."""
_LOWEST: Final = -2.0
"""Less than any cosine."""
_BLOCK: Final = 2048
"""Vectors copied at a time, so that a block stays in the cache."""
_ELEMENTS: Final = 2**18
"""Elements of a block of vectors that are multiplied at once."""
_FEW: Final = 4
"""If less than 1/4 of the vectors is selected, only those are read, one by one."""
_BYTES_FROM: Final = 1024
"""With fewer vectors, reading bytes first saves nothing."""
_NO_ROWS: Final[Rows] = np.zeros(0, np.int64)
T = TypeVar("T", np.float32, np.float64)
_Cosines = NDArray[np.float32]
_Distances = NDArray[np.uint16]
Scan = Literal["exact", "approximate"]


class NearRows(NamedTuple):
    """Rows in no order, exact cosines, and how they were searched."""

    rows: Rows
    cosines: Scores
    scan: Scan


def scan_of(view: View, masks: Sequence[Mask], exact_up_to: int) -> Scan:
    """Whether the vectors inside some masks are searched exactly or approximately."""
    return _scan_of(selected_vectors(view, masks), exact_up_to)


def _scan_of(held: SelectedVectors, exact_up_to: int) -> Scan:
    coded = all(NARROWEST <= each.width <= WIDEST for each in held.parts)
    return "approximate" if held.count > exact_up_to and coded else "exact"


class Nearest:
    """One query against the vectors of the rows inside some masks.

    Vectors are numbered over all segments (`SelectedVectors`).
    """

    def __init__(self, view: View, masks: Sequence[Mask], query: NDArray[np.float32]) -> None:
        self._view = view
        self._query = query
        self._held = selected_vectors(view, masks)
        self.found_values: Wanted | None = None
        """The cosines of what other searches find too, if the kernel computes them."""

    def best(self, pool: int, floor: float, exact_up_to: int) -> Started[NearRows]:
        """At least the best `pool` rows above the floor."""
        if _scan_of(self._held, exact_up_to) == "approximate":
            return Started(lambda: self._approximate(pool, floor))
        held = self._held
        # What other searches find is scored whatever its mask, also by vectors from after the view.
        is_whole = all(each.segment.last <= self._view.seq for each in held.parts)
        fits = is_whole and held.is_plain and self._by_bytes(pool)
        if native_library() is None or not fits:
            return Started(lambda: self._exact(pool, floor))
        parts = [
            NearestPart(each.segment.byte_vectors, each.matrix, each.segment.rows, each.seen)
            for each in held.parts
        ]
        vectors = NearestVectors(parts, self._query)
        near_rows = vectors.best(pool, max(floor, _LOWEST))

        def about_found(found_rows: FoundRows) -> list[Job]:
            self.found_values = found_rows.wanted(near_rows.search)
            return [vectors.of(self.found_values)]

        return near_rows.then(lambda made: NearRows(*made, "exact")).asking(about_found)

    def _exact(self, pool: int, floor: float) -> NearRows:
        return NearRows(*self._decided(self._by_scan(pool, floor)), "exact")

    def _approximate(self, pool: int, floor: float) -> NearRows:
        chosen = self._by_codes(pool, floor)
        if chosen is None:
            return self._exact(pool, floor)
        return NearRows(*self._decided(chosen), "approximate")

    def _decided(self, chosen: Places) -> tuple[Rows, Scores]:
        """(rows, the exact cosine of each row's best vector among the chosen ones)."""
        some = [(each.segment, at) for each, at in self._held.by_segment(chosen)]
        scores = _cosines(some, self._query)
        if self._held.is_plain:
            rows = [segment.rows[at] for segment, at in some]
            return rows[0] if len(rows) == 1 else np.concatenate([_NO_ROWS, *rows]), scores
        docs, scores = _best_part(self._held.docs(chosen), scores)
        return rows_at(self._view, docs), scores

    def _few(self, pool: int) -> bool:
        """Whether so few vectors are selected that each is looked up."""
        return self._held.count <= pool or _FEW * self._held.count < self._held.size

    def _by_bytes(self, pool: int) -> bool:
        """Whether the native kernel reads all vectors as bytes first.

        They are a quarter to read, and their wider bounds let a few more vectors through.
        """
        return self._held.size >= _BYTES_FROM and not self._few(pool)

    def _by_scan(self, pool: int, floor: float) -> Places:
        """The vectors whose cosine may reach pool and floor, as far as a scan can tell."""
        held = self._held
        if self._few(pool):
            return self._narrowed(held.places, pool, floor)
        low, high, slack = self._bounds()
        low[held.unseen] = high[held.unseen] = -np.inf
        least = max(floor, self._reached_by_rows(low, None, pool), _LOWEST)
        return (high >= least - slack).nonzero()[0]

    def _bounds(self) -> tuple[_Cosines, _Cosines, float]:
        """(low, high, slack): each cosine is between both, give or take half the slack."""
        held, fast = self._held, native_library()
        if fast is not None and held.size >= _BYTES_FROM:
            vectors = [each.segment.byte_vectors for each in held.parts]
            return *scan_bytes(fast, vectors, self._query), 0.0
        scores = np.empty(held.size, np.float32)
        for each, start in zip(held.parts, held.starts, strict=False):
            _float_dots(each.segment, self._query, scores[start : start + each.seen.size])
        return scores, scores, self._slack

    @property
    def _slack(self) -> float:
        """How far two float32 dot products may be off, and a little for the rounding of bounds."""
        dimension = self._query.size
        return 2.0 * (scan_margin(dimension) + byte_rest(dimension) + 2.0**-22)

    def _narrowed(self, chosen: Places, pool: int, floor: float) -> Places:
        """Those of a few vectors that may reach pool and floor, by float32 dot products.

        The native kernel needs no copies of the vectors, so exact products are as quick.
        """
        if chosen.size <= pool or native_library() is not None:
            return chosen
        scores = np.empty(chosen.size, np.float32)
        start = 0
        for each, at in self._held.by_segment(chosen):
            for first in range(0, at.size, _BLOCK):
                taken = each.segment.vectors_at(at[first : first + _BLOCK])
                np.vecdot(taken, self._query, out=scores[start : start + len(taken)])
                start += len(taken)
        least = max(floor, self._reached_by_rows(scores, chosen, pool), _LOWEST)
        return chosen[scores >= least - self._slack]

    def _reached_by_rows(self, scores: _Cosines, chosen: Places | None, pool: int) -> float:
        """A cosine that at least `pool` rows reach, by scores of the chosen vectors (None: all).

        -inf if there are no more rows.
        """
        if self._held.is_plain:
            return reached_by(scores, pool) if scores.size > pool else -np.inf
        count = 2 * pool
        while count < scores.size:
            # A row with several vectors counts once: of the best vectors, are there enough rows?
            best = self._by_rows(scores, chosen, reached_by(scores, count))
            if best.size >= pool:
                return float(np.partition(best, -pool)[-pool])
            count *= 4
        best = self._by_rows(scores, chosen, -np.inf)
        return reached_by(best, pool) if best.size > pool else -np.inf

    def _by_rows(self, scores: _Cosines, chosen: Places | None, least: float) -> _Cosines:
        """The best score of each row that has one of at least so much."""
        some = np.flatnonzero(scores >= max(least, _LOWEST))
        docs = self._held.docs(some if chosen is None else chosen[some])
        return _best_part(docs, scores[some])[1]

    def _by_codes(self, pool: int, floor: float) -> Places | None:
        """The vectors that the estimates keep; None if they keep too many to save anything."""
        held, probe = self._held, Probe.of(self._query)
        rough = _rough(held, probe)
        cut = _nearest(rough[held.sampled], max(_FIRST, 8 * pool) // _SAMPLE)
        # First a small set around the query gives a cosine that the pool surely reaches; with that
        # bound the second, wider cut leaves out only vectors that are very unlikely to reach it.
        near, fine = _within(held, probe, rough, cut)
        bound = max(floor, self._reached(near, fine, pool))
        cut = max(cut, probe.rough_within(bound - _ERRORS * probe.rough_error))
        near, fine = _within(held, probe, rough, cut)
        if 2 * near.size > held.count:
            return None
        bound = max(bound, self._reached(near, fine, pool)) - _ERRORS * probe.fine_error
        return self._narrowed(near[fine <= probe.fine_within(bound)], pool, floor)

    def _reached(self, near: Places, fine: _Distances, pool: int) -> float:
        """An exact cosine that at least `pool` rows reach, by the best estimated vectors."""
        _, scores = self._decided(near[fine <= _nearest(fine, 2 * pool - 1)])
        return float(np.partition(scores, -pool)[-pool]) if scores.size >= pool else -1.0


def _float_dots(segment: Segment, query: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Write float32 dot products, by blocks that are small enough to be computed in one thread."""
    matrix, block = segment.arrays["vectors.matrix"], max(1, _ELEMENTS // query.size)
    for start in range(0, out.size, block):
        part = matrix[start : start + block].astype(np.float32, copy=False)
        np.matmul(part, query, out=out[start : start + block])
    if matrix.dtype == np.int8:
        out *= segment.byte_scales


def _rough(held: SelectedVectors, probe: Probe) -> _Distances:
    """The rough distances of all vectors."""
    out = np.empty(held.size, np.uint16)
    for each, start in zip(held.parts, held.starts, strict=False):
        own, signs = out[start : start + each.seen.size], each.segment.codes.signs
        if _FEW * each.count < each.seen.size:
            some = np.empty(each.count, np.uint16)
            probe.rough(np.take(signs, each.places, axis=1), some)
            own[each.places] = some
        else:
            probe.rough(signs, own)
    out[held.unseen] = _UNSEEN
    return out


def _within(
    held: SelectedVectors, probe: Probe, rough: _Distances, most: int
) -> tuple[Places, _Distances]:
    """(the selected vectors within a rough distance, their fine distances)."""
    fast = native_library()
    if fast is not None:
        steps = [each.segment.codes.steps for each in held.parts]
        return within_distance(fast, steps, probe.planes, rough, most)
    near = np.flatnonzero(rough <= most)
    some = held.by_segment(near)
    own = [probe.distances(each.segment.codes.steps, at) for each, at in some]
    return near, 2 * rough[near] + np.concatenate([np.zeros(0, np.uint16), *own])


def _nearest(distances: _Distances, nth: int) -> int:
    """The n-th smallest distance, from 0; the largest possible one if there are no more."""
    return int(np.partition(distances, nth)[nth]) if nth < distances.size else FARTHEST


def _cosines(some: Sequence[tuple[Segment, Places]], query: NDArray[np.float32]) -> Scores:
    """Exact cosines of some vectors of segments, on the grid."""
    fast = native_library()
    if fast is not None:
        return exact_dots(fast, [(segment.matrix_at(at), at) for segment, at in some], query)
    made = [snap(exact_cosines(segment.vectors_at(at), query)) for segment, at in some]
    return np.concatenate([np.zeros(0), *made])


def cosines_of(view: View, query: NDArray[np.float32], rows: Rows) -> Scores:
    """The exact cosine of each row's best vector; NaN for a row that has none."""
    best = np.full(rows.size, -np.inf)
    for segment, at, nth in vectors_of(view, rows):
        cosines = _cosines([(segment, at)], query)
        if nth is None:  # each row has one vector, and all are here
            return cosines
        np.maximum.at(best, nth, cosines)
    best[best == -np.inf] = np.nan
    return best


def _best_part(docs: Places, scores: NDArray[T]) -> tuple[Places, NDArray[T]]:
    """Each row once, ascending, with the best score of its vectors."""
    if (docs[1:] < docs[:-1]).any():  # vectors that were computed late are behind the others
        order = np.argsort(docs, kind="stable")
        docs, scores = docs[order], scores[order]
    begin = np.flatnonzero(np.diff(docs, prepend=-1))
    return (docs[begin], np.maximum.reduceat(scores, begin)) if begin.size else (docs, scores)
