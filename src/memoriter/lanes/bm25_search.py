"""One query of the lane `bm25`: what it finds, its looser retries, and what they say of other rows.

`bm25` makes one for each search and keeps it with the ranking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Attempt, Knots, Mask, Ranking, Rows, Scores, scores_at
from memoriter.index.selection import Selection
from memoriter.kernel.found_rows import FoundRows, Wanted
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import Job, Search
from memoriter.lanes.bm25_evidence import bm25_evidence
from memoriter.lanes.bm25_query import Binder
from memoriter.lanes.bm25_score import Scorer
from memoriter.lanes.fuzzy import Fuzzy
from memoriter.lanes.maxscore import (
    BoundTree,
    best_rows,
    native_bm25,
    positive_leaves,
    scores_of,
)
from memoriter.lanes.port import Context
from memoriter.rank.bm25 import idf
from memoriter.rank.grid import snap_one
from memoriter.text.dialects import dialect
from memoriter.text.retry import content_words
from memoriter.text.tree import ParsedQuery

_Hits = tuple[Rows, Scores]
"""Rows, best first, and their scores."""
_NO_HITS: Final[_Hits] = (np.zeros(0, np.int64), np.zeros(0))
_NOTHING_FOUND: Final = Attempt(0, "initial", "", 0)


class SearchOptions(NamedTuple):
    """Options of the lane that its scorer does not have."""

    dialect: str
    pool: int
    fuzzy: float


class Bm25Search:
    """One query of the lane on one view, with its looser retries; parses each text once."""

    def __init__(
        self,
        ctx: Context,
        scorer: Scorer,
        parse: Callable[[str], ParsedQuery],
        options: SearchOptions,
    ) -> None:
        self._ctx, self._scorer, self._parse, self._options = ctx, scorer, parse, options
        self._parsed: dict[str, ParsedQuery] = {}
        self._trees: dict[str, BoundTree | None] = {}
        self._found_values: Wanted | None = None

    def parsed(self, text: str) -> ParsedQuery:
        """A text parsed by the lane's dialect; each text is parsed once."""
        if text not in self._parsed:
            self._parsed[text] = self._parse(text)
        return self._parsed[text]

    def _bound(self, text: str) -> BoundTree | None:
        if text not in self._trees:
            tree, binder = self.parsed(text).tree, Binder(self._scorer, self._ctx.wording.analyzer)
            self._trees[text] = None if tree is None else binder.bound(tree)
        return self._trees[text]

    def _search(self, text: str) -> Started[_Hits]:
        """The best rows for one query text."""
        bound = self._bound(text)
        if bound is None:
            return Started(lambda: _NO_HITS)
        masks = self._ctx.selection.masks
        return best_rows(self._scorer, bound, masks, self._options.pool).then(self._ordered)

    def _ordered(self, hits: _Hits) -> _Hits:
        rows, scores = hits
        order = self._ctx.best(scores, rows, self._options.pool)
        return rows[order], scores[order]

    def about_found(self, own: Search | None, found_rows: FoundRows) -> list[Job]:
        """The scores of what other lanes find too, by the query as it was asked."""
        bound = self._bound(self._ctx.query.text)
        native = None if bound is None else native_bm25(self._scorer, bound)
        if native is None:
            return []
        self._found_values = found_rows.wanted(own)
        return [native.about(self._found_values)]

    def score_rows(self, ranking: Ranking, selection: Selection, rows: Rows) -> Scores:
        """The scores of other rows, ascending, by the attempt that found `ranking`."""
        won = _winner(ranking.attempts)
        if won.near:
            masks = selection.only(self._ctx.view, rows).masks
            near, scores, _ = self._fuzzy(masks).near(
                (won.query or "").split(), self._options.fuzzy
            )
            return scores_at(rows, near, scores)
        bound = self._bound(self._text(won))
        if bound is None:
            return np.full(rows.size, np.nan)
        if won.rung or self._found_values is None:
            return scores_of(self._scorer, bound, rows)
        return self._found_values.of(rows, partial(scores_of, self._scorer, bound))

    def _coverage(self, won: Attempt) -> Knots | None:
        """A score as a share of what all words of the query could score in one field of weight 1.

        More than that, from several fields, counts as 1. A word that the store has never seen
        counts with the idf of a word that no record has.
        After a fuzzy match, each of n words is worth 1 / n.
        """
        if self._scorer.formula.score != "bm25":
            return None
        if won.near:
            return ((0.0, 0.0), (1.0, 1.0 / len((won.query or "").split())))
        # The query as asked, also if a looser one answered: what was left out was asked for too.
        bound = self._bound(self._ctx.query.text)
        leaves = () if bound is None else positive_leaves(bound)
        unseen = idf(self._scorer.stats.total, 0, self._scorer.formula.idf)
        mass = math.fsum(each.times * each.boost * (each.idf or unseen) for each in leaves)
        # tf · (k1 + 1) / (tf + …) stays below k1 + 1, the limit of the saturation.
        return (
            ((0.0, 0.0), (snap_one(mass * (self._scorer.formula.params.k1 + 1.0)), 1.0))
            if mass
            else None
        )

    def _text(self, won: Attempt) -> str:
        return (won.query or "") if won.rung else self._ctx.query.text

    # -- the ladder: what is tried if nothing matches ----------------------------------------------

    def climb(self, text: str, *, loosely: bool) -> Started[Ranking]:
        """The ranking for a query; if it is empty and `loosely`, that of the first rung with hits.

        Every attempt is recorded. No rung runs after the first one with hits.
        """
        return self._search(text).then(lambda hits: self._climbed(text, hits, loosely=loosely))

    def _climbed(self, text: str, hits: _Hits, *, loosely: bool) -> Ranking:
        """The ranking, by what the query as it was asked found."""
        attempts = [Attempt(0, "initial", text, hits[0].size)]
        if loosely and not hits[0].size and self._ctx.selection.count:
            for attempt, rows_met in self._looser(text):
                attempts.append(attempt)
                hits = rows_met
                if attempt.hits:
                    break
        coverage = self._coverage(_winner(attempts))
        # The search is kept: its evidence needs the bound tree of the winning rung.
        return Ranking(*hits, tuple(attempts), coverage=coverage, memo=self, is_ordered=True)

    def _looser(self, text: str) -> Iterator[tuple[Attempt, _Hits]]:
        """The looser queries of the dialect, then misspelt words; each with what it finds."""
        looser = dialect(self._options.dialect).looser
        for rung, name, query in () if looser is None else looser(text, self._df):
            hits = _NO_HITS if query is None else self._search(query).now()
            yield Attempt(rung, name, query, hits[0].size), hits
        if words := content_words(text):
            masks = self._ctx.selection.masks
            rows, scores, near = self._fuzzy(masks).near(words, self._options.fuzzy)
            hits = self._ordered((rows, scores))
            yield Attempt(5, "trigram_fuzzy", " ".join(words), hits[0].size, near), hits

    def _df(self, word: str) -> int:
        bound = self._bound(word)
        return getattr(bound, "df", 0)

    def _fuzzy(self, masks: Sequence[Mask]) -> Fuzzy:
        return Fuzzy(self._scorer.stats, self._ctx.wording.analyzer, masks)

    def evidence(self, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The explanation of these rows' scores, for the attempt that found them."""
        won = _winner(ranking.attempts)
        if won.near:
            fuzzy = self._fuzzy(self._ctx.selection.masks)
            return fuzzy.evidence((won.query or "").split(), won.near, rows)
        bound = self._bound(self._text(won))
        return [] if bound is None else bm25_evidence(self._scorer, bound, rows)


def _winner(attempts: Sequence[Attempt]) -> Attempt:
    """The attempt that found the ranking; the query as asked if none found anything."""
    return next((each for each in attempts if each.hits), _NOTHING_FOUND)
