"""Which records share words with the query? Exact BM25 over the selection, in any dialect."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, cast

from pydantic import AfterValidator, Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Attempt, Ranking, Rows, Scores
from memoriter.index.ground import Among, Ground
from memoriter.lanes.binding import Binder
from memoriter.lanes.finding import Bound, found
from memoriter.lanes.fuzzy import Fuzzy
from memoriter.lanes.ladder import climb
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.scoring import Form, Formula, Measure, Scorer
from memoriter.lanes.spec import Spec
from memoriter.lanes.telling import told
from memoriter.rank.bm25 import Rarity
from memoriter.text.dialects import Options, known_dialect, read
from memoriter.text.retry import sanitised, strongest, tokens
from memoriter.text.tree import Any, Asked, Term, excludes, spelled

TextField = Literal[
    "text", "title", "summary", "tags", "concepts", "entities", "agent", "path",
    "essence", "agent_registry",
]  # fmt: skip
"""Where words may be looked for: what the recipe's analyzer reads, and what the registry says."""


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Words(Spec):
    """BM25: each leaf of the query in each field of a record adds its share."""

    kind: Literal["bm25"]
    reads: ClassVar[tuple[str, ...]] = ("query",)
    enabled: bool = True
    pool: int = Field(ge=1, le=100_000)
    dialect: Annotated[str, AfterValidator(known_dialect)] = "bare"
    expert: bool = True
    """Whether quotes and operators mean something."""
    stop: Literal["none", "latin"] = "none"
    """Which words are left out of a bare query."""
    form: Form = "fields"
    score: Measure = "bm25"
    idf: Rarity = "positive"
    records: Among = "all"
    k1: float = Field(ge=0.0, le=100.0)
    b: float = Field(ge=0.0, le=1.0)
    fields: dict[TextField, Annotated[float, Field(ge=0.0, le=100.0)]]
    least_mean: float = Field(default=1.0, ge=0.0, le=1000.0)
    gate: dict[TextField, Share] = Field(default_factory=dict[TextField, Share])
    gate_from: int = Field(default=20, ge=0)
    ladder: bool = False
    """Whether an empty answer is asked for again, more loosely each time."""
    fuzzy: float = Field(default=0.3, gt=0.0, le=1.0)
    """How near a word must be on the last rung: the share of trigrams that two have in common."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has words; with a ladder, when it has any text to climb with."""
        if ctx.unread is not None:
            return Skipped(ctx.unread)
        asked = self.asked(ctx, ctx.query.text)
        if asked.tree is None and not (self.ladder and ctx.query.text.strip()):
            return Skipped("the query has no words", idle=bool(ctx.query.text.strip()))
        shows: dict[str, object] = _query(asked)
        if asked.note is not None:
            shows["note"] = asked.note
        if asked.malformed:
            shows["malformed"] = 1
        shows |= {"k1": self.k1, "b": self.b, "fields": self.fields, "pool": self.pool}
        return Ready(shows)

    def asked(self, ctx: Context, text: str) -> Asked:
        """A text as this lane's dialect reads it."""
        options = Options(self.expert, self.stop, ctx.query.aliases)
        return read(self.dialect, text, ctx.analyzer, options)

    def rank(self, ctx: Context) -> Ranking:
        """Records that satisfy the query, by the sum of their shares; if none, the ladder's."""
        search = _Search(self, ctx)
        loosely = self.ladder and not self.strict(search.asked(ctx.query.text))
        return replace(climb(search, ctx.query.text, loosely=loosely), memo=search)

    def strict(self, asked: Asked) -> bool:
        """Whether a query means what it says: an empty answer to it is no accident."""
        if asked.tree is None or not asked.expert:
            return False
        return self.dialect == "bare" or excludes(asked.tree)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's score as the sum of its shares, with the counts behind them."""
        del ctx
        return cast("_Search", ranking.memo).told(ranking, rows)


class _Search:
    """One query of this lane on one view: what the ladder's rungs call."""

    def __init__(self, lane: Words, ctx: Context) -> None:
        self._lane = lane
        self._ctx = ctx
        self._read: dict[str, Asked] = {}
        self._found: dict[str, Bound | None] = {}

    def asked(self, text: str) -> Asked:
        """A text as the lane's dialect reads it, each text once."""
        if text not in self._read:
            self._read[text] = self._lane.asked(self._ctx, text)
        return self._read[text]

    @cached_property
    def _scorer(self) -> Scorer:
        lane = self._lane
        weights = cast("dict[str, float]", lane.fields)
        ground = Ground(self._ctx.reading, tuple(weights), self._ctx.analyzer, lane.records)
        gate = cast("dict[str, float]", lane.gate)
        shape = (lane.k1, lane.b)
        formula = Formula(
            lane.form, lane.score, lane.idf, shape, weights, gate, lane.gate_from, lane.least_mean
        )
        return Scorer(ground, formula)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to find."""
        return not self._ctx.selection.count

    def _bound(self, text: str) -> Bound | None:
        if text not in self._found:
            tree, binder = self.asked(text).tree, Binder(self._scorer, self._ctx.analyzer)
            self._found[text] = None if tree is None else binder.bound(tree)
        return self._found[text]

    def found(self, text: str) -> Ranking:
        """What a text finds."""
        bound = self._bound(text)
        if bound is None:
            return Ranking.empty()
        masks = self._ctx.selection.masks
        return self._ranked(*found(self._scorer, bound, masks, self._lane.pool))

    def _ranked(self, rows: Rows, scores: Scores) -> Ranking:
        order = self._ctx.best(scores, rows, self._lane.pool)
        return Ranking(rows[order], scores[order])

    def strongest(self, text: str) -> str | None:
        """The one word of a text that says most."""
        return strongest(text, self._df)

    def _df(self, word: str) -> int:
        bound = self._bound(word)
        return getattr(bound, "df", 0)

    def sanitised(self, text: str) -> str:
        """A text without anything that could be an operator."""
        return sanitised(text)

    def typed(self, text: str) -> list[str]:
        """The words of a text that may hold a typing error."""
        return tokens(text)

    @cached_property
    def _fuzzy(self) -> Fuzzy:
        return Fuzzy(self._scorer.ground, self._ctx.analyzer, self._ctx.selection.masks)

    def near(self, words: list[str]) -> tuple[Ranking, tuple[str, ...]]:
        """Rows with a word that is spelled nearly like one of these; and those words."""
        rows, scores, met = self._fuzzy.near(words, self._lane.fuzzy)
        return self._ranked(rows, scores), met

    def told(self, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Why the rung that found these rows scored them as it did."""
        won = next((a for a in ranking.attempts if a.hits), Attempt(0, "initial", "", 0))
        if won.near:
            return self._fuzzy.told((won.query or "").split(), won.near, rows)
        text = won.query if won.rung else self._ctx.query.text
        bound = self._bound(text or "")
        return [] if bound is None else told(self._scorer, bound, rows)


def _query(asked: Asked) -> dict[str, object]:
    """The query as the plan shows it: plain terms as a list, anything else as an expression."""
    tree = asked.tree
    parts = tree.parts if isinstance(tree, Any) else (tree,)
    terms = [part.term for part in parts if isinstance(part, Term)]
    return {"terms": terms} if len(terms) == len(parts) else {"query": spelled(tree)}
