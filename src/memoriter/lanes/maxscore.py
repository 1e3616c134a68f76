"""MaxScore: from a bound query tree to the best rows. Called by the lane `bm25`.

If the query is a plain OR of leaves, as nearly all are, leaves are read in descending order of
their upper bound. Once the remaining leaves cannot lift a new row into the pool, they are added
only to rows that are still candidates (Turtle & Flood, Query Evaluation: Strategies and
Optimizations, 1995; ADR 0022). All numbers are on the grid, so skipping changes no bit of the
answer. Any other tree is evaluated node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows, Scores, scores_at
from memoriter.index.term_lists import Postings
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import native_library
from memoriter.lanes.bm25_native import NativeBm25
from memoriter.lanes.bm25_score import BoundLeaf, Scorer

_FEW: Final = 16
"""Rows are looked up in a posting list that is this many times longer, instead of reading it."""
_SHORT: Final = 500
"""For a shorter posting list, computing the threshold costs more than reading the list."""


@dataclass(frozen=True, slots=True)
class Every:
    """Rows that match every part."""

    parts: tuple[BoundTree, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Rows that match at least one part."""

    parts: tuple[BoundTree, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """Rows that match `keep` and not `drop`."""

    keep: BoundTree
    drop: BoundTree


BoundTree: TypeAlias = BoundLeaf | Every | Some | Minus
"""A query tree bound to a view."""


def positive_leaves(tree: BoundTree) -> tuple[BoundLeaf, ...]:
    """The leaves of a tree that can add to a score: not those that a row must not match."""
    if isinstance(tree, BoundLeaf):
        return (tree,)
    if isinstance(tree, Minus):
        return positive_leaves(tree.keep)
    return tuple(chain.from_iterable(map(positive_leaves, tree.parts)))


def best_rows(
    scorer: Scorer, tree: BoundTree, masks: Sequence[Mask], pool: int
) -> Started[tuple[Rows, Scores]]:
    """(rows, scores) inside the masks, in no order: at least all rows that belong to the pool."""
    native = native_bm25(scorer, tree)
    if native is not None:
        return native.best(masks, pool)
    leaves = _plain_leaves(scorer, tree)
    if leaves is None:
        return Started(lambda: _all(scorer, tree, masks))
    return Started(lambda: _MaxScore(scorer, leaves, masks, pool).run())


def native_bm25(scorer: Scorer, tree: BoundTree) -> NativeBm25 | None:
    """The tree in the native kernel; None if numpy scores it. The last one of a scorer is kept."""
    fast = native_library() if scorer.fits_kernel else None
    if fast is None:
        return None
    last = scorer.last_native  # threads share a scorer
    if last is None or last[0] is not tree:
        leaves = _plain_leaves(scorer, tree)
        last = (tree, None if leaves is None else NativeBm25(fast, scorer, leaves))
        scorer.last_native = last
    return cast("NativeBm25 | None", last[1])


def scores_of(scorer: Scorer, tree: BoundTree, rows: Rows) -> Scores:
    """The score of each of these rows, which ascend; NaN where it does not match."""
    native = native_bm25(scorer, tree)
    if native is not None:
        return native.of(rows)
    leaves, segments = _plain_leaves(scorer, tree), scorer.stats.view.segments
    every = [segment.places(rows) for segment in segments]
    masks = [np.zeros(len(segment), np.bool_) for segment in segments]
    for (places, _), mask in zip(every, masks, strict=True):
        mask[places] = True
    if leaves is None:
        return scores_at(rows, *_all(scorer, tree, masks))
    out = np.full(rows.size, np.nan)
    for n, ((places, here), mask) in enumerate(zip(every, masks, strict=True)):
        order = places.argsort()
        scores = np.empty(places.size)
        scores[order] = _at_places(scorer, leaves, n, places[order], mask)
        out[here] = scores
    return out


def _at_places(
    scorer: Scorer, leaves: Sequence[BoundLeaf], n: int, places: NDArray[np.intp], mask: Mask
) -> Scores:
    """The scores of rows of a segment, ascending; NaN where no leaf matches. The mask has them."""
    met, scores = np.zeros(places.size, np.bool_), np.zeros(places.size)
    for leaf in leaves:
        postings = scorer.stats.occurrences(n, leaf.pattern) if leaf.df else None
        if postings is None or not places.size:
            continue
        for scored in scorer.leaf_scores(n, leaf, _among(postings, places, mask)):
            at = places.searchsorted(scored.docs)
            scores[at] += scored.values
            met[at] = True
    scores[~met] = np.nan
    return scores


def _among(postings: Postings, places: NDArray[np.integer], mask: Mask) -> Postings:
    """The postings of some rows, ascending; the mask has them."""
    few = places.size * _FEW < postings.docs.size
    return postings.at(places) if few else postings.take(mask[postings.docs].nonzero()[0])


def _plain_leaves(scorer: Scorer, tree: BoundTree) -> list[BoundLeaf] | None:
    """The leaves of a plain OR whose scores are added; None if the tree is anything else."""
    leaves = tree.parts if isinstance(tree, Some) else (tree,)
    flat = [leaf for leaf in leaves if isinstance(leaf, BoundLeaf)]
    adds = scorer.adds or len(leaves) == 1
    return flat if len(flat) == len(leaves) and adds else None


class _MaxScore:
    """Adds leaves by descending upper bound until the rest cannot change the pool."""

    def __init__(
        self, scorer: Scorer, leaves: Sequence[BoundLeaf], masks: Sequence[Mask], pool: int
    ) -> None:
        self._scorer = scorer
        self._pool = pool
        weighed = [(scorer.upper_bound(leaf), leaf) for leaf in leaves if leaf.df]
        self._leaves = sorted(weighed, key=lambda pair: -pair[0])
        self._segments = [_SegmentScores(scorer, n, mask) for n, mask in enumerate(masks)]

    def run(self) -> tuple[Rows, Scores]:
        left = whole = sum(most for most, _ in self._leaves)
        floor, open_to_all = -1.0, True
        for most, leaf in self._leaves:
            # `floor` is at most `whole - left`, all that was read so far, so it can exceed `left`
            # only if `left` is below that; until then it need not be computed.
            if leaf.df > _SHORT and left < whole - left:
                floor = self._floor()
            if floor > left:
                # No new row can reach the pool any more, nor can one this far below it.
                open_to_all = False
                for segment in self._segments:
                    segment.keep(floor - left)
            left -= most
            for segment in self._segments:
                segment.add(leaf, only_known=not open_to_all)
        rows = [segment.rows for segment in self._segments]
        scores = [segment.known for segment in self._segments]
        return np.concatenate([np.zeros(0, np.int64), *rows]), np.concatenate(
            [np.zeros(0), *scores]
        )

    def _floor(self) -> float:
        """The pool's last score so far; below 0 while the pool is not full."""
        known = np.concatenate([np.zeros(0), *(segment.known for segment in self._segments)])
        if known.size < self._pool:
            return -1.0
        return float(np.partition(known, -self._pool)[-self._pool])


class _SegmentScores:
    """The candidates of one segment with their partial scores."""

    def __init__(self, scorer: Scorer, n: int, mask: Mask) -> None:
        self._scorer = scorer
        self._n = n
        self._mask = mask
        self._scores = np.empty(mask.size)  # filled where there is a candidate
        self._hit = np.zeros(mask.size, np.bool_)
        self._docs = [np.zeros(0, np.intp)]

    @cached_property
    def _is_whole(self) -> bool:
        return bool(self._mask.all())

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return np.flatnonzero(self._mask).astype(np.int32)

    @property
    def docs(self) -> NDArray[np.intp]:
        """The candidates, by place in the segment."""
        if len(self._docs) > 1:
            self._docs = [np.concatenate(self._docs)]
        return self._docs[0]

    @property
    def known(self) -> Scores:
        """Their partial scores."""
        return self._scores[self.docs]

    @property
    def rows(self) -> Rows:
        """Their row numbers."""
        return self._scorer.stats.view.segments[self._n].rows[self.docs]

    def keep(self, need: float) -> None:
        """Drop candidates with less than this partial score."""
        docs = self.docs
        stays = self._scores[docs] >= need
        self._hit[docs[~stays]] = False
        self._docs = [docs[stays]]

    def add(self, leaf: BoundLeaf, *, only_known: bool) -> None:
        """Add a leaf to all selected rows, or only to those that are already candidates."""
        postings = self._scorer.stats.occurrences(self._n, leaf.pattern)
        if postings is None:
            return
        if only_known:
            postings = _among(postings, np.sort(self.docs), self._hit)
        elif not self._is_whole:
            postings = _among(postings, self._places, self._mask)
        for scored in self._scorer.leaf_scores(self._n, leaf, postings):
            docs = scored.docs.astype(np.intp)
            if not only_known:
                fresh = docs[~self._hit[docs]]
                self._hit[fresh] = True
                self._scores[fresh] = 0.0
                self._docs.append(fresh)
            self._scores[docs] += scored.values


# -- node by node ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hits:
    """For each row of a segment: whether it matches a node, whether that counts, and the score."""

    hit: Mask
    counts: Mask
    """False if a word matches but counts nothing: its field has weight 0, or the gate is closed."""
    values: NDArray[np.float64]


def _all(scorer: Scorer, tree: BoundTree, masks: Sequence[Mask]) -> tuple[Rows, Scores]:
    """(rows, scores) of every row that matches the tree and whose match counts."""
    rows: list[Rows] = [np.zeros(0, np.int64)]
    scores: list[Scores] = [np.zeros(0)]
    for n, mask in enumerate(masks):
        hits = _node(scorer, tree, n, mask)
        kept = hits.hit & hits.counts
        rows.append(scorer.stats.view.segments[n].rows[kept])
        scores.append(hits.values[kept])
    return np.concatenate(rows), np.concatenate(scores)


def _node(scorer: Scorer, node: BoundTree, n: int, mask: Mask) -> _Hits:
    match node:
        case BoundLeaf():
            return _leaf(scorer, node, n, mask)
        case Minus():
            keep = _node(scorer, node.keep, n, mask)
            hit = keep.hit & ~_node(scorer, node.drop, n, mask).hit
            return _Hits(hit, keep.counts & hit, np.where(hit, keep.values, 0.0))
        case Every():
            parts = [_node(scorer, part, n, mask) for part in node.parts]
            hit = np.logical_and.reduce([part.hit for part in parts])
            counts = np.logical_or.reduce([part.counts for part in parts]) & hit
            return _Hits(hit, counts, np.where(hit, sum(part.values for part in parts), 0.0))
        case Some():
            parts = [_node(scorer, part, n, mask) for part in node.parts]
            each = np.stack([part.values for part in parts])
            return _Hits(
                np.logical_or.reduce([part.hit for part in parts]),
                np.logical_or.reduce([part.counts for part in parts]),
                each.sum(axis=0) if scorer.adds else each.max(axis=0),
            )


def _leaf(scorer: Scorer, leaf: BoundLeaf, n: int, mask: Mask) -> _Hits:
    hit, counts = np.zeros(mask.size, np.bool_), np.zeros(mask.size, np.bool_)
    values = np.zeros(mask.size)
    postings = scorer.stats.occurrences(n, leaf.pattern) if leaf.df else None
    if postings is not None:
        postings = postings.take(mask[postings.docs])
        hit[postings.docs] = True
        for scored in scorer.leaf_scores(n, leaf, postings):
            counts[scored.docs] = True
            values[scored.docs] += scored.values
    return _Hits(hit, counts, values)
