"""Which records have words like those of the query? Word by word, in the same stretch of text.

Each word of the query meets the nearest word to it in a window of a record; how near that is, times
how much the word of the query says, is its share. The shares of a window add up to its score, and a
record's best window counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Final, Literal, cast

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows
from memoriter.embed.port import Kindred
from memoriter.index.segment import Segment
from memoriter.index.view import View
from memoriter.lanes.kin_scan import KinScan, QueryWord, Track
from memoriter.lanes.missed import EVERY, place_of, pooled, ranked, with_options
from memoriter.lanes.port import Context, Lane, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.bm25 import idf
from memoriter.rank.grid import STEP, snap

_NEIGHBOURS: Final = 32
"""The table knows no more of a word."""


class KinLane(Lane):
    """Σ over the words of the query of weight · cosine to the nearest word of a window."""

    about: ClassVar[str] = "records whose words are similar to those of the query"
    reads: ClassVar[tuple[str, ...]] = ("query",)
    generation: ClassVar = "kin"
    independent: ClassVar[bool] = True

    kind: Literal["kin"]
    pool: int = option("maximum candidates", ge=1, le=100_000)
    neighbours: int = option(
        "similar words that a query word may meet, itself included", 32, ge=1, le=_NEIGHBOURS
    )
    min_cosine: float = option("minimum cosine of two words", 0.0, ge=0.0, le=1.0)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when there is a table, and the query has words of it."""
        if ctx.wording.kin is None:
            return Skipped("a memory without an embedder has no table of words")
        words = list(
            map(ctx.wording.kin.word, dict.fromkeys(ctx.wording.kin.tokens(ctx.query.text)))
        )
        if not words:
            return Skipped("no word of the query is in the table")
        options = {"neighbours": self.neighbours, "min_cosine": self.min_cosine}
        return Ready({"words": words, **options, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """Records with a word like one of the query's, by their best window."""
        words = self._words(ctx)
        rows, scores = KinScan(ctx.view, words, ctx.selection.masks, self.pool).run()
        met = scores > 0.0
        order = ctx.best(scores[met], rows[met], self.pool)
        return Ranking(rows[met][order], scores[met][order], memo=words)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Which word met which, how nearly, and what that was worth, in each row's best window."""
        words = cast("list[QueryWord]", ranking.memo)
        trees: dict[int, Explanation] = {}
        for segment in ctx.view.segments:
            trees |= _evidence(ctx, segment, words, rows)
        return [trees[int(row)] for row in rows]

    def missed(self, ctx: Context, row: int) -> Miss:
        """Its nearest word is too far, or no word of it is near at all."""
        loose = with_options(self, pool=EVERY, min_cosine=0.0, neighbours=_NEIGHBOURS)
        place = place_of(loose, ctx, row)
        if place is None:
            return Miss("no word of it is near a word of the query")
        (why,) = loose.evidence(ctx, ranked(loose, ctx), np.array([row]))
        best = max(why.parts, key=_cosine)
        options: dict[str, object] = {}
        if _cosine(best) < self.min_cosine:
            options["min_cosine"] = _cosine(best)
        wider = with_options(self, pool=EVERY, **options)
        if self.neighbours < _NEIGHBOURS and place_of(wider, ctx, row) is None:
            options["neighbours"] = _NEIGHBOURS
        reason = f"its nearest word: {best.label}, cosine {_cosine(best):.4f}, which is too far"
        return Miss(reason, pooled(self.pool, place, options))

    def _words(self, ctx: Context) -> list[QueryWord]:
        """The distinct words of the query, weighed by the view."""
        kin = cast("Kindred", ctx.wording.kin)
        tokens = list(dict.fromkeys(kin.tokens(ctx.query.text)))
        dfs = [_df(ctx.view, token) for token in tokens]
        idfs = [idf(ctx.view.total, df) for df in dfs]
        norms = [kin.norm(token) for token in tokens]
        weighed = [norm * rare for norm, rare in zip(norms, idfs, strict=True)]
        whole = math.fsum(weighed)
        out: list[QueryWord] = []
        for n, token in enumerate(tokens):
            weight = weighed[n] / whole if whole else 0.0
            near, cosines = kin.nearest(token)
            met = np.flatnonzero(cosines[: self.neighbours] >= max(self.min_cosine, STEP))
            near, cosines = near[met], cosines[met]
            shares = snap(weight * cosines)
            out.append(QueryWord(token, dfs[n], idfs[n], norms[n], weight, near, cosines, shares))
        return out


def _df(view: View, token: int) -> int:
    """How many records of the view have a word."""
    count = 0
    for segment, seen in zip(view.segments, view.seen, strict=True):
        rows = segment.windows.rows
        count += seen.number(
            ("kin", token), lambda seen=seen, rows=rows: int(seen.mask[rows(token)].sum())
        )
    return count


def _evidence(
    ctx: Context, segment: Segment, words: Sequence[QueryWord], rows: Rows
) -> dict[int, Explanation]:
    """Why each of these rows that are in a segment has its score: what was met in its best window.

    Of windows that are equally good it is the first.
    """
    places, inside = segment.places(rows)
    if not places.size:
        return {}
    mask = np.zeros(len(segment), np.bool_)
    mask[places] = True
    track = Track(segment, mask, words)
    met = [track.met(n) for n in range(len(words))]
    scores = np.zeros(len(segment.windows))
    for each, (windows, nth) in zip(words, met, strict=True):
        scores[windows] += each.shares[nth]
    begins = segment.windows.begins
    # A window meets one word for each of the query's.
    nearest = [dict(zip(windows.tolist(), nth.tolist(), strict=True)) for windows, nth in met]
    whole = math.fsum(each.norm * each.idf for each in words)
    trees: dict[int, Explanation] = {}
    for row, place in zip(rows[inside].tolist(), places.tolist(), strict=True):
        first, last = int(begins[place]), int(begins[place + 1])
        best = first + int(np.argmax(scores[first:last]))
        parts = [
            _part(ctx, each, near[best])
            for each, near in zip(words, nearest, strict=True)
            if best in near
        ]
        parts.sort(key=lambda part: (-part.value, part.label))
        facts = {"window": best - first + 1, "windows": last - first, "said": whole}
        trees[row] = Explanation("kin", float(scores[best]), "sum", tuple(parts), facts)
    return trees


def _part(ctx: Context, each: QueryWord, at: int) -> Explanation:
    kin = cast("Kindred", ctx.wording.kin)
    asked, met = kin.word(each.token), kin.word(int(each.near[at]))
    facts = {
        "asked": asked, "met": met, "cosine": float(each.cosines[at]), "weight": each.weight,
        "norm": each.norm, "idf": each.idf, "df": each.df, "records": ctx.view.total,
    }  # fmt: skip
    return Explanation(f"{asked} ~ {met}", float(each.shares[at]), facts=facts)


def _cosine(part: Explanation) -> float:
    return float(cast("float", part.facts["cosine"]))
