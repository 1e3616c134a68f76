"""MaxScore: from a query tree to the best rows.

All leaves at once where any may match, else node by node.

Where a query is a plain alternative of leaves, as nearly all are, leaves are taken in the order of
the most that they can add. Once what is left can lift no new row into the pool, it is looked up for
the rows still in the race only (Turtle & Flood, Query Evaluation: Strategies and Optimizations,
1995). All numbers are on the grid, so skipping changes no bit of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.lanes.scoring import Counted, Scorer

_FEW: Final = 16
"""Rows are looked up in a list this many times longer, rather than the list read through."""
_SHORT: Final = 500
"""A shorter list is read without asking whether it need be."""


@dataclass(frozen=True, slots=True)
class Every:
    """Rows that satisfy every part."""

    parts: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Rows that satisfy at least one part."""

    parts: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """Rows that satisfy `keep` and not `drop`."""

    keep: Bound
    drop: Bound


Bound: TypeAlias = Counted | Every | Some | Minus
"""A query tree bound to a view."""


def best_rows(scorer: Scorer, tree: Bound, masks: Sequence[Mask], pool: int) -> tuple[Rows, Scores]:
    """Rows inside the masks, at least all that can be in the pool, in no order."""
    leaves = tree.parts if isinstance(tree, Some) else (tree,)
    flat = [leaf for leaf in leaves if isinstance(leaf, Counted)]
    adds = scorer.adds or len(leaves) == 1
    if len(flat) == len(leaves) and adds:
        return _MaxScore(scorer, flat, masks, pool).run()
    return _all(scorer, tree, masks)


class _MaxScore:
    """Leaves, the most promising first, until the rest can change nothing."""

    def __init__(
        self, scorer: Scorer, leaves: Sequence[Counted], masks: Sequence[Mask], pool: int
    ) -> None:
        self._scorer = scorer
        self._pool = pool
        weighed = [(scorer.most(leaf), leaf) for leaf in leaves if leaf.df]
        self._leaves = sorted(weighed, key=lambda pair: -pair[0])
        self._tracks = [_Track(scorer, n, mask) for n, mask in enumerate(masks)]

    def run(self) -> tuple[Rows, Scores]:
        left = whole = sum(most for most, _ in self._leaves)
        floor, open_to_all = -1.0, True
        for most, leaf in self._leaves:
            if leaf.df > _SHORT and left < whole - left:  # nobody has more than was to be had
                floor = self._floor()
            if floor > left:
                # No new row can reach the pool any more, nor any of these that is too far behind.
                open_to_all = False
                for track in self._tracks:
                    track.keep(floor - left)
            left -= most
            for track in self._tracks:
                track.add(leaf, only_known=not open_to_all)
        rows = [track.rows for track in self._tracks]
        scores = [track.known for track in self._tracks]
        return np.concatenate([np.zeros(0, np.int64), *rows]), np.concatenate(
            [np.zeros(0), *scores]
        )

    def _floor(self) -> float:
        """What the last row of a full pool has by now; below 0 while the pool is not full."""
        known = np.concatenate([np.zeros(0), *(track.known for track in self._tracks)])
        if known.size < self._pool:
            return -1.0
        return float(np.partition(known, -self._pool)[-self._pool])


class _Track:
    """The rows of one segment in the race, with what they have so far."""

    def __init__(self, scorer: Scorer, n: int, mask: Mask) -> None:
        self._scorer = scorer
        self._n = n
        self._mask = mask
        self._scores = np.zeros(mask.size)
        self._hit = np.zeros(mask.size, np.bool_)
        self._docs = [np.zeros(0, np.int32)]

    @cached_property
    def _is_whole(self) -> bool:
        return bool(self._mask.all())

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return np.flatnonzero(self._mask).astype(np.int32)

    @property
    def docs(self) -> NDArray[np.int32]:
        """The rows in the race, by place."""
        if len(self._docs) > 1:
            self._docs = [np.concatenate(self._docs)]
        return self._docs[0]

    @property
    def known(self) -> Scores:
        """What they have."""
        return self._scores[self.docs]

    @property
    def rows(self) -> Rows:
        """The rows themselves."""
        return self._scorer.ground.view.segments[self._n].rows[self.docs]

    def keep(self, need: float) -> None:
        """Drop rows that have less than they need."""
        docs = self.docs
        stays = self._scores[docs] >= need
        self._hit[docs[~stays]] = False
        self._docs = [docs[stays]]

    def add(self, leaf: Counted, *, only_known: bool) -> None:
        """Add what a leaf brings: to all rows that may be found, or to those in the race."""
        postings = self._scorer.ground.occurrences(self._n, leaf.what)
        if postings is None:
            return
        if only_known:
            docs = self.docs
            few = docs.size * _FEW < postings.docs.size
            postings = (
                postings.at(np.sort(docs)) if few else postings.take(self._hit[postings.docs])
            )
        elif not self._is_whole:
            few = self._places.size * _FEW < postings.docs.size
            postings = (
                postings.at(self._places) if few else postings.take(self._mask[postings.docs])
            )
        for share in self._scorer.shares(self._n, leaf, postings):
            self._scores[share.docs] += share.values
            if not only_known:
                fresh = share.docs[~self._hit[share.docs]]
                self._hit[fresh] = True
                self._docs.append(fresh)


# -- node by node ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hits:
    """Of each row of a segment: whether it satisfies a node, scores through it, and how much."""

    hit: Mask
    counts: Mask
    """A word may be there and count nothing: its field weighs nothing, or is closed to it."""
    values: NDArray[np.float64]


def _all(scorer: Scorer, tree: Bound, masks: Sequence[Mask]) -> tuple[Rows, Scores]:
    """Every row that satisfies the tree and scores, with its score."""
    rows: list[Rows] = [np.zeros(0, np.int64)]
    scores: list[Scores] = [np.zeros(0)]
    for n, mask in enumerate(masks):
        hits = _node(scorer, tree, n, mask)
        kept = hits.hit & hits.counts
        rows.append(scorer.ground.view.segments[n].rows[kept])
        scores.append(hits.values[kept])
    return np.concatenate(rows), np.concatenate(scores)


def _node(scorer: Scorer, node: Bound, n: int, mask: Mask) -> _Hits:
    match node:
        case Counted():
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


def _leaf(scorer: Scorer, leaf: Counted, n: int, mask: Mask) -> _Hits:
    hit, counts = np.zeros(mask.size, np.bool_), np.zeros(mask.size, np.bool_)
    values = np.zeros(mask.size)
    postings = scorer.ground.occurrences(n, leaf.what) if leaf.df else None
    if postings is not None:
        postings = postings.take(mask[postings.docs])
        hit[postings.docs] = True
        for share in scorer.shares(n, leaf, postings):
            counts[share.docs] = True
            values[share.docs] += share.values
    return _Hits(hit, counts, values)
