"""The interface of a lane: it finds and ranks rows by one signal, and can explain each score.

`Lane` is the base class of every kind of lane; `Context` is all that a lane may read. The pipeline
calls `ready` while planning, `rank` while running, `evidence` for the final hits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import ClassVar, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.query import Query
from memoriter.core.ranking import Mask, Ranking, Rows, Scores, scores_at
from memoriter.core.record import Record
from memoriter.embed.port import Kindred
from memoriter.index.field_stats import FieldStats, field_stats_of
from memoriter.index.graph import Graph
from memoriter.index.ids import replacing_ids
from memoriter.index.selection import Selection
from memoriter.index.view import ReplacedBy, ReplacingEdges, View
from memoriter.lanes.effects import Effects
from memoriter.lanes.spec import RecipePart, option
from memoriter.rank.top import Keys, by_row, top
from memoriter.text.port import Analyzer

EVERY: Final = 10_000_000
"""A pool size that cuts off nothing."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The lane can run; what the plan prints for it may be made later."""

    _shows: Mapping[str, object] | Later[Mapping[str, object]]
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parts of the lane that cannot run, by name, and why: the answer is degraded."""
    before: Mapping[str, Ready | Skipped] = field(default_factory=dict[str, "Ready | Skipped"])
    """What is done before the lane runs, by name, for plans."""

    @property
    def shows(self) -> Mapping[str, object]:
        """What the plan prints for it."""
        return self._shows.value if isinstance(self._shows, Later) else self._shows


@dataclass(frozen=True, slots=True)
class Skipped:
    """The lane cannot run, and why."""

    reason: str
    idle: bool = False
    """Whether there is nothing for it to do: then the answer still counts as complete."""


_NO_ROWS: Final[Rows] = np.zeros(0, np.int64)
FloatVector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class InSpace:
    """A query in one vector space."""

    name: str
    """The name of its embedder."""
    view: View
    """The view with the vectors of that space."""
    vector: FloatVector | None = None
    """The query's vector on the grid; None while planning, or if there is none."""
    lacks: Skipped | None = None
    """Why embedding the query gave no vector."""


def in_space(name: str, view: View, outcome: FloatVector | Skipped | None) -> InSpace:
    """A query in a space, by the outcome of embedding it; None while nothing is embedded yet."""
    if isinstance(outcome, Skipped):
        return InSpace(name, view, lacks=outcome)
    return InSpace(name, view, outcome)


@dataclass(frozen=True, slots=True)
class Wording:
    """What text analysis a search uses."""

    analyzer: Analyzer
    """Splits the query into terms."""
    unread: str | None = None
    """Why the recipe's analyzer cannot be used on this store; None if it can."""
    kin: Kindred | None = None
    """The table of similar words that the index was built with; None if there is none."""


@dataclass(frozen=True, slots=True)
class CallRows:
    """The rows that come with a call."""

    seeds: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """Seed rows by label of the lane."""
    lists: Mapping[str, tuple[Rows, Scores]] = field(default_factory=dict[str, tuple[Rows, Scores]])
    """Ranked lists, best first."""


@dataclass(frozen=True, slots=True)
class RunningPart:
    """The lane or boost that is running."""

    label: str = ""
    """Its label in the recipe."""
    seeds: Rows = field(default_factory=lambda: _NO_ROWS)
    """Its seed rows, best first; empty for a lane without seeds."""
    scores_further: bool = False
    """Whether `score_rows` will be called for further rows once all lanes have ranked."""
    counted: Rows | None = None
    """The rows, ascending, whose value of the boost changes the answer; None: all."""


@dataclass(frozen=True)
class Context:
    """Everything a lane may look at. Frozen: a lane is a pure function of it."""

    query: Query
    view: View
    selection: Selection
    """The rows of the view that pass scope, filters and the recipe's `select`."""
    wording: Wording
    spaces: tuple[InSpace, ...]
    """The query in every vector space that is read; the serving space is first."""
    call: CallRows = CallRows()
    effects: Effects = Effects()
    running: RunningPart = RunningPart()
    recorded: int | None = None
    """The last log entry at the queried time, if the recipe goes by append time; else None."""
    replaced_by: ReplacedBy = "any"
    """Which edges of the view supersede their targets, by the recipe."""
    asked: str = ""
    """The question without the words that lanes of the recipe's `apart` read."""
    embedded: str = ""
    """The same without the names of speakers, where the recipe says so: what is embedded."""
    keys: Keys = by_row
    """How the recipe orders rows with equal scores, inside lanes too."""
    selected_ms: float = field(default=0.0, compare=False)
    """How long the selection took, for people."""
    memo: dict[str, object] = field(default_factory=dict[str, object], compare=False, repr=False)
    """What several steps of a search ask for, made once; another selection needs another memo."""

    @property
    def label(self) -> str:
        """The label of the running lane."""
        return self.running.label

    @property
    def seeds(self) -> Rows:
        """The seed rows of the running lane, best first."""
        return self.running.seeds

    def fetch(self, rows: Sequence[int]) -> Sequence[Record | None]:
        """Records by row; None for a forgotten one."""
        return self.effects.fetch(rows)

    def at(self, label: str, seeds: Mapping[str, Rows], *, scores_further: bool = False) -> Context:
        """The context for one lane, with its seeds if it has some."""
        return self.changed(running=RunningPart(label, seeds.get(label, _NO_ROWS), scores_further))

    def changed(self, **fields: object) -> Context:
        """The context with other values of some fields (`replace`, quicker)."""
        made = object.__new__(Context)
        made.__dict__.update(self.__dict__, **fields)
        return made

    def best(self, scores: Scores, rows: Rows, pool: int) -> NDArray[np.intp]:
        """The places of the best `pool` rows, best first; ties by the recipe's `ties`."""
        return top(scores, rows, pool, self.keys)

    @property
    def time(self) -> int:
        """The time that the query is about: `as_of`, else `now`."""
        return self.query.now if self.query.as_of is None else self.query.as_of

    @property
    def has_model(self) -> bool:
        """Whether the serving vectors come from a model, not from the packaged table of words."""
        return self.spaces[0].view.has_model

    @property
    def graph(self) -> Graph:
        """The edges of the view; by append time, only those recorded up to then."""
        return self.view.graph.upto(self.recorded)

    @property
    def field_stats(self) -> FieldStats:
        """Statistics of all fields of the view; several steps of a search ask for them."""
        return field_stats_of(self.view, self.view.fields, self.wording.analyzer)

    @property
    def terms(self) -> Sequence[str]:
        """The different index terms of the question, sorted; several steps ask for them."""
        if "terms" not in self.memo:
            self.memo["terms"] = sorted(set(self.wording.analyzer.terms(self.query.text)))
        return cast("Sequence[str]", self.memo["terms"])

    def replacing_ids(self, rows: Rows) -> list[tuple[str, ...]]:
        """For each row the ids of the readable records that replaced it."""
        if self.recorded is not None:  # what was replaced by then is not in the selection
            return [()] * rows.size
        return replacing_ids(self.view, rows, self.replacing_edges, self.selection.readable)

    @property
    def replacing_edges(self) -> ReplacingEdges:
        """The edges whose targets are superseded at the time in question, oldest first."""
        return self.view.replacing_edges_at(self.time, self.recorded, self.replaced_by)


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a lane did not find a row, and values of its options under which it would have."""

    reason: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class WordMatch:
    """The words that a node of an explanation says were matched, for highlighting."""

    term: str | None = None
    """The term of the query; None if the lane has no terms."""
    fields: tuple[str, ...] = ()
    """The fields of the record that have the term."""
    tokens: tuple[str, ...] = ()
    """The index terms that matched."""
    prefixes: tuple[str, ...] = ()
    """The prefixes of index terms that matched."""
    words: tuple[str, ...] = ()
    """The words of the record that matched, as they are written."""


@dataclass(frozen=True, slots=True)
class LaneFigures:
    """What the explanation of a lane's score says of a record, for tables of results."""

    score: float
    distance: float | None = None
    """1 − cosine, for a lane that compares vectors."""
    parent: str | None = None
    """The record before it on its path, for a lane that follows edges."""
    depth: int | None = None
    """The length of that path."""


class Lane(RecipePart, ABC):
    """A lane as a recipe declares it. Its annotated attributes are the recipe's options."""

    brings: ClassVar[bool] = False
    """Whether it only adds candidates, without a score; a boost may score them."""
    reads: ClassVar[tuple[str, ...]] = ()
    """What it needs of a question: `query` (the text), `vector` (or the text to embed)."""
    generation: ClassVar[str | None] = None
    """The derived data that it reads, as receipts name its generation: `words`, `vectors` or `kin`.
    Another analyzer or model changes its scores."""
    independent: ClassVar[bool] = False
    """Whether a record's raw score is independent of the other records in the selection."""
    matches_terms: ClassVar[bool] = False
    """Whether `word_match` names terms of the query; `Hit.matched` asks no other lane."""
    unlimited: ClassVar[Mapping[str, object]] = MappingProxyType({"pool": EVERY})
    """The options under which the lane would find every row that it has a score for."""
    reads_time: ClassVar[bool] = False
    """Whether its score depends on the query's `now`."""
    owing: ClassVar[str] = ""
    """What a hit says of a record that `owed` names."""
    listed: ClassVar[bool] = False
    """Whether its rows come with the call, as the list under its label (`lists`)."""
    work_limits: ClassVar[Mapping[str, str]] = {}
    """Options that bound its work → the limit of a server for each: `hops` or `visits`."""

    enabled: bool = option("whether the lane runs", default=True)

    @abstractmethod
    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run; called while planning, before any lane has run."""

    @abstractmethod
    def rank(self, ctx: Context) -> Ranking:
        """Its rows, best first, at most `pool`. Scores must be on the grid; use `ctx.best`."""

    def score_rows(self, ctx: Context, ranking: Ranking, rows: Rows) -> Scores:
        """The score of each of these rows of the selection, ascending, as with an unlimited pool.

        NaN where the lane does not find a row. Called only if the lane is `independent`; `ranking`
        is what `rank` returned, and `evidence` may be asked for both.
        """
        only = replace(ctx, selection=ctx.selection.only(ctx.view, rows), memo={})
        ranking = self.with_options(**self.unlimited).rank(only)
        return scores_at(rows, ranking.rows, ranking.scores)

    def owed(self, ctx: Context, rows: Rows) -> Mask | None:
        """Which of these rows lack what it reads because that is still to be computed.

        None if no row of the view does.
        """
        del ctx, rows
        return None

    @abstractmethod
    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """One explanation per row, whose value is the row's score; called for final hits only."""

    def word_match(self, node: Explanation) -> WordMatch | None:
        """The words that a node of its explanations is about; None if it is not about words."""
        del node
        return None

    def figures(self, why: Explanation) -> LaneFigures:
        """The score, distance and path that an explanation of its score gives."""
        return LaneFigures(cast("float", why.facts.get("number", why.value)))

    @classmethod
    def for_list(cls, value: object) -> dict[str, object] | None:
        """A lane for a value of the call's `lists`, as data; None if it takes no such value."""
        del value
        return None

    def words_in_text(self, query: Query) -> tuple[str, ...]:
        """Those of its own words that say the same in the text of a record; empty if none do."""
        del query
        return ()

    def own_words(self, query: Query) -> str:
        """The words of the question that this lane alone reads; empty if there are none."""
        del query
        return ""

    def why_no_coverage(self, ctx: Context) -> str:
        """Why its ranking has no `coverage`, where it has none."""
        del ctx
        return "a lane has no scale that can be compared between questions"

    def missed(self, ctx: Context, row: int) -> Miss:
        """Why it would not find a row even with an unlimited pool."""
        del ctx, row
        return Miss("did not find it")

    def vectors(self, ctx: Context, rows: Rows) -> Mapping[str, Mapping[int, FloatVector]]:
        """By space and row, the vectors that its scores follow from: inputs of the receipt."""
        del ctx, rows
        return {}

    @property
    def ties(self) -> tuple[str, ...]:
        """Attributes by which it orders equal scores itself: inputs of the receipt."""
        return ()


class Seeded(Lane):
    """A lane that starts from seed rows: those of the call, and the best rows of other lanes."""

    must_start: ClassVar[bool] = False
    """Whether it is an error if neither a lane nor the call provides seeds."""

    seeds: tuple[str, ...] = option(
        "lanes whose best candidates this lane starts from; these candidates are its seeds", ()
    )
    seed_count: int = option(
        "how many seeds are taken from each lane in `seeds`, best candidates first",
        20,
        ge=1,
        le=1000,
    )
    together: bool = option(
        "whether the lanes in `seeds` are fused first; the seeds are then the best candidates of"
        " the fused list",
        default=False,
    )


def plain_evidence(
    name: str, ranking: Ranking, rows: Rows, *, whole: bool = False
) -> list[Explanation]:
    """The score of each row as a leaf; with `whole`, the fact `number` has it as an integer."""
    score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    own = [score[row] for row in rows.tolist()]
    return [Explanation(name, s, facts={"number": int(s)} if whole else {}) for s in own]
