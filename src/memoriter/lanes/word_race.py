"""BM25 in the native kernel: rows and scores of a plain OR of leaves.

The twin of `_MaxScore` in `lanes/maxscore.py`, which calls this where the kernel is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.kernel.calls import FIELD_NUMBERS, LeafWeights, ListAddresses, WordLeaves
from memoriter.kernel.library import Library
from memoriter.lanes.bm25_score import BoundLeaf, Scorer

_FEW: Final = 16
"""Rows are looked up in posting lists with so many times more entries together."""


class NativeBm25:
    """Leaves of a query, added up row by row; only for BM25 over fields (`Scorer.fits_kernel`)."""

    def __init__(self, library: Library, scorer: Scorer, leaves: Sequence[BoundLeaf]) -> None:
        self._library = library
        self._stats = scorer.stats
        self._segments = scorer.stats.view.segments
        self._leaves = [leaf for leaf in leaves if leaf.df]
        open_to = np.full((len(self._leaves), FIELD_NUMBERS), np.nan)
        means = np.ones(FIELD_NUMBERS)
        gated = bool(scorer.formula.gate)  # otherwise all leaves count in the same fields
        for at, leaf in enumerate(self._leaves if gated else self._leaves[:1]):
            for field, weight in scorer.open_fields(leaf).items():
                open_to[at if gated else slice(None), field] = weight
        boosts = np.array([leaf.boost for leaf in self._leaves])
        idfs = np.array([leaf.idf for leaf in self._leaves])
        factors = open_to * boosts[:, None] * idfs[:, None]
        for field in scorer.stats.listed:
            means[field] = scorer.mean(field)
        times = np.array([float(leaf.times) for leaf in self._leaves])
        self._weights = LeafWeights(factors, times, means, *scorer.formula.params)
        self._bound: dict[int, WordLeaves | None] = {}

    def best(self, masks: Sequence[Mask], pool: int) -> tuple[Rows, Scores]:
        """(rows, scores) inside the masks, in no order: at least all that belong to the pool."""
        rows, scores = [np.zeros(0, np.int64)], [np.zeros(0)]
        floor = -np.inf
        for n, mask in enumerate(masks):
            here = self._here(n)
            if here is None:
                continue
            count = int(np.count_nonzero(mask))
            if _FEW * count < here.size:
                # Few rows are selected: each is looked up instead of reading all lists.
                docs = np.flatnonzero(mask)
                values = here.of(self._library, docs)
                met = ~np.isnan(values)
                docs, values = docs[met], values[met]
            else:
                placed = here.best(self._library, mask, pool, floor)
                floor = placed.floor(pool, floor)
                docs, values = placed
            rows.append(self._segments[n].rows[docs])
            scores.append(values)
        return np.concatenate(rows), np.concatenate(scores)

    def of(self, rows: Rows) -> tuple[Rows, Scores]:
        """(rows, scores) of those of these rows that match, in no order."""
        if (rows[1:] < rows[:-1]).any():
            rows = np.sort(rows)
        scores = np.full(rows.size, np.nan)
        for n, segment in enumerate(self._segments):
            places, inside = segment.places(rows)
            here = self._here(n) if places.size else None
            if here is not None:
                scores[inside] = here.of(self._library, places)
        met = ~np.isnan(scores)
        return rows[met], scores[met]

    def _here(self, n: int) -> WordLeaves | None:
        """The leaves with postings in the n-th segment; None if none has any."""
        if n not in self._bound:
            self._bound[n] = self._leaves_in(n)
        return self._bound[n]

    def _leaves_in(self, n: int) -> WordLeaves | None:
        nth: list[int] = []
        lists: list[ListAddresses] = []
        for at, leaf in enumerate(self._leaves):
            hits = self._stats.occurrences(n, leaf.pattern)
            if hits is not None:
                nth.append(at)
                lists.append(hits.addresses)
        return WordLeaves(self._weights, nth, lists, self._stats.field_lengths(n)) if nth else None
