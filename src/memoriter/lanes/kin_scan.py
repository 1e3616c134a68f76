"""The scan of the lane `kin`: from query words to the windows that contain similar words.

MaxScore, as in `lanes.maxscore`: words with the largest upper bound go first; once the remaining
words cannot lift a new window into the pool, they are added only to windows that are still
candidates. All numbers are on the grid, so skipping changes no bit of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows, Scores, Spread
from memoriter.index.segment import Segment
from memoriter.index.view import View
from memoriter.index.windows import Windows
from memoriter.kernel.calls import NearWords, SearchedWindows, WindowSearch, search_windows
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import native_library
from memoriter.rank.grid import STEP, sum_of_squares
from memoriter.rank.top import reached_by

SHORT: Final = 2_000
"""With fewer windows to read for a word, computing the threshold costs more than it saves."""
_DENSE: Final = 8
"""If a word is looked for in more than 1/8 of the windows, all windows are added up at once."""
Met = tuple[NDArray[np.int32], NDArray[np.intp]]
"""Distinct windows, and for each the index of the similar word that matched there."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryWord:
    """A word of the query: its df and weight in the view, and the similar words it may match."""

    token: int
    df: int
    idf: float
    norm: float
    weight: float
    near: NDArray[np.int64]
    """Similar words, most similar first."""
    cosines: NDArray[np.float64]
    shares: Scores
    """What a match with each of them adds: weight · cosine, on the grid."""


class KinScan:
    """Adds query words by descending upper bound until the rest cannot change the pool."""

    def __init__(
        self, view: View, words: Sequence[QueryWord], masks: Sequence[Mask], pool: int
    ) -> None:
        self._pool = pool
        chosen = [(s, mask) for s, mask in zip(view.segments, masks, strict=True) if mask.any()]
        self._segments = [SegmentWindows(segment, mask, words) for segment, mask in chosen]
        weighed = [(self._upper_bound(n), n) for n in range(len(words))]
        self._order = sorted(weighed, key=lambda pair: -pair[0])

    def _upper_bound(self, n: int) -> float:
        """The upper bound of what the n-th query word adds to a window."""
        return max((segment.upper_bound(n) for segment in self._segments), default=0.0)

    def run(self) -> tuple[Rows, Scores]:
        """(rows, scores): exact for the pool; rows below it may be missing or scored too low."""
        left, ceiling = sum(most for most, _ in self._order), 0.0
        is_open = True
        for most, n in self._order:
            work = sum(segment.work(n) for segment in self._segments)
            # `ceiling` bounds every score so far: below `left` the threshold cannot help yet.
            if work > SHORT and ceiling > left:
                ceiling = floor = self._floor()
                if floor > left:
                    # No new window can reach the pool any more, nor can one this far below it.
                    is_open = False
                    for segment in self._segments:
                        segment.keep(floor - left)
            left, ceiling = left - most, ceiling + most
            for segment in self._segments:
                segment.add(n, only_known=not is_open)
        best = [segment.best() for segment in self._segments]
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in best)])
        return rows, np.concatenate([np.zeros(0), *(scores for _, scores in best)])

    def _floor(self) -> float:
        """A lower bound of the pool's last score so far; 0 while the pool is not full."""
        known = [segment.best(2 * self._pool)[1] for segment in self._segments]
        every = np.concatenate([np.zeros(0), *known])
        if every.size < self._pool:
            return 0.0
        return float(np.partition(every, -self._pool)[-self._pool])


class KinScores:
    """The score of every row for the words of a query, without skipping any.

    Cheaper than a scan for a pool and another one for further rows, if both are asked for.
    """

    def __init__(
        self, view: View, scores: Sequence[Scores], best: tuple[Rows, Scores], spread: Spread
    ) -> None:
        """`scores` are those of each segment's rows."""
        self._segments, self._scores = view.segments, scores
        self.best = best
        """(rows, scores) above 0 inside the masks, in no order: at least the pool."""
        self.spread = spread
        """How the readable rows are scored."""

    def of(self, rows: Rows) -> Scores:
        """The score of each of these rows; 0 if it has none."""
        if len(self._segments) == 1:
            places, here = self._segments[0].places(rows)
            if places.size == rows.size:
                return self._scores[0][places]
        out = np.zeros(rows.size)
        for segment, values in zip(self._segments, self._scores, strict=True):
            places, here = segment.places(rows)
            out[here] = values[places]
        return out


def kin_scores(
    view: View,
    words: Sequence[QueryWord],
    masks: Sequence[Mask],
    readable: Sequence[Mask],
    pool: int,
) -> Started[KinScores]:
    """The scores of all rows, the best inside `masks`, the spread inside `readable`."""
    if native_library() is None:
        return Started(lambda: _numpy_scores(view, words, masks, readable, pool))
    parts = zip(view.segments, masks, readable, strict=True)
    searched = [SearchedWindows(each.windows.for_kernel, *both) for each, *both in parts]
    ends = list(accumulate(len(each) for each in view.segments))

    def made(search: WindowSearch) -> KinScores:
        every = [search.every[a:b] for a, b in pairwise((0, *ends))]
        return KinScores(view, every, (search.rows, search.scores), Spread(*search.spread))

    return search_windows(searched, _near_words(words), pool).then(made)


def _numpy_scores(
    view: View,
    words: Sequence[QueryWord],
    masks: Sequence[Mask],
    readable: Sequence[Mask],
    pool: int,
) -> KinScores:
    scores = [_row_scores(segment, words) for segment in view.segments]
    best = _best(view.segments, scores, masks, pool)
    return KinScores(view, scores, best, _spread(scores, readable))


def _best(
    segments: Sequence[Segment], scores: Sequence[Scores], masks: Sequence[Mask], pool: int
) -> tuple[Rows, Scores]:
    """(rows, scores) above 0 inside the masks: at least the pool."""
    every = [
        (segment, values if mask.all() else values * mask)
        for segment, values, mask in zip(segments, scores, masks, strict=True)
    ]
    # A score that `pool` rows of one segment reach is a lower bound of what the pool needs.
    reached = [reached_by(values, pool) for _, values in every if values.size > pool]
    least = max([STEP, *reached])
    met = [(segment.rows, values, np.flatnonzero(values >= least)) for segment, values in every]
    return (
        np.concatenate([np.zeros(0, np.int64), *(rows[at] for rows, _, at in met)]),
        np.concatenate([np.zeros(0), *(values[at] for _, values, at in met)]),
    )


def _spread(scores: Sequence[Scores], masks: Sequence[Mask]) -> Spread:
    """How the rows inside the masks are scored."""
    inside = [
        values if mask.all() else values[mask] for values, mask in zip(scores, masks, strict=True)
    ]
    return Spread(
        sum(values.size for values in inside),
        math.fsum(float(values.sum()) for values in inside),
        math.fsum(sum_of_squares(values) for values in inside),
    )


def _row_scores(segment: Segment, words: Sequence[QueryWord]) -> Scores:
    """The score of the best window of each row of a segment."""
    windows = segment.windows
    scores, share = np.zeros(len(windows)), np.zeros(len(windows))
    for each, (first, last) in zip(words, _spans(windows, words), strict=True):
        sizes = last - first
        there = np.flatnonzero(sizes)[::-1]  # most similar last: the last write wins below
        if not there.size:
            continue
        spans = zip(first[there].tolist(), last[there].tolist(), strict=True)
        # As intp, or each use of these indices would convert them.
        at = np.concatenate([windows.holding[a:b] for a, b in spans], dtype=np.intp)
        share[at] = np.repeat(each.shares[there], sizes[there])
        if _DENSE * at.size > len(windows):
            scores += share
            share.fill(0.0)
        else:
            scores[at] += share[at]  # a window that is listed twice gets the same sum twice
            share[at] = 0.0
    return windows.best_of_rows(scores)


def _spans(
    windows: Windows, words: Sequence[QueryWord]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each word of the query, where the windows of the words similar to it begin and end."""
    first, last = windows.spans(np.concatenate([np.zeros(0, np.int64), *(w.near for w in words)]))
    cuts = accumulate((each.near.size for each in words), initial=0)
    return [(first[a:b], last[a:b]) for a, b in pairwise(cuts)]


def _near_words(words: Sequence[QueryWord]) -> NearWords:
    """The words similar to those of the query, for the native kernel."""
    near = np.concatenate([np.zeros(0, np.int64), *(each.near for each in words)])
    word = np.repeat(np.arange(len(words), dtype=np.int32), [each.near.size for each in words])
    return NearWords(near, word, np.concatenate([np.zeros(0), *(each.shares for each in words)]))


class SegmentWindows:
    """The windows of the selected rows of a segment, with their partial scores."""

    def __init__(self, segment: Segment, mask: Mask, words: Sequence[QueryWord]) -> None:
        self._rows = segment.rows
        self._windows = windows = segment.windows
        self._shares = [each.shares for each in words]
        self._scores = np.zeros(len(windows))
        self._slots = np.empty(len(windows), np.int32)
        self._open = None if mask.all() else mask[windows.owners]
        self._known = [np.zeros(0, np.int32)]
        self._spans = _spans(windows, words)

    def work(self, n: int) -> int:
        """The number of postings to read for the n-th query word."""
        first, last = self._spans[n]
        return int((last - first).sum())

    def upper_bound(self, n: int) -> float:
        """The upper bound of what the n-th query word adds to a window here."""
        first, last = self._spans[n]
        return float(self._shares[n][last > first].max(initial=0.0))

    def met(self, n: int) -> Met:
        """The windows with a word similar to the n-th query word, and the best word there."""
        first, last = self._spans[n]
        there = np.flatnonzero(last > first)[::-1]  # most similar last: the last write wins below
        if not there.size:
            return np.zeros(0, np.int32), there
        spans = zip(first[there].tolist(), last[there].tolist(), strict=True)
        holding = self._windows.holding
        windows = np.concatenate([holding[a:b] for a, b in spans])
        sizes = (last - first)[there]
        if self._open is None:
            nth = np.repeat(there, sizes)
        else:
            inside = np.flatnonzero(self._open[windows])
            windows = windows[inside]
            nth = there[np.searchsorted(np.cumsum(sizes), inside, side="right")]
        # One slot per window: of several similar words in a window the last written one stays.
        turn = np.arange(windows.size, dtype=np.int32)
        self._slots[windows] = turn
        kept = self._slots[windows] == turn
        return windows[kept], nth[kept]

    def add(self, n: int, *, only_known: bool) -> None:
        """Add the n-th query word to all windows, or only to those that are still candidates."""
        windows, nth = self.met(n)
        before = self._scores[windows]
        self._scores[windows] = before + self._shares[n][nth]
        if not only_known:
            self._known.append(windows[before == 0.0])

    def keep(self, need: float) -> None:
        """Keep only windows with at least this partial score as candidates."""
        known = np.concatenate(self._known)
        known = known[self._scores[known] >= need]
        self._open = np.zeros(len(self._windows), np.bool_)
        self._open[known] = True
        self._known = [known]

    def best(self, windows: int | None = None) -> tuple[Rows, Scores]:
        """(rows, score of their best window), over all candidates or the best `windows` of them."""
        known = np.concatenate(self._known)
        if windows is not None and windows < known.size:
            scores = self._scores[known]
            known = known[scores >= np.partition(scores, -windows)[-windows]]
        known = np.sort(known)
        owners, scores = self._windows.owners[known], self._scores[known]
        begin = np.flatnonzero(np.diff(owners, prepend=-1))
        if begin.size < owners.size:
            owners, scores = owners[begin], np.maximum.reduceat(scores, begin)
        return self._rows[owners], scores
