"""Which records share words with the query? Exact BM25 over the selection, per field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Ranking, Rows
from recollect.index.segment import Postings, Segment
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Spec
from recollect.rank.bm25 import contribution, idf
from recollect.rank.grid import snap_one
from recollect.rank.top import top

TextField = Literal["text", "title", "summary", "tags", "concepts", "entities", "agent", "path"]
"""The fields that our analyzer reads."""


class Words(Spec):
    """BM25: each term of the query in each field of a record adds its share."""

    kind: Literal["bm25"]
    enabled: bool = True
    pool: int = Field(ge=1, le=100_000)
    k1: float = Field(ge=0.0, le=100.0)
    b: float = Field(ge=0.0, le=1.0)
    fields: dict[TextField, Annotated[float, Field(ge=0.0, le=1000.0)]]

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has words."""
        terms = ctx.analyzer.terms(ctx.query.text)
        if not terms:
            return Skipped("the query has no words")
        return Ready(
            {"terms": terms, "k1": self.k1, "b": self.b, "fields": self.fields, "pool": self.pool}
        )

    def rank(self, ctx: Context) -> Ranking:
        """Records with at least one term, by the sum of their shares."""
        found: list[Rows] = []
        totals: list[NDArray[np.float64]] = []
        scoring = self._scoring(ctx)
        for segment, mask in zip(ctx.reading.segments, ctx.selection.masks, strict=True):
            scores = np.zeros(len(segment))
            hit = np.zeros(len(segment), np.bool_)
            for term, rarity, _ in scoring:
                postings = segment.postings(term)
                inside = None if postings is None else postings.take(mask[postings.docs])
                for share in self._shares(ctx, segment, inside, rarity):
                    scores[share.docs] += share.values
                    hit[share.docs] = True
            found.append(segment.rows[hit])
            totals.append(scores[hit])
        rows = np.concatenate([np.zeros(0, np.int64), *found])
        scores = np.concatenate([np.zeros(0), *totals])
        best = top(scores, rows, self.pool)
        return Ranking(rows[best], scores[best])

    def evidence(self, ctx: Context, rows: Rows) -> list[Explanation]:
        """Each row's score as the sum of its (term, field) shares, with the counts behind them."""
        parts: dict[int, list[Explanation]] = {int(row): [] for row in rows}
        scoring = self._scoring(ctx)
        for segment in ctx.reading.segments:
            places = np.sort(segment.places(rows)[0])
            for term, rarity, df in scoring if places.size else ():
                postings = segment.postings(term)
                few = None if postings is None else postings.at(places)
                for share in self._shares(ctx, segment, few, rarity):
                    for row, part in _told(ctx, segment, share, (term, rarity, df)):
                        parts[row].append(part)
        return [_sum(parts[int(row)]) for row in rows]

    def _scoring(self, ctx: Context) -> list[tuple[str, float, int]]:
        """(term, idf, df) for every term of the query that the view knows."""
        reading = ctx.reading
        counted = [(term, reading.df(term)) for term in ctx.analyzer.terms(ctx.query.text)]
        return [(term, idf(reading.total, df), df) for term, df in counted if df]

    def _shares(
        self, ctx: Context, segment: Segment, postings: Postings | None, rarity: float
    ) -> list[Share]:
        """What a term of this idf adds in each field, given where it occurs."""
        if postings is None:
            return []
        weights = cast("dict[str, float]", self.fields)
        out: list[Share] = []
        for place in np.flatnonzero(np.bincount(postings.fields)).tolist():
            weight = weights.get(ctx.reading.fields[place], 0.0)
            if not weight:
                continue
            at = postings.fields == place
            docs, tfs = postings.docs[at], postings.tfs[at]
            values = contribution(
                tfs.astype(np.float64),
                segment.lengths[place, docs].astype(np.float64),
                float(ctx.reading.means[place]),
                weight * rarity,
                (self.k1, self.b),
            )
            out.append(Share(place, weight, docs, tfs, values))
        return out


@dataclass(frozen=True, slots=True)
class Share:
    """What one term adds to the rows of a segment through one field."""

    field: int
    weight: float
    docs: NDArray[np.int32]
    tfs: NDArray[np.int32]
    values: NDArray[np.float64]


def _told(
    ctx: Context, segment: Segment, share: Share, term: tuple[str, float, int]
) -> Iterator[tuple[int, Explanation]]:
    """(row, what the term adds to it, with the counts behind it) for every row of a share."""
    field = ctx.reading.fields[share.field]
    word, rarity, df = term
    common = {
        "term": word, "field": field, "df": df, "idf": rarity, "weight": share.weight,
        "mean": float(ctx.reading.means[share.field]), "records": ctx.reading.total,
    }  # fmt: skip
    for doc, tf, value in zip(share.docs, share.tfs, share.values, strict=True):
        length = int(segment.lengths[share.field, doc])
        facts = {**common, "tf": int(tf), "length": length}
        yield int(segment.rows[doc]), Explanation(f"{word} in {field}", float(value), facts=facts)


def _sum(parts: list[Explanation]) -> Explanation:
    total = sum(part.value for part in parts)
    ordered = tuple(sorted(parts, key=lambda part: (-part.value, part.label)))
    return Explanation("bm25", snap_one(total), "sum", ordered)
