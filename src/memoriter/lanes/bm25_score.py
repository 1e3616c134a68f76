"""BM25 over posting lists: what one query leaf adds to each row that it occurs in.

Here counts become scores: `Scorer.leaf_scores` applies the formula of `rank/bm25.py`,
`Scorer.upper_bound` is what MaxScore needs. Used by `maxscore` and `bm25_evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.index.field_stats import FieldStats
from memoriter.index.match import NearPattern, PhrasePattern
from memoriter.index.term_lists import Postings
from memoriter.index.view import View
from memoriter.kernel.calls import FIELD_NUMBERS
from memoriter.rank.bm25 import Bm25Params, IdfForm, bm25_contribution, idf, saturation
from memoriter.rank.grid import STEP, Array, snap, snap_one
from memoriter.text.tree import Node

Form = Literal["fields", "row"]
"""`fields`: each field is scored with its own length, and the scores are added. `row`: the weighted
term frequencies of all fields are added first and scored with the length of the row, as in FTS5."""
ScoreForm = Literal["bm25", "tf_idf", "tf"]
_SCORERS: Final = 8
"""How many lanes a view keeps the scorers of."""
_FEW: Final = 64
"""Of so many postings the fields are listed from them, of more from what is kept of the term."""


@dataclass(frozen=True, slots=True)
class Formula:
    """How counts become a score; the options of the lane `bm25`."""

    form: Form
    score: ScoreForm
    idf: IdfForm
    params: Bm25Params
    weights: Mapping[str, float]
    gate: Mapping[str, float]
    """By field, the maximum share of records with a leaf; a more frequent leaf adds nothing."""
    gate_from: int
    """With fewer records than this the gate does not apply."""
    least_mean: float = 1.0
    """The minimum mean length; without it, a field that few records have would score too high."""


@dataclass(frozen=True, slots=True)
class BoundLeaf:
    """A query leaf bound to a view: what to look for, its document frequency and weight."""

    label: str
    pattern: PhrasePattern | NearPattern
    boost: float
    """The factor that the query gives it (`word^2`); no boost of the recipe."""
    df: int
    idf: float
    times: int = 1
    """How often it occurs in the query; each occurrence counts."""


@dataclass(frozen=True, slots=True)
class LeafScores:
    """What a leaf adds to rows of a segment, in one field or (None) in the whole row."""

    field: int | None
    weight: float
    docs: NDArray[np.int32]
    tfs: Array
    values: Array


class Scorer:
    """A formula applied to the field statistics of a view."""

    def __init__(self, stats: FieldStats, formula: Formula) -> None:
        self.stats = stats
        self.formula = formula
        names = stats.names
        self._weights = {n: formula.weights[names[n]] for n in stats.listed}
        self.last_native: tuple[object, object] | None = None
        """(query tree, its sum in the native kernel): rows are scored twice in a search."""
        self.leaves: dict[Node, BoundLeaf | None] = {}
        """Leaves that were bound; most questions share words."""

    def mean(self, field: int | None) -> float:
        """The mean length in the formula: of one field or (None) of whole rows."""
        mean = self.stats.row_mean if field is None else self.stats.means.get(field, 0.0)
        return max(mean, self.formula.least_mean) or 1.0

    @property
    def adds(self) -> bool:
        """Whether alternatives are added; otherwise the best of them counts."""
        return self.formula.score == "bm25"

    @cached_property
    def kernel_weights(self) -> tuple[Array, Array]:
        """By field number, its weight (NaN if it does not count) and the mean of its lengths."""
        weights, means = np.full(FIELD_NUMBERS, np.nan), np.ones(FIELD_NUMBERS)
        for field, weight in self._weights.items():
            weights[field] = weight or np.nan
        for field in self.stats.listed:
            means[field] = self.mean(field)
        return weights, means

    @property
    def fits_kernel(self) -> bool:
        """Whether it is BM25 over fields, the formula that the native kernel has."""
        return self.formula.score == "bm25" and self.formula.form == "fields"

    def bound_leaf(
        self, label: str, pattern: PhrasePattern | NearPattern, boost: float
    ) -> BoundLeaf:
        """The leaf with its document frequency and idf in the view."""
        df = self.stats.df(pattern)
        leaf_idf = idf(self.stats.total, df, self.formula.idf) if df else 0.0
        return BoundLeaf(label, pattern, boost, df, leaf_idf)

    def leaf_scores(self, n: int, leaf: BoundLeaf, postings: Postings) -> list[LeafScores]:
        """What a leaf adds in the n-th segment, by its postings; each entry has a row once."""
        if self.formula.form == "row":
            return self._row(n, leaf, postings)
        out: list[LeafScores] = []
        open_to = self.open_fields(leaf)
        if postings.docs.size <= _FEW:
            fields = sorted({*postings.fields.tolist()})
        else:
            fields = [each.field for each in self.stats.extremes(n, leaf.pattern)]
        for field in fields:
            weight = open_to.get(field, 0.0)
            some = postings if len(fields) == 1 else postings.take(postings.fields == field)
            docs = some.docs
            if docs.size and weight:
                tfs = some.tfs.astype(np.float64)
                lengths = self.stats.lengths(n, field, docs).astype(np.float64)
                mean = self.mean(field)
                values = leaf.times * self._values(
                    tfs, lengths, mean, weight * leaf.boost, leaf.idf
                )
                out.append(LeafScores(field, weight, docs, tfs, values))
        return out

    def _row(self, n: int, leaf: BoundLeaf, postings: Postings) -> list[LeafScores]:
        weights = np.zeros(256)
        for field, weight in self.open_fields(leaf).items():
            weights[field] = weight
        each = weights[postings.fields]
        kept = each > 0.0
        docs, each = postings.docs[kept], snap(each * postings.tfs)[kept]
        if not docs.size:
            return []
        # Postings are sorted by row: the fields of one row are adjacent and can be summed in runs.
        begin = np.flatnonzero(np.diff(docs, prepend=-1))
        docs, tfs = docs[begin], np.add.reduceat(each, begin)
        lengths = self.stats.row_lengths(n)[docs].astype(np.float64)
        mean = self.mean(None)
        values = leaf.times * self._values(tfs, lengths, mean, leaf.boost, leaf.idf)
        return [LeafScores(None, 1.0, docs, tfs, values)]

    def _values(
        self, tfs: Array, lengths: Array, mean: float, weight: float, leaf_idf: float
    ) -> Array:
        match self.formula.score:
            case "bm25":
                return bm25_contribution(tfs, lengths, mean, weight * leaf_idf, self.formula.params)
            case "tf_idf":
                return snap(weight * leaf_idf * tfs)
            case "tf":
                return snap(weight * tfs)

    @property
    def is_gated(self) -> bool:
        """Whether a frequent leaf may be ignored in some fields."""
        return bool(self.formula.gate) and self.stats.total >= self.formula.gate_from

    @cached_property
    def _open(self) -> dict[int, float]:
        """The fields with a weight above 0."""
        return {n: w for n, w in self._weights.items() if w}

    def open_fields(self, leaf: BoundLeaf) -> dict[int, float]:
        """The fields in which a leaf counts (weight above 0, gate open), with their weights."""
        if not self.is_gated:
            return self._open
        total, gate, names = self.stats.total, self.formula.gate, self.stats.names
        return {n: w for n, w in self._open.items() if leaf.df <= gate.get(names[n], 1.0) * total}

    def upper_bound(self, leaf: BoundLeaf) -> float:
        """The upper bound of what a leaf adds to any row.

        From the highest tf and the shortest length in each segment: saturation grows with tf and
        falls with length.
        """
        best = 0.0
        open_to = self.open_fields(leaf)
        for n in range(len(self.stats.view.segments)):
            extremes = [
                each for each in self.stats.extremes(n, leaf.pattern) if each.field in open_to
            ]
            if self.formula.form == "row":
                tf = sum(snap_one(open_to[each.field] * each.tf) for each in extremes)
                length = min((each.length for each in extremes), default=0)
                here = self._field_bound(tf, length, self.mean(None), leaf.boost, leaf.idf)
            else:
                here = sum(
                    self._field_bound(
                        each.tf, each.length, self.mean(each.field),
                        open_to[each.field] * leaf.boost, leaf.idf,
                    )
                    for each in extremes
                )  # fmt: skip
            best = max(best, here)
        return leaf.times * best

    def _field_bound(
        self, tf: float, length: int, mean: float, weight: float, leaf_idf: float
    ) -> float:
        if not tf:
            return 0.0
        factor = weight * leaf_idf
        match self.formula.score:
            case "bm25":
                factor *= saturation(float(tf), float(length), mean, self.formula.params)
            case "tf_idf":
                factor *= tf
            case "tf":
                factor = weight * tf
        # Two grid steps more: one for snapping, one for the last bit of a rounded quotient.
        return factor + 2 * STEP


def kept_scorer(view: View, lane: object, reader: str, make: Callable[[], Scorer]) -> Scorer:
    """The scorer of a lane with an analyzer; a view keeps the last few, with the words they met."""
    kept: dict[tuple[int, str], tuple[object, Scorer]] = view.memo.setdefault("scorers", {})
    known = kept.get((id(lane), reader))
    if known is None:
        if len(kept) >= _SCORERS:
            kept.clear()
        # With the lane: no other one gets its number while it is kept.
        known = kept[id(lane), reader] = (lane, make())
    return known[1]
