"""Which records share words with the query? Exact BM25 over the selection, in any dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, cast

from pydantic import AfterValidator, Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Attempt, Ranking, Rows, Scores
from memoriter.index.field_stats import Among, FieldStats
from memoriter.lanes.binding import Binder
from memoriter.lanes.bm25_evidence import bm25_evidence
from memoriter.lanes.fuzzy import Fuzzy
from memoriter.lanes.maxscore import Bound, best_rows
from memoriter.lanes.port import Context, Lane, Miss, Ready, Skipped
from memoriter.lanes.scoring import Form, Formula, Measure, Scorer
from memoriter.lanes.spec import option
from memoriter.rank.bm25 import Rarity
from memoriter.text.dialects import Options, dialect, known_dialect, read_query
from memoriter.text.retry import content_words, longest_word, sanitised
from memoriter.text.tree import Any, ParsedQuery, Term, excludes, tree_text

TextField = Literal[
    "text", "title", "summary", "tags", "concepts", "entities", "agent", "path",
    "essence", "agent_registry",
]  # fmt: skip
"""Where words may be looked for: what the recipe's analyzer reads, and what the registry says."""


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Bm25Lane(Lane):
    """BM25: each leaf of the query in each field of a record adds its share."""

    about: ClassVar[str] = "records that share words with the query (BM25)"
    reads: ClassVar[tuple[str, ...]] = ("query",)
    generation: ClassVar = "words"
    independent: ClassVar[bool] = True

    kind: Literal["bm25"]
    pool: int = option("maximum candidates", ge=1, le=100_000)
    dialect: Annotated[str, AfterValidator(known_dialect)] = option(
        "query syntax", "bare", values=lambda name: dialect(name).about
    )
    expert: bool = option("quotes and operators have a meaning", default=True)
    stop: Literal["none", "latin"] = option(
        "stop words", "none", values={"none": "none", "latin": "English ones are dropped"}
    )
    form: Form = option(
        "length of a record",
        "fields",
        values={"fields": "each field by itself", "row": "all fields together"},
    )
    score: Measure = option(
        "formula", "bm25", values={"bm25": "BM25", "tf_idf": "tf · idf", "tf": "term frequency"}
    )
    idf: Rarity = option(
        "inverse document frequency",
        "positive",
        values={"floored": "never below a floor", "positive": "always positive"},
    )
    records: Among = option(
        "records that count as documents",
        "all",
        values={"all": "all", "worded": "those with a word"},
    )
    k1: float = option("term-frequency saturation", ge=0.0, le=100.0)
    b: float = option("length normalization", ge=0.0, le=1.0)
    fields: dict[TextField, Annotated[float, Field(ge=0.0, le=100.0)]] = option(
        "searched fields and their weights"
    )
    least_mean: float = option("minimum mean length of a field", 1.0, ge=0.0, le=1000.0)
    gate: dict[TextField, Share] = option(
        "by field, the share of records above which a word does not count",
        default_factory=dict[TextField, Share],
    )
    gate_from: int = option("number of records from which the gate applies", 20, ge=0)
    ladder: bool = option("an empty answer is retried with looser queries", default=False)
    fuzzy: float = option(
        "trigram similarity from which a misspelt word matches", 0.3, gt=0.0, le=1.0
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has words; with a ladder, when it has any text to climb with."""
        if ctx.wording.unread is not None:
            return Skipped(ctx.wording.unread)
        asked = self.parsed(ctx, ctx.query.text)
        if asked.tree is None and not (self.ladder and ctx.query.text.strip()):
            return Skipped("the query has no words", idle=bool(ctx.query.text.strip()))
        shows: dict[str, object] = _query(asked)
        if asked.note is not None:
            shows["note"] = asked.note
        if asked.malformed:
            shows["malformed"] = 1
        shows |= {"k1": self.k1, "b": self.b, "fields": self.fields, "pool": self.pool}
        return Ready(shows)

    def parsed(self, ctx: Context, text: str) -> ParsedQuery:
        """A text as this lane's dialect reads it."""
        options = Options(self.expert, self.stop, ctx.query.aliases)
        return read_query(self.dialect, text, ctx.wording.analyzer, options)

    def rank(self, ctx: Context) -> Ranking:
        """Records that satisfy the query, by the sum of their shares; if none, the ladder's."""
        search = _Search(self, ctx)
        loosely = self.ladder and not self.strict(search.parsed(ctx.query.text))
        return replace(search.climb(ctx.query.text, loosely=loosely), memo=search)

    def strict(self, asked: ParsedQuery) -> bool:
        """Whether a query means what it says: an empty answer to it is no accident."""
        if asked.tree is None or not asked.expert:
            return False
        return self.dialect == "bare" or excludes(asked.tree)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's score as the sum of its shares, with the counts behind them."""
        del ctx
        return cast("_Search", ranking.memo).evidence(ranking, rows)

    def missed(self, ctx: Context, row: int) -> Miss:
        """It has none of the words, or does not fit the expression."""
        del row
        ready = self.ready(ctx)
        terms = None if isinstance(ready, Skipped) else ready.shows.get("terms")
        if not terms:
            return Miss("it does not fit the query")
        return Miss(f"it has none of the words {', '.join(cast('list[str]', terms))}")


class _Search:
    """One query of this lane on one view; where it finds nothing, looser ones in its place."""

    def __init__(self, lane: Bm25Lane, ctx: Context) -> None:
        self._lane = lane
        self._ctx = ctx
        self._parsed: dict[str, ParsedQuery] = {}
        self._trees: dict[str, Bound | None] = {}

    def parsed(self, text: str) -> ParsedQuery:
        """A text as the lane's dialect reads it, each text once."""
        if text not in self._parsed:
            self._parsed[text] = self._lane.parsed(self._ctx, text)
        return self._parsed[text]

    @cached_property
    def _scorer(self) -> Scorer:
        lane = self._lane
        weights = cast("dict[str, float]", lane.fields)
        ground = FieldStats(
            self._ctx.view, tuple(weights), self._ctx.wording.analyzer, lane.records
        )
        formula = Formula(
            form=lane.form,
            measure=lane.score,
            rarity=lane.idf,
            shape=(lane.k1, lane.b),
            weights=weights,
            gate=cast("dict[str, float]", lane.gate),
            gate_from=lane.gate_from,
            least_mean=lane.least_mean,
        )
        return Scorer(ground, formula)

    def _bound(self, text: str) -> Bound | None:
        if text not in self._trees:
            tree, binder = self.parsed(text).tree, Binder(self._scorer, self._ctx.wording.analyzer)
            self._trees[text] = None if tree is None else binder.bound(tree)
        return self._trees[text]

    def _search(self, text: str) -> Ranking:
        """What a text finds."""
        bound = self._bound(text)
        if bound is None:
            return Ranking.empty()
        masks = self._ctx.selection.masks
        return self._ranked(*best_rows(self._scorer, bound, masks, self._lane.pool))

    def _ranked(self, rows: Rows, scores: Scores) -> Ranking:
        order = self._ctx.best(scores, rows, self._lane.pool)
        return Ranking(rows[order], scores[order])

    # -- the ladder: an empty answer is asked for again, more loosely each time --------------------

    def climb(self, text: str, *, loosely: bool) -> Ranking:
        """What a query finds; if nothing, and `loosely`, what the first rung above finds.

        Every attempt is recorded; the first rung that finds something is the last that runs.
        """
        ranking = self._search(text)
        attempts = [Attempt(0, "initial", text, ranking.rows.size)]
        if loosely and not ranking.rows.size and self._ctx.selection.count:
            for attempt, hits in self._rungs(text):
                attempts.append(attempt)
                if hits.rows.size:
                    ranking = hits
                    break
        return replace(ranking, attempts=tuple(attempts))

    def _rungs(self, text: str) -> Iterator[tuple[Attempt, Ranking]]:
        word = longest_word(text, self._df)
        if word is not None and word != text.strip().lower():
            yield self._rung(1, "strongest_term", word)
        # An index that is caught up on every read has nothing to refresh; the rung keeps its place.
        yield Attempt(2, "force-refresh", None, 0), Ranking.empty()
        clean = sanitised(text)
        if clean:
            yield self._rung(3, "refreshed_sanitised", clean)
            word = longest_word(clean, self._df)
            if word is not None:
                yield self._rung(4, "refreshed_strongest", word)
        words = content_words(text)
        if words:
            rows, scores, near = self._fuzzy.near(words, self._lane.fuzzy)
            hits = self._ranked(rows, scores)
            yield Attempt(5, "trigram_fuzzy", " ".join(words), hits.rows.size, near), hits

    def _rung(self, number: int, name: str, text: str) -> tuple[Attempt, Ranking]:
        hits = self._search(text)
        return Attempt(number, name, text, hits.rows.size), hits

    def _df(self, word: str) -> int:
        bound = self._bound(word)
        return getattr(bound, "df", 0)

    @cached_property
    def _fuzzy(self) -> Fuzzy:
        return Fuzzy(self._scorer.ground, self._ctx.wording.analyzer, self._ctx.selection.masks)

    def evidence(self, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Why the rung that found these rows scored them as it did."""
        won = next((a for a in ranking.attempts if a.hits), Attempt(0, "initial", "", 0))
        if won.near:
            return self._fuzzy.evidence((won.query or "").split(), won.near, rows)
        text = won.query if won.rung else self._ctx.query.text
        bound = self._bound(text or "")
        return [] if bound is None else bm25_evidence(self._scorer, bound, rows)


def _query(asked: ParsedQuery) -> dict[str, object]:
    """The query as the plan shows it: plain terms as a list, anything else as an expression."""
    tree = asked.tree
    parts = tree.parts if isinstance(tree, Any) else (tree,)
    terms = [part.term for part in parts if isinstance(part, Term)]
    return {"terms": terms} if len(terms) == len(parts) else {"query": tree_text(tree)}
