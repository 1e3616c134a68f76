"""The BM25 lane: records that share words with the query, exactly scored, in any query dialect.

`rank` parses the query (`text/dialects`), binds it to the view (`bm25_query`), finds the best rows
(`maxscore`, which scores with `bm25_score`). If it finds nothing and `ladder` is on, misspelt words
are tried; the dialect may have looser queries tried before. The formula itself is `rank/bm25.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar, Literal, cast

from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.ranking import Ranking, Rows, Scores
from memoriter.core.validation import After, Bounds
from memoriter.index.field_stats import Among, Named, field_stats_of
from memoriter.index.term_lists import look_up
from memoriter.kernel.jobs import Started
from memoriter.lanes.bm25_evidence import TERM_WORDS, matched_term, term_text
from memoriter.lanes.bm25_score import Form, Formula, ScoreForm, Scorer, kept_scorer
from memoriter.lanes.bm25_search import Bm25Search, SearchOptions
from memoriter.lanes.kernel_lane import KernelLane
from memoriter.lanes.port import Context, Miss, Ready, Skipped, WordMatch
from memoriter.lanes.spec import option
from memoriter.rank.bm25 import Bm25Params, IdfForm
from memoriter.text.dialects import Options, dialect, known_dialect, read_query
from memoriter.text.figures import NodeText
from memoriter.text.tree import Or, ParsedQuery, ReadingStep, Term, excludes, tree_text

TextField = Literal[
    "text", "title", "summary", "tags", "concepts", "entities", "agent", "path",
    "essence", "agent_registry",
]  # fmt: skip
"""Searchable fields: those that the analyzer indexes, and the agent registry's."""


Fraction = Annotated[float, Bounds(ge=0.0, le=1.0)]


class Bm25Lane(KernelLane):
    """BM25: the score is the sum over query leaves and record fields."""

    about: ClassVar[str] = "records that share words with the query (BM25)"
    reads: ClassVar[tuple[str, ...]] = ("query",)
    generation: ClassVar[str | None] = "words"
    independent: ClassVar[bool] = True
    matches_terms: ClassVar[bool] = True
    fact_words: ClassVar[Mapping[str, str]] = TERM_WORDS

    kind: Literal["bm25"]
    pool: int = option("how many candidates the lane returns at most", ge=1, le=100_000)
    dialect: Annotated[str, After(known_dialect)] = option(
        "syntax in which the lane reads the question",
        "bare",
        values=lambda name: dialect(name).about,
    )
    expert: bool = option(
        "whether quotes, AND, OR, NOT, `field:` and `*` in a question are read as operators",
        default=True,
    )
    stop: Literal["none", "latin"] = option(
        "whether stop words (common words) of the question are ignored; used only if `dialect` is"
        " bare",
        "none",
        values={"none": "no word is ignored", "latin": "English stop words are ignored"},
    )
    form: Form = option(
        "how the length of a record is counted",
        "fields",
        values={"fields": "for each field by itself", "row": "for all fields together"},
    )
    score: ScoreForm = option(
        "formula of the score",
        "bm25",
        values={
            "bm25": "BM25, with `k1` and `b`",
            "tf_idf": "term frequency times inverse document frequency",
            "tf": "term frequency alone",
        },
    )
    idf: IdfForm = option(
        "formula of the inverse document frequency (idf): the rarer a word, the more it counts",
        "positive",
        values={
            "floored": "1e-6 for a word in half of the records or more, as in SQLite FTS5",
            "positive": "above 0 even for a word in every record, as in Lucene",
        },
    )
    records: Among = option(
        "which records are counted for word frequencies and mean lengths",
        "all",
        values={
            "all": "every record",
            "worded": "only records with at least one word in a searched field",
        },
    )
    agents: Named = option(
        "agents whose names and descriptions are searched; used only if `fields` has"
        " agent_registry",
        "registered",
        values={
            "registered": "agents of the agent registry",
            "every": "every agent, by its id if it has no display name",
        },
    )
    k1: float = option(
        "how much each repetition of a word adds to the score; 0: nothing; the larger, the more",
        ge=0.0,
        le=100.0,
    )
    b: float = option(
        "length normalization; 0: none; 1: full; a larger b lowers the scores of long records more",
        ge=0.0,
        le=1.0,
    )
    fields: dict[TextField, Annotated[float, Bounds(ge=0.0, le=100.0)]] = option(
        "searched fields, each with a weight; the larger the weight, the more the field counts"
    )
    least_mean: float = option(
        "lower limit, in words, of the mean length that BM25 divides by; a smaller mean counts as"
        " this limit",
        1.0,
        ge=0.0,
        le=1000.0,
    )
    gate: dict[TextField, Fraction] = option(
        "for each field, the share of all records (0 to 1) above which a word is too common; a"
        " word that more records contain is ignored in this field",
        make=dict[TextField, Fraction],
    )
    gate_from: int = option(
        "smallest number of records at which `gate` applies; with fewer records, no word is too"
        " common",
        20,
        ge=0,
    )
    wordless: Literal["skip", "empty"] = option(
        "what happens if a question has no words",
        "skip",
        values={"skip": "the lane is skipped", "empty": "the lane runs and finds nothing"},
    )
    ladder: bool = option(
        "whether words of similar spelling are tried if no record matches the question",
        default=False,
    )
    fuzzy: float = option(
        "minimum trigram similarity (0 to 1) of a misspelt word and a word that is tried instead;"
        " used only if `ladder` is true",
        0.3,
        gt=0.0,
        le=1.0,
    )

    @property
    def takes(self) -> tuple[str, ...]:
        """The aliases, if its dialect replaces words."""
        return ("aliases",) if dialect(self.dialect).aliases else ()

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the query has words; with a ladder or `wordless`, if it has any text."""
        if ctx.wording.unread is not None:
            return Skipped(ctx.wording.unread)
        parsed = self.parsed(ctx, ctx.query.text)
        searched, blank = self.wordless == "empty", not ctx.query.text.strip()
        if parsed.tree is None and (blank or not (self.ladder or searched)):
            return Skipped("the query has no words", idle=searched or not blank)
        before = {step.name: _reading(step) for step in parsed.steps}
        return Ready(Later(lambda: self._shown_of(parsed)), before=before)

    def _shown_of(self, parsed: ParsedQuery) -> dict[str, object]:
        """What a plan prints: the query as it was read, and options."""
        note = {} if parsed.note is None else {"note": parsed.note}
        malformed = {"malformed": 1} if parsed.malformed else {}
        options = {"k1": self.k1, "b": self.b, "fields": self.fields, "pool": self.pool}
        return {**_query(parsed), **note, **malformed, **options}

    def parsed(self, ctx: Context, text: str) -> ParsedQuery:
        """A text parsed by this lane's dialect."""
        # The plan and the search parse the same text.
        key = f"parsed {self.dialect} {self.expert} {self.stop} {text}"
        if key not in ctx.memo:
            options = Options(self.expert, self.stop, ctx.query.aliases)
            ctx.memo[key] = read_query(self.dialect, text, ctx.wording.analyzer, options)
        return cast("ParsedQuery", ctx.memo[key])

    def start(self, ctx: Context) -> Started[Ranking]:
        """Records that match the query, or the first looser rung that finds some; best first."""
        parse = partial(self.parsed, ctx)
        options = SearchOptions(self.dialect, self.pool, self.fuzzy)
        search = Bm25Search(ctx, self._scorer(ctx), parse, options)
        look_up([segment.term_lists for segment in ctx.view.segments], ctx.terms)
        loosely = self.ladder and not self.strict(search.parsed(ctx.query.text))
        started = search.climb(ctx.query.text, loosely=loosely)
        if not ctx.running.scores_further:
            return started
        return started.asking(partial(search.about_found, started.search))

    def _scorer(self, ctx: Context) -> Scorer:
        """The scorer of this lane in the view."""
        reader = ctx.wording.analyzer

        def new() -> Scorer:
            weights = cast("dict[str, float]", self.fields)
            stats = field_stats_of(ctx.view, tuple(weights), reader, self.records, self.agents)
            formula = Formula(
                form=self.form,
                score=self.score,
                idf=self.idf,
                params=Bm25Params(self.k1, self.b),
                weights=weights,
                gate=cast("dict[str, float]", self.gate),
                gate_from=self.gate_from,
                least_mean=self.least_mean,
            )
            return Scorer(stats, formula)

        return kept_scorer(ctx.view, self, reader.fingerprint, new)

    def score_rows(self, ctx: Context, ranking: Ranking, rows: Rows) -> Scores:
        """The scores of further rows, by the query or the rung that found the ranking."""
        return cast("Bm25Search", ranking.memo).score_rows(ranking, ctx.selection, rows)

    def strict(self, parsed: ParsedQuery) -> bool:
        """Whether an empty answer is what the query asked for, so that the ladder must not run.

        True for an expression of a dialect that is `literal`, and for any that excludes terms.
        """
        if parsed.tree is None or not parsed.expert:
            return False
        return dialect(self.dialect).literal or excludes(parsed.tree)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's score as a sum, with term frequency, df and length of every part."""
        del ctx
        return cast("Bm25Search", ranking.memo).evidence(ranking, rows)

    def node_text(self, node: Explanation) -> NodeText:
        """Of a term, its counts; a fuzzy match and sums have nothing special."""
        counted = {"term", "tf", "df", "idf"} <= node.facts.keys()
        return term_text(node.facts) if counted else super().node_text(node)

    def word_match(self, node: Explanation) -> WordMatch | None:
        """The term of a leaf, or the misspelt word that was matched by its letters."""
        return matched_term(node.facts) if "term" in node.facts else None

    def missed(self, ctx: Context, row: int) -> Miss:
        """The record has none of the words, or does not match the expression."""
        del row
        ready = self.ready(ctx)
        terms = None if isinstance(ready, Skipped) else ready.shows.get("terms")
        if not terms:
            return Miss("it does not fit the query")
        return Miss(f"it has none of the words {', '.join(cast('list[str]', terms))}")


def _reading(step: ReadingStep) -> Ready | Skipped:
    """A step of the dialect, as plans show it."""
    return Ready(step.shows) if step.skipped is None else Skipped(step.skipped, idle=True)


def _query(parsed: ParsedQuery) -> dict[str, object]:
    """The query as plans show it: plain terms as a list, anything else as an expression."""
    tree = parsed.tree
    parts = tree.parts if isinstance(tree, Or) else (tree,)
    terms = [part.term for part in parts if isinstance(part, Term)]
    return {"terms": terms} if len(terms) == len(parts) else {"query": tree_text(tree)}
