"""BM25 in the native kernel: rows and scores of a plain OR of leaves.

The twin of `_MaxScore` in `lanes/maxscore.py`, which calls this where the kernel is installed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.field_stats import FieldStats
from memoriter.kernel.calls import FIELD_NUMBERS, LeafWeights, ListAddresses, WordLists
from memoriter.kernel.library import Library
from memoriter.lanes.bm25_score import BoundLeaf, Scorer


class NativeBm25:
    """Leaves of a query, added up row by row; only for BM25 over fields (`Scorer.fits_kernel`)."""

    def __init__(self, library: Library, scorer: Scorer, leaves: Sequence[BoundLeaf]) -> None:
        self._library = library
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
        weights = LeafWeights(factors, times, means, *scorer.formula.params)
        stats, segments = scorer.stats, range(len(scorer.stats.view.segments))
        lists = [self._lists(stats, n) for n in segments]
        self._words = WordLists(weights, [stats.for_kernel(n) for n in segments], lists)

    def _lists(self, stats: FieldStats, n: int) -> dict[int, ListAddresses]:
        """By leaf, its postings in the n-th segment."""
        found = ((at, stats.occurrences(n, leaf.pattern)) for at, leaf in enumerate(self._leaves))
        return {at: hits.addresses for at, hits in found if hits is not None}

    def best(self, masks: Sequence[Mask], pool: int) -> tuple[Rows, Scores]:
        """(rows, scores) inside the masks, in no order: at least all that belong to the pool."""
        return self._words.best(self._library, masks, pool)

    def of(self, rows: Rows) -> tuple[Rows, Scores]:
        """(rows, scores) of those of these rows that match, in no order."""
        if (rows[1:] < rows[:-1]).any():
            rows = np.sort(rows)
        scores = self._words.of(self._library, rows)
        met = ~np.isnan(scores)
        return rows[met], scores[met]
