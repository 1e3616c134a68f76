"""From the words of a query to the windows that have words like them.

Words that weigh most go first. Once the rest can lift no new window into the pool, it is looked up
for the windows still in the race only, as in `lanes.maxscore`. All numbers are on the grid, so that
changes no bit of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.segment import Segment
from memoriter.index.view import View

_SHORT: Final = 2_000
"""With fewer windows to read for a word, nobody asks whether they need be read."""
Met = tuple[NDArray[np.int32], NDArray[np.intp]]
"""Windows, no two alike, and which of its nearest words a word of the query meets in each."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryWord:
    """A word of the query: how rare it is in the view, its weight, and the words it may meet."""

    token: int
    df: int
    idf: float
    norm: float
    weight: float
    near: NDArray[np.int64]
    """Nearest first."""
    cosines: NDArray[np.float64]
    shares: Scores
    """What meeting each of them is worth: weight · cosine, on the grid."""


class KinScan:
    """Words of the query, the heaviest first, until the rest can change nothing."""

    def __init__(
        self, view: View, words: Sequence[QueryWord], masks: Sequence[Mask], pool: int
    ) -> None:
        self._pool = pool
        chosen = [(s, mask) for s, mask in zip(view.segments, masks, strict=True) if mask.any()]
        self._tracks = [Track(segment, mask, words) for segment, mask in chosen]
        weighed = [(self._most(n), n) for n in range(len(words))]
        self._order = sorted(weighed, key=lambda pair: -pair[0])

    def _most(self, n: int) -> float:
        """No window gets more than this from a word of the query."""
        return max((track.most(n) for track in self._tracks), default=0.0)

    def run(self) -> tuple[Rows, Scores]:
        """Rows and scores; of those below the pool some are missing or too low."""
        left, ceiling = sum(most for most, _ in self._order), 0.0
        is_open = True
        for most, n in self._order:
            work = sum(track.work(n) for track in self._tracks)
            if work > _SHORT and ceiling > left:  # the floor is nowhere above the ceiling
                ceiling = floor = self._floor()
                if floor > left:
                    # No new window can reach the pool any more, nor any of these too far behind.
                    is_open = False
                    for track in self._tracks:
                        track.keep(floor - left)
            left, ceiling = left - most, ceiling + most
            for track in self._tracks:
                track.add(n, only_known=not is_open)
        best = [track.best() for track in self._tracks]
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in best)])
        return rows, np.concatenate([np.zeros(0), *(scores for _, scores in best)])

    def _floor(self) -> float:
        """What the last row of a full pool has by now, or less; 0 while the pool is not full."""
        known = [track.best(2 * self._pool)[1] for track in self._tracks]
        every = np.concatenate([np.zeros(0), *known])
        if every.size < self._pool:
            return 0.0
        return float(np.partition(every, -self._pool)[-self._pool])


class Track:
    """The windows of some rows of a segment, with what they have so far."""

    def __init__(self, segment: Segment, mask: Mask, words: Sequence[QueryWord]) -> None:
        self._rows = segment.rows
        self._windows = windows = segment.windows
        self._shares = [each.shares for each in words]
        self._scores = np.zeros(len(windows))
        self._slots = np.empty(len(windows), np.int32)
        self._open = None if mask.all() else mask[windows.owners]
        self._known = [np.zeros(0, np.int32)]
        near = np.concatenate([np.zeros(0, np.int64), *(each.near for each in words)])
        first, last = windows.spans(near)
        cuts = np.cumsum([0, *(each.near.size for each in words)]).tolist()
        self._spans = [(first[a:b], last[a:b]) for a, b in pairwise(cuts)]

    def work(self, n: int) -> int:
        """How much there is to read for a word of the query."""
        first, last = self._spans[n]
        return int((last - first).sum())

    def most(self, n: int) -> float:
        """No window gets more than this from it."""
        first, last = self._spans[n]
        return float(self._shares[n][last > first].max(initial=0.0))

    def met(self, n: int) -> Met:
        """In which windows a word of the query meets another, and the nearest one that it meets."""
        first, last = self._spans[n]
        there = np.flatnonzero(last > first)[::-1]  # the nearest come last, and stay
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
        # Of several words that stand in a window, the last written here keeps the slot.
        turn = np.arange(windows.size, dtype=np.int32)
        self._slots[windows] = turn
        kept = self._slots[windows] == turn
        return windows[kept], nth[kept]

    def add(self, n: int, *, only_known: bool) -> None:
        """Add what a word of the query brings: to all windows, or to those in the race."""
        windows, nth = self.met(n)
        before = self._scores[windows]
        self._scores[windows] = before + self._shares[n][nth]
        if not only_known:
            self._known.append(windows[before == 0.0])

    def keep(self, need: float) -> None:
        """From now on only the windows that have what they need are in the race."""
        known = np.concatenate(self._known)
        known = known[self._scores[known] >= need]
        self._open = np.zeros(len(self._windows), np.bool_)
        self._open[known] = True
        self._known = [known]

    def best(self, windows: int | None = None) -> tuple[Rows, Scores]:
        """Rows with a window in the race, and what their best one has; of the best windows only."""
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
