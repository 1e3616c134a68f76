"""The vectors nearest to one: exactly, or by codes first and exactly after.

Exactly: a float32 scan finds every vector that could belong to the pool, with a proven margin for
its rounding; dot products on the grid decide. By codes: two estimates, rough and fine, leave out
what stands more than some standard errors below the pool; what is left is decided on the grid as
well. Either way the same vectors give the same answer, whatever segments they are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.view import View
from memoriter.index.view_vectors import Places, SegmentVectors, rows_at, selected_vectors
from memoriter.rank.codes import NARROWEST, WIDEST, Probe
from memoriter.rank.grid import cosines, scan_margin, snap

_ERRORS: Final = 2.1
"""How many standard errors an estimate may be off: recall is 99 % and more (ADR 0031)."""
_FIRST: Final = 4096
"""How many vectors a first look takes, to learn how near the pool is."""
_SAMPLE: Final = 16
_FARTHEST: Final = float(np.iinfo(np.uint16).max)
"""No rough distance is larger."""
_BLOCK: Final = 2048
_RUN: Final = 64
_FEW: Final = 4
"""What is less than a quarter of a segment is taken out before it is scanned."""
T = TypeVar("T", np.float32, np.float64)
Chosen = list[tuple[SegmentVectors, Places]]
Near = list[tuple[SegmentVectors, Places, Scores]]
Scan = Literal["exact", "approximate"]


def scan_of(view: View, masks: Sequence[Mask], exact_up_to: int) -> Scan:
    """How the vectors inside some masks are to be read."""
    return _scan_of(selected_vectors(view, masks), exact_up_to)


def _scan_of(parts: Sequence[SegmentVectors], exact_up_to: int) -> Scan:
    coded = all(NARROWEST <= each.matrix.shape[1] <= WIDEST for each in parts)
    many = sum(each.count for each in parts) > exact_up_to
    return "approximate" if many and coded else "exact"


class Nearest:
    """One query against the vectors of the rows inside some masks."""

    def __init__(self, view: View, masks: Sequence[Mask], query: NDArray[np.float32]) -> None:
        self._reading = view
        self._query = query
        self._held = selected_vectors(view, masks)
        self._is_plain = all(each.is_plain for each in self._held)

    def best(self, pool: int, floor: float, exact_up_to: int) -> tuple[Rows, Scores, Scan]:
        """(rows, their cosines, how they were found): the best `pool` above the floor, and more."""
        scan = _scan_of(self._held, exact_up_to)
        chosen = self._by_codes(pool, floor) if scan == "approximate" else None
        if chosen is None:
            scan, chosen = "exact", [(each, np.flatnonzero(each.seen)) for each in self._held]
        docs, scores = self._decided(self._narrowed(chosen, pool, floor))
        return rows_at(self._reading, docs), scores, scan

    def _decided(self, chosen: Chosen) -> tuple[Places, Scores]:
        """(where rows stand, the exact cosine of their best vector among the chosen ones)."""
        docs = np.concatenate([np.zeros(0, np.intp), *(each.docs(at) for each, at in chosen)])
        scores = np.concatenate([np.zeros(0), *(_exact(e, at, self._query) for e, at in chosen)])
        return (docs, scores) if self._is_plain else _best_part(docs, scores)

    def _narrowed(self, chosen: Chosen, pool: int, floor: float) -> Chosen:
        """Those of the chosen vectors whose scanned cosine may reach the pool and the floor."""
        scans = [(each, at, _scan(each, at, self._query)) for each, at in chosen]
        cutoff = self._cutoff(scans, pool, floor)
        return [(each, at[scores >= cutoff]) for each, at, scores in scans]

    def _cutoff(
        self,
        scans: Sequence[tuple[SegmentVectors, Places, NDArray[np.float32]]],
        pool: int,
        floor: float,
    ) -> float:
        """Below this a scanned cosine can neither reach the pool nor the floor."""
        margin = scan_margin(self._query.size)
        scores = np.concatenate([np.zeros(0, np.float32), *(s for _, _, s in scans)])
        if not self._is_plain:
            docs = np.concatenate([np.zeros(0, np.intp), *(e.docs(at) for e, at, _ in scans)])
            _, scores = _best_part(docs, scores)
        if scores.size <= pool:
            return floor - margin
        return max(_reached_by(scores, pool) - 2 * margin, floor - margin)

    def _by_codes(self, pool: int, floor: float) -> Chosen | None:
        """The vectors that estimates leave; None where they leave too many to be worth it."""
        probe = Probe.of(self._query)
        looks = [_Look(each, probe) for each in self._held]
        cut = _rough_cut(looks, max(_FIRST, 8 * pool))
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
        """A cosine that `pool` rows reach, by those vectors whose estimates are not less."""
        _, scores = self._decided(_reaching(near, least))
        return float(np.partition(scores, -pool)[-pool]) if scores.size >= pool else -1.0


def _estimated(looks: Sequence[_Look], cut: float) -> Near:
    """The vectors within a rough distance, with fine estimates."""
    near = [(look, look.within(cut)) for look in looks]
    return [(look.held, at, look.fine(at)) for look, at in near]


def _reaching(near: Near, least: float) -> Chosen:
    return [(each, at[estimates >= least]) for each, at, estimates in near]


def _least(near: Near, count: int, floor: float) -> float:
    """The estimate that so many reach; `floor` does that already, or they are fewer."""
    flat = np.concatenate([estimates[estimates >= floor] for _, _, estimates in near])
    return float(np.partition(flat, -count)[-count]) if flat.size > count else floor


class _Look:
    """The wanted vectors of a segment, held against a probe."""

    def __init__(self, each: SegmentVectors, probe: Probe) -> None:
        self.held = each
        self._probe = probe
        signs = each.segment.codes.signs
        self._some: Places | None = None
        if _FEW * each.count < each.seen.size:
            self._some = np.flatnonzero(each.seen)
            signs = np.take(signs, self._some, axis=1)
        self._rough = probe.rough(signs)

    @property
    def sample(self) -> NDArray[np.uint16]:
        """The rough distances of one wanted vector in sixteen."""
        at = self.held.segment.sampled
        at = at[self.held.seen[at]]
        return self._rough[at if self._some is None else np.searchsorted(self._some, at)]

    def within(self, distance: float) -> Places:
        """The wanted vectors that are not further away."""
        near = np.flatnonzero(self._rough <= int(min(max(distance, 0.0), _FARTHEST)))
        return near[self.held.seen[near]] if self._some is None else self._some[near]

    def fine(self, at: Places) -> Scores:
        """Fine estimates of some of them."""
        place = at if self._some is None else np.searchsorted(self._some, at)
        return self._probe.fine(self.held.segment.codes.steps, at, self._rough[place])


def _rough_cut(looks: Sequence[_Look], count: int) -> float:
    """The distance within which about so many vectors lie."""
    sample = np.concatenate([look.sample for look in looks])
    place = count // _SAMPLE
    return float(np.partition(sample, place)[place]) if place < sample.size else _FARTHEST


def _scan(each: SegmentVectors, at: Places, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines of some vectors in float32: of all at once where most are wanted."""
    if _FEW * at.size > each.seen.size:
        scores = np.vecdot(each.matrix, query)
        return scores if at.size == scores.size else scores[at]
    out = np.empty(at.size, np.float32)
    room = np.empty((min(_BLOCK, at.size), query.size), np.float32)
    for start in range(0, at.size, _BLOCK):
        some = at[start : start + _BLOCK]
        taken = np.take(each.matrix, some, axis=0, out=room[: some.size], mode="clip")
        np.vecdot(taken, query, out=out[start : start + _BLOCK])
    return out


def _exact(each: SegmentVectors, at: Places, query: NDArray[np.float32]) -> Scores:
    """Cosines of some vectors on the grid."""
    return snap(cosines(each.matrix[at], query))


def _reached_by(scores: NDArray[np.float32], count: int) -> float:
    """A score that at least `count` of them reach, and hardly more.

    Of many, the best of each run of 64: among those the count-th is such a score too.
    """
    if scores.size >= 4 * _RUN * count:
        whole = scores.size // _RUN * _RUN
        scores = scores[:whole].reshape(-1, _RUN).max(axis=1)
    return float(np.partition(scores, -count)[-count])


def _best_part(docs: Places, scores: NDArray[T]) -> tuple[Places, NDArray[T]]:
    """Each row once, with the best score of its vectors."""
    order = np.lexsort((scores, docs))
    last = np.append(np.diff(docs[order]) != 0, True)[: docs.size]
    return docs[order][last], scores[order][last]
