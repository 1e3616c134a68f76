"""Which records have words like those of the query? Word by word, in the same stretch of text.

Each word of the query meets the nearest word to it in a window of a record; how near that is, times
how much the word of the query says, is its share. The shares of a window add up to its score, and a
record's best window counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, cast

import numpy as np
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.embed.port import Kindred
from memoriter.index.reading import Reading
from memoriter.index.segment import Segment
from memoriter.lanes.meeting import Asked, Race, Track
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import Spec
from memoriter.rank.bm25 import idf
from memoriter.rank.grid import STEP, snap


class Kin(Spec):
    """Σ over the words of the query of weight · cosine to the nearest word of a window."""

    kind: Literal["kin"]
    reads: ClassVar[tuple[str, ...]] = ("query",)
    enabled: bool = True
    pool: int = Field(ge=1, le=100_000)
    neighbours: int = Field(default=32, ge=1, le=32)
    """How many words a word of the query may meet, itself included."""
    min_cosine: float = Field(default=0.0, ge=0.0, le=1.0)
    """How near a word must be to be met."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when there is a table, and the query has words of it."""
        if ctx.kin is None:
            return Skipped("a memory without an embedder has no table of words")
        words = list(map(ctx.kin.word, dict.fromkeys(ctx.kin.tokens(ctx.query.text))))
        if not words:
            return Skipped("no word of the query is in the table")
        told = {"neighbours": self.neighbours, "min_cosine": self.min_cosine, "pool": self.pool}
        return Ready({"words": words, **told})

    def rank(self, ctx: Context) -> Ranking:
        """Records with a word like one of the query's, by their best window."""
        asked = self._asked(ctx)
        rows, scores = Race(ctx.reading, asked, ctx.selection.masks, self.pool).run()
        found = scores > 0.0
        order = ctx.best(scores[found], rows[found], self.pool)
        return Ranking(rows[found][order], scores[found][order], memo=asked)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Which word met which, how nearly, and what that was worth, in each row's best window."""
        asked = cast("list[Asked]", ranking.memo)
        told: dict[int, Explanation] = {}
        for segment in ctx.reading.segments:
            told |= _told(ctx, segment, asked, rows)
        return [told[int(row)] for row in rows]

    def _asked(self, ctx: Context) -> list[Asked]:
        """The distinct words of the query, weighed by the view."""
        kin = cast("Kindred", ctx.kin)
        tokens = list(dict.fromkeys(kin.tokens(ctx.query.text)))
        dfs = [_df(ctx.reading, token) for token in tokens]
        idfs = [idf(ctx.reading.total, df) for df in dfs]
        norms = [kin.norm(token) for token in tokens]
        said = [norm * rare for norm, rare in zip(norms, idfs, strict=True)]
        whole = math.fsum(said)
        out: list[Asked] = []
        for n, token in enumerate(tokens):
            weight = said[n] / whole if whole else 0.0
            near, cosines = kin.nearest(token)
            met = np.flatnonzero(cosines[: self.neighbours] >= max(self.min_cosine, STEP))
            near, cosines = near[met], cosines[met]
            shares = snap(weight * cosines)
            out.append(Asked(token, dfs[n], idfs[n], norms[n], weight, near, cosines, shares))
        return out


def _df(reading: Reading, token: int) -> int:
    """How many records of the view have a word."""
    count = 0
    for segment, seen in zip(reading.segments, reading.seen, strict=True):
        rows = segment.windows.rows
        count += seen.number(
            ("kin", token), lambda seen=seen, rows=rows: int(seen.mask[rows(token)].sum())
        )
    return count


def _told(
    ctx: Context, segment: Segment, asked: Sequence[Asked], rows: Rows
) -> dict[int, Explanation]:
    """Why each of these rows that are in a segment has its score: what was met in its best window.

    Of windows that are equally good it is the first.
    """
    places, mine = segment.places(rows)
    if not places.size:
        return {}
    mask = np.zeros(len(segment), np.bool_)
    mask[places] = True
    track = Track(segment, mask, asked)
    met = [track.met(n) for n in range(len(asked))]
    scores = np.zeros(len(segment.windows))
    for each, (windows, nth) in zip(asked, met, strict=True):
        scores[windows] += each.shares[nth]
    begins = segment.windows.begins
    # A window meets one word for each of the query's.
    nearest = [dict(zip(windows.tolist(), nth.tolist(), strict=True)) for windows, nth in met]
    said = math.fsum(each.norm * each.idf for each in asked)
    told: dict[int, Explanation] = {}
    for row, place in zip(rows[mine].tolist(), places.tolist(), strict=True):
        first, last = int(begins[place]), int(begins[place + 1])
        best = first + int(np.argmax(scores[first:last]))
        parts = [
            _part(ctx, each, near[best])
            for each, near in zip(asked, nearest, strict=True)
            if best in near
        ]
        parts.sort(key=lambda part: (-part.value, part.label))
        facts = {"window": best - first + 1, "windows": last - first, "said": said}
        told[row] = Explanation("kin", float(scores[best]), "sum", tuple(parts), facts)
    return told


def _part(ctx: Context, each: Asked, at: int) -> Explanation:
    kin = cast("Kindred", ctx.kin)
    asked, met = kin.word(each.token), kin.word(int(each.near[at]))
    facts = {
        "asked": asked, "met": met, "cosine": float(each.cosines[at]), "weight": each.weight,
        "norm": each.norm, "idf": each.idf, "df": each.df, "records": ctx.reading.total,
    }  # fmt: skip
    return Explanation(f"{asked} ~ {met}", float(each.shares[at]), facts=facts)
