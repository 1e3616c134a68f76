"""What one leaf of a query adds to the rows it occurs in: counts in, grid numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.index.field_stats import FieldStats
from memoriter.index.match import NearPattern, PhrasePattern
from memoriter.index.segment import Postings
from memoriter.rank.bm25 import Array, Rarity, idf, saturation
from memoriter.rank.grid import STEP, snap, snap_one

Form = Literal["fields", "row"]
"""`fields`: each field has its own length and adds its own share. `row`: counts of all fields are
weighted and added first, and meet the length of the whole row, as FTS5 has it."""
Measure = Literal["bm25", "tf_idf", "tf"]


@dataclass(frozen=True, slots=True)
class Formula:
    """How counts become a score."""

    form: Form
    measure: Measure
    rarity: Rarity
    shape: tuple[float, float]
    weights: Mapping[str, float]
    gate: Mapping[str, float]
    """Per field: a leaf in a greater share of the records than this says nothing there."""
    gate_from: int
    """The gate is open while there are fewer records than this."""
    least_mean: float = 1.0
    """A mean length below this counts as this: few records have the field at all."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A leaf bound to a view: what to look for, how rare it is, how much it weighs."""

    label: str
    what: PhrasePattern | NearPattern
    boost: float
    df: int
    idf: float
    times: int = 1
    """How often the query holds it: each time counts."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a leaf adds to some rows of a segment: through one field, or (None) the whole row."""

    field: int | None
    weight: float
    docs: NDArray[np.int32]
    tfs: Array
    values: Array


class Scorer:
    """A formula over a ground."""

    def __init__(self, ground: FieldStats, formula: Formula) -> None:
        self.ground = ground
        self.formula = formula
        names = ground.names
        self._weights = {n: formula.weights[names[n]] for n in ground.listed}

    def mean(self, field: int | None) -> float:
        """The mean length that a score takes, of one field or (None) of the whole row."""
        mean = self.ground.row_mean if field is None else self.ground.means.get(field, 0.0)
        return max(mean, self.formula.least_mean) or 1.0

    @property
    def adds(self) -> bool:
        """Whether alternatives add up; otherwise the best of them counts."""
        return self.formula.measure == "bm25"

    def asked(self, label: str, what: PhrasePattern | NearPattern, boost: float) -> Counted:
        """The leaf, counted."""
        df = self.ground.df(what)
        rare = idf(self.ground.total, df, self.formula.rarity) if df else 0.0
        return Counted(label, what, boost, df, rare)

    def shares(self, n: int, leaf: Counted, postings: Postings) -> list[Share]:
        """What a leaf adds in the n-th segment, given where it occurs; no row twice in a share."""
        if self.formula.form == "row":
            return self._row(n, leaf, postings)
        out: list[Share] = []
        open_to = self._open(leaf)
        fields = [each.field for each in self.ground.bounds(n, leaf.what)]
        for field in fields:
            weight = open_to.get(field, 0.0)
            some = postings if len(fields) == 1 else postings.take(postings.fields == field)
            docs = some.docs
            if docs.size and weight:
                tfs = some.tfs.astype(np.float64)
                lengths = self.ground.lengths(n, field, docs).astype(np.float64)
                mean = self.mean(field)
                values = leaf.times * self._values(
                    tfs, lengths, mean, weight * leaf.boost, leaf.idf
                )
                out.append(Share(field, weight, docs, tfs, values))
        return out

    def _row(self, n: int, leaf: Counted, postings: Postings) -> list[Share]:
        weights = np.zeros(256)
        for field, weight in self._open(leaf).items():
            weights[field] = weight
        each = weights[postings.fields]
        kept = each > 0.0
        docs, each = postings.docs[kept], snap(each * postings.tfs)[kept]
        if not docs.size:
            return []
        begin = np.flatnonzero(np.diff(docs, prepend=-1))
        docs, tfs = docs[begin], np.add.reduceat(each, begin)
        lengths = self.ground.row_lengths(n)[docs].astype(np.float64)
        mean = self.mean(None)
        values = leaf.times * self._values(tfs, lengths, mean, leaf.boost, leaf.idf)
        return [Share(None, 1.0, docs, tfs, values)]

    def _values(self, tfs: Array, lengths: Array, mean: float, weight: float, rare: float) -> Array:
        match self.formula.measure:
            case "bm25":
                return snap(weight * rare * saturation(tfs, lengths, mean, self.formula.shape))
            case "tf_idf":
                return snap(weight * rare * tfs)
            case "tf":
                return snap(weight * tfs)

    def _open(self, leaf: Counted) -> dict[int, float]:
        """The fields where a leaf may count, with their weights."""
        total, gate = self.ground.total, self.formula.gate
        open_to = {n: w for n, w in self._weights.items() if w}
        if not gate or total < self.formula.gate_from:
            return open_to
        names = self.ground.names
        return {n: w for n, w in open_to.items() if leaf.df <= gate.get(names[n], 1.0) * total}

    def most(self, leaf: Counted) -> float:
        """No row gets more than this from a leaf."""
        best = 0.0
        open_to = self._open(leaf)
        for n in range(len(self.ground.view.segments)):
            bounds = [each for each in self.ground.bounds(n, leaf.what) if each.field in open_to]
            if self.formula.form == "row":
                tf = sum(snap_one(open_to[each.field] * each.tf) for each in bounds)
                length = min((each.length for each in bounds), default=0)
                here = self._most(tf, length, self.mean(None), leaf.boost, leaf.idf)
            else:
                here = sum(
                    self._most(
                        each.tf, each.length, self.mean(each.field),
                        open_to[each.field] * leaf.boost, leaf.idf,
                    )
                    for each in bounds
                )  # fmt: skip
            best = max(best, here)
        return leaf.times * best

    def _most(self, tf: float, length: int, mean: float, weight: float, rare: float) -> float:
        if not tf:
            return 0.0
        factor = weight * rare
        match self.formula.measure:
            case "bm25":
                factor *= saturation(float(tf), float(length), mean, self.formula.shape)
            case "tf_idf":
                factor *= tf
            case "tf":
                factor = weight * tf
        # Two steps more: one for the grid, one for the last bit of a quotient of rounded numbers.
        return factor + 2 * STEP
