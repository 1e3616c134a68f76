"""The lane `kin`: records whose words are similar to those of the query, by word vectors.

In a window of a record's text each query word is matched with the most similar word there. The
match adds weight · cosine, where the weight is the query word's share of norm · idf. The sum is the
window's score, and a record scores as its best window.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation, Facts
from memoriter.core.later import Later
from memoriter.core.picture import joined_words
from memoriter.core.ranking import SHARE, Ranking, Rows, Scores
from memoriter.embed.port import Kindred
from memoriter.index.segment import Segment
from memoriter.index.view import View
from memoriter.kernel.jobs import Started
from memoriter.lanes.kernel_lane import KernelLane
from memoriter.lanes.kin_scan import (
    KinScan,
    KinScores,
    QueryWord,
    SegmentWindows,
    kin_scores,
)
from memoriter.lanes.missed import EVERY, lane_with_options, place_of, run_lane, with_pool
from memoriter.lanes.port import Context, Miss, Ready, Skipped, WordMatch
from memoriter.lanes.spec import option
from memoriter.rank.bm25 import idf
from memoriter.rank.grid import STEP, snap
from memoriter.text.figures import NodeText, short
from memoriter.text.safe import one_line
from memoriter.text.stops import FUNCTION_WORDS

_NEIGHBOURS: Final = 32
"""The word table stores no more neighbours of a word."""


class _Memo(NamedTuple):
    """What a ranking keeps for its evidence and for further rows."""

    words: list[QueryWord]
    every: KinScores | None
    """The scores of all rows; None if only a pool was scanned."""


class KinLane(KernelLane):
    """Σ over query words of weight · cosine to the most similar word of a window."""

    about: ClassVar[str] = "records whose words are similar to those of the query"
    reads: ClassVar[tuple[str, ...]] = ("query",)
    generation: ClassVar[str | None] = "kin"
    independent: ClassVar[bool] = True
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "asked": "the word of the question",
            "met": "the nearest word of the memory",
            "cosine": "how near the two words are, 1 for the same word",
            "weight": "the share of the question that this word makes up",
            "norm": "how much the word means by itself, from the table of words",
            "idf": "how rare the word is in this memory",
            "df": "how many memories have the word",
            "records": "how many memories there are",
            "window": "the stretch of the text that fits best",
            "windows": "how many stretches the text has",
            "total": "norm times idf of all words of the question",
        }
    )

    kind: Literal["kin"]
    pool: int = option("how many candidates the lane returns at most", ge=1, le=100_000)
    neighbours: int = option(
        "how many words a query word matches, itself included; the other words are those most"
        " similar to it",
        32,
        ge=1,
        le=_NEIGHBOURS,
    )
    min_cosine: float = option(
        "minimum cosine between a query word and a word that it matches", 0.0, ge=0.0, le=1.0
    )
    ignore: float = option(
        "how much of the question its lightest words may make up together and be left out: words"
        " that most records have are the longest to look up and say the least",
        0.0,
        ge=0.0,
        le=0.5,
    )

    def dumped(self, *, complete: bool) -> dict[str, Any]:
        """The options as plain data, without an `ignore` that has no effect.

        Fingerprints and receipts of recipes from before this option stay as they are.
        """
        data = super().dumped(complete=complete)
        return {key: value for key, value in data.items() if (key, value) != ("ignore", 0.0)}

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if there is a word table and the query has words of it."""
        if ctx.wording.kin is None:
            return Skipped("a memory without an embedder has no table of words")
        if not (tokens := _tokens(ctx, ctx.wording.kin)):
            return Skipped("no word of the query is in the table")
        return Ready(Later(partial(self._shown_of, ctx.wording.kin, tokens)))

    def _shown_of(self, kin: Kindred, tokens: Sequence[int]) -> dict[str, object]:
        """What a plan prints: the words of the question that the table has, and options."""
        options = {"neighbours": self.neighbours, "min_cosine": self.min_cosine}
        if self.ignore:
            options["ignore"] = self.ignore
        return {"words": list(map(kin.word, tokens)), **options, "pool": self.pool}

    def start(self, ctx: Context) -> Started[Ranking]:
        """Records with a word similar to one of the query's, by their best window."""
        words, selection = self._words(ctx), ctx.selection
        if not ctx.running.scores_further:
            return Started(lambda: self._scanned(ctx, words))
        every = kin_scores(ctx.view, words, selection.masks, selection.readable, self.pool)
        return every.then(lambda made: self._ranked(ctx, _Memo(words, made), *made.best))

    def _scanned(self, ctx: Context, words: list[QueryWord]) -> Ranking:
        """The ranking if only the pool is asked for."""
        rows, scores = KinScan(ctx.view, words, ctx.selection.masks, self.pool).run()
        return self._ranked(ctx, _Memo(words, None), rows[scores > 0.0], scores[scores > 0.0])

    def _ranked(self, ctx: Context, memo: _Memo, rows: Rows, scores: Scores) -> Ranking:
        order = ctx.best(scores, rows, self.pool)
        return Ranking(
            rows[order],
            scores[order],
            coverage=SHARE,
            spread=None if memo.every is None else memo.every.spread,
            memo=memo,
            is_ordered=True,
        )

    def score_rows(self, ctx: Context, ranking: Ranking, rows: Rows) -> Scores:
        """The scores of further rows, with the words of the ranking."""
        every, masks = cast("_Memo", ranking.memo).every, ctx.view.visible
        if every is None:
            words = cast("_Memo", ranking.memo).words
            every = kin_scores(ctx.view, words, masks, masks, self.pool).now()
        scores = every.of(rows)
        scores[scores <= 0.0] = np.nan
        return scores

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The pairs of similar words in each row's best window, with cosine and weight."""
        words = cast("_Memo", ranking.memo).words
        trees: dict[int, Explanation] = {}
        for segment in ctx.view.segments:
            trees |= _evidence(ctx, segment, words, rows)
        return [trees[int(row)] for row in rows]

    def node_text(self, node: Explanation) -> NodeText:
        """Of a match, the two words with cosine and weight; of a record, its best window."""
        facts = dict(node.facts)
        if "cosine" in facts:
            return _match_text(facts)
        window = f"window {facts.pop('window')} of {facts.pop('windows')}"
        text = super().node_text(replace(node, facts=facts))
        return text._replace(detail=f"{window} · {text.detail}")

    def word_match(self, node: Explanation) -> WordMatch | None:
        """The record's word of a match; a word like a function word says nothing."""
        if "met" not in node.facts or node.facts["asked"] in FUNCTION_WORDS:
            return None
        return WordMatch(words=(str(node.facts["met"]),))

    def picture(self, node: Explanation) -> Mapping[str, object]:
        """Each word of the question with the nearest word of the record."""
        pairs = [(str(p.facts["asked"]), str(p.facts["met"]), _cosine(p)) for p in node.parts]
        split = any(word.startswith("##") for *words, _ in pairs for word in words)
        return joined_words(
            "Words of the question, and the nearest word of the memory: the thicker the line, the "
            f"higher the cosine.{' ## begins a piece inside a word.' if split else ''}",
            pairs,
        )

    def missed(self, ctx: Context, row: int) -> Miss:
        """The cosine of its most similar word, and the options that would have found the record."""
        every: dict[str, object] = {"min_cosine": 0.0, "neighbours": _NEIGHBOURS, "ignore": 0.0}
        loose = lane_with_options(self, pool=EVERY, **every)
        place = place_of(loose, ctx, row)
        if place is None:
            return Miss("no word of it is near a word of the query")
        (why,) = loose.evidence(ctx, run_lane(loose, ctx), np.array([row]))
        best = max(why.parts, key=_cosine)
        reason = f"its nearest word: {best.label}, cosine {_cosine(best):.4f}, which is too far"
        options: dict[str, object] = {}
        if _cosine(best) < self.min_cosine:
            options["min_cosine"] = _cosine(best)
        for name, value in (("neighbours", _NEIGHBOURS), ("ignore", 0.0)):
            wider = lane_with_options(self, pool=EVERY, **options)
            if getattr(self, name) != value and place_of(wider, ctx, row) is None:
                options[name] = value
        if list(options) == ["ignore"]:
            reason = f"the question is hardly about the nearest word that it has: {best.label}"
        return Miss(reason, with_pool(self.pool, place, options))

    def _words(self, ctx: Context) -> list[QueryWord]:
        """The distinct words of the query that count, weighted by norm · idf in the view."""
        kin = cast("Kindred", ctx.wording.kin)
        tokens = _tokens(ctx, kin)
        kin.prepare(tokens)
        dfs = _dfs(ctx.view, tokens)
        idfs = [idf(ctx.view.total, df) for df in dfs]
        norms = list(map(kin.norm, tokens))
        weighed = [norm * rare for norm, rare in zip(norms, idfs, strict=True)]
        kept = _heavy(weighed, self.ignore)
        # fsum is correctly rounded, so the weights do not depend on the order of the words.
        whole, least = math.fsum(weighed[n] for n in kept), max(self.min_cosine, STEP)
        weights = [weighed[n] / whole if whole else 0.0 for n in kept]
        pairs = [_near(kin, tokens[n], self.neighbours, least) for n in kept]
        sizes = [cosines.size for _, cosines in pairs]
        # All words at once, then cut: most arrays here are shorter than a call of numpy is long.
        flat = np.concatenate([np.zeros(0), *(cosines for _, cosines in pairs)])
        every = snap(np.repeat(np.array(weights), sizes) * flat)
        shares = [
            every[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)
        ]
        return [
            QueryWord(
                token=tokens[n],
                df=dfs[n],
                idf=idfs[n],
                norm=norms[n],
                weight=weight,
                near=near,
                cosines=cosines,
                shares=share,
            )
            for n, weight, (near, cosines), share in zip(kept, weights, pairs, shares, strict=True)
        ]


def _heavy(weighed: Sequence[float], ignore: float) -> list[int]:
    """All but the lightest words, which together make up at most the share `ignore` of the whole.

    Words of the same weight are left out together or not at all.

    >>> _heavy([0.01, 0.5, 0.02, 0.47], 0.02), _heavy([0.01, 0.5, 0.02, 0.47], 0.05)
    ([1, 2, 3], [1, 3])
    """
    if not ignore:
        return list(range(len(weighed)))
    most = ignore * math.fsum(weighed)
    light = sorted(weighed)
    least = next((w for n, w in enumerate(light) if math.fsum(light[: n + 1]) > most), 0.0)
    return [n for n, weight in enumerate(weighed) if weight >= least]


def _tokens(ctx: Context, kin: Kindred) -> list[int]:
    """The distinct words of the query, in its order; plan and search ask for them."""
    known = ctx.memo.get("kin tokens")
    if known is None:
        known = ctx.memo["kin tokens"] = list(dict.fromkeys(kin.tokens(ctx.query.text)))
    return cast("list[int]", known)


@lru_cache(maxsize=4_096)
def _near(
    kin: Kindred, token: int, count: int, least: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(the words most similar to one, their cosines), none below `least`."""
    near, cosines = kin.nearest(token)
    near, cosines = near[:count], cosines[:count]
    met = cosines >= least
    return near[met], cosines[met]


def _dfs(view: View, tokens: Sequence[int]) -> list[int]:
    """The document frequency of each word in the view."""
    counts = [0] * len(tokens)
    keys = [("kin", token) for token in tokens]
    for segment, seen in zip(view.segments, view.seen, strict=True):
        mask = None if seen.count == seen.mask.size else seen.mask
        counted = seen.numbers(
            keys,
            lambda fresh, windows=segment.windows, mask=mask: windows.row_counts(
                [token for _, token in fresh], mask
            ),
        )
        counts = [sum(both) for both in zip(counts, counted, strict=True)]
    return counts


def _evidence(
    ctx: Context, segment: Segment, words: Sequence[QueryWord], rows: Rows
) -> dict[int, Explanation]:
    """By row of a segment, the explanation of its score: the matches in its best window.

    Of equally good windows the first counts.
    """
    places, inside = segment.places(rows)
    if not places.size:
        return {}
    mask = np.zeros(len(segment), np.bool_)
    mask[places] = True
    windows_of = SegmentWindows(segment, mask, words)
    met = [windows_of.met(n) for n in range(len(words))]
    scores = np.zeros(len(segment.windows))
    for each, (windows, nth) in zip(words, met, strict=True):
        scores[windows] += each.shares[nth]
    begins = segment.windows.begins
    # A window has at most one match for each word of the query.
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
        facts = {"window": best - first + 1, "windows": last - first, "total": whole}
        trees[row] = Explanation("kin", float(scores[best]), "sum", tuple(parts), facts)
    return trees


def _part(ctx: Context, each: QueryWord, at: int) -> Explanation:
    kin = cast("Kindred", ctx.wording.kin)
    query_word, met = kin.word(each.token), kin.word(int(each.near[at]))
    facts = {
        "asked": query_word, "met": met, "cosine": float(each.cosines[at]), "weight": each.weight,
        "norm": each.norm, "idf": each.idf, "df": each.df, "records": ctx.view.total,
    }  # fmt: skip
    return Explanation(f"{query_word} ~ {met}", float(each.shares[at]), facts=facts)


def _cosine(part: Explanation) -> float:
    return float(cast("float", part.facts["cosine"]))


def _match_text(facts: Facts) -> NodeText:
    """A match: the query's word, the record's word, their cosine and the word's weight."""
    near, weight, norm = (short(facts[key]) for key in ("cosine", "weight", "norm"))
    detail = (
        f"cosine {near} × weight {weight} · norm {norm}"
        f" · df {facts['df']} of {facts['records']} records · idf {short(facts['idf'])}"
    )
    return NodeText(one_line(f"{facts['asked']} ~ {facts['met']}"), "", detail)
