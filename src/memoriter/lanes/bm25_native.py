"""BM25 in the native kernel: rows and scores of a plain OR of leaves.

The twin of `_MaxScore` in `lanes/maxscore.py`, which calls this where the kernel is installed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.kernel.calls import FIELD_NUMBERS, LeafWeights, WordLists
from memoriter.kernel.found_rows import Wanted
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import Job, Library
from memoriter.lanes.bm25_score import BoundLeaf, Scorer


class NativeBm25:
    """Leaves of a query, added up row by row; only for BM25 over fields (`Scorer.fits_kernel`)."""

    def __init__(self, library: Library, scorer: Scorer, leaves: Sequence[BoundLeaf]) -> None:
        self._library = library
        leaves = [leaf for leaf in leaves if leaf.df]
        open_to, means = scorer.kernel_weights
        if scorer.is_gated:
            open_to = np.full((len(leaves), FIELD_NUMBERS), np.nan)
            for at, leaf in enumerate(leaves):
                for field, weight in scorer.open_fields(leaf).items():
                    open_to[at, field] = weight
        numbers = [(leaf.boost, leaf.idf, leaf.times) for leaf in leaves]
        weights = LeafWeights(open_to, numbers, means, *scorer.formula.params)
        lists = [scorer.stats.lists(leaf.pattern) for leaf in leaves]
        self._words = WordLists(weights, scorer.stats.rows_for_kernel, lists)

    def best(self, masks: Sequence[Mask], pool: int) -> Started[tuple[Rows, Scores]]:
        """(rows, scores) inside the masks, in no order: at least all that belong to the pool."""
        return self._words.best(masks, pool)

    def of(self, rows: Rows) -> Scores:
        """The score of each of these rows, which ascend; NaN where it does not match."""
        wanted = Wanted(rows)
        self._library.run([self._words.of(wanted)])
        return wanted.values

    def about(self, wanted: Wanted) -> Job:
        """The job that computes the scores of the wanted rows."""
        return self._words.of(wanted)
