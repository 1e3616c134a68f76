"""What a lane is: it finds and ranks rows by one signal, inside the selection, and can say why."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.query import Query
from memoriter.core.ranking import Ranking, Rows, Scores
from memoriter.core.record import Record
from memoriter.embed.port import Kindred
from memoriter.index.filter import Fetch
from memoriter.index.graph import Graph
from memoriter.index.ids import replaced_by
from memoriter.index.selection import Selection
from memoriter.index.view import View
from memoriter.lanes.spec import RecipePart, option
from memoriter.rank.top import Keys, by_row, top
from memoriter.text.port import Analyzer


@dataclass(frozen=True, slots=True)
class Ready:
    """The lane can run; `shows` is what the plan prints beside it."""

    shows: Mapping[str, object]
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parts of it that cannot, by name, and why: the answer is degraded."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """The lane cannot run, and why."""

    reason: str
    idle: bool = False
    """Whether that is because there is nothing for it to do: nobody misses it then."""


def no_records(rows: Sequence[int]) -> list[None]:
    """A context without records knows none."""
    return [None] * len(rows)


Vector = NDArray[np.float32]
Judge = Callable[[Sequence[int], Sequence[str], int], "Scores | str"]
"""Asks a reranker about the query: rows, their texts, milliseconds; scores, or why none came."""


@dataclass(frozen=True, slots=True)
class InSpace:
    """A query in one vector space."""

    name: str
    """Who embeds there."""
    view: View
    """The view with the vectors of that space."""
    vector: Vector | None = None
    """The query's vector on the grid; None while planning, and where there is none."""
    lacks: Skipped | None = None
    """Why there is none: the outcome of the one effect."""


def in_space(name: str, view: View, outcome: Vector | Skipped | None) -> InSpace:
    """A query in a space, by what became of embedding it; None: nobody has asked yet."""
    if isinstance(outcome, Skipped):
        return InSpace(name, view, lacks=outcome)
    return InSpace(name, view, outcome)


@dataclass(frozen=True, slots=True)
class Wording:
    """How words are read."""

    analyzer: Analyzer
    """Who reads the words of the query."""
    unread: str | None = None
    """Why the recipe's analyzer cannot be used on this store; None when it can."""
    kin: Kindred | None = None
    """The table of similar words that the index was read with; None where there is none."""


@dataclass(frozen=True, slots=True)
class CallRows:
    """The rows that come with a call."""

    seeds: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """By lane, the rows to start from."""
    lists: Mapping[str, tuple[Rows, Scores]] = field(default_factory=dict[str, tuple[Rows, Scores]])
    """Ranked lists, best first."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a search may ask of the world beside its view."""

    fetch: Fetch = no_records
    """Reads records, for steps that look at texts."""
    judge: Judge | None = None
    """The reranker; None where there is none."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The lane at work."""

    label: str = ""
    """What the recipe calls it."""
    seeds: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    """The rows that it starts from, best first; none for a lane that needs none."""


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a lane may look at. Frozen: a lane is a pure function of it."""

    query: Query
    view: View
    """The view."""
    selection: Selection
    """What of it may be found."""
    wording: Wording
    spaces: tuple[InSpace, ...]
    """The query in every vector space that is read, the one that serves first."""
    call: CallRows = CallRows()
    effects: Effects = Effects()
    turn: Turn = Turn()
    recorded: int | None = None
    """The last entry of the log at the time asked about, where append time decides."""
    keys: Keys = by_row
    """How the recipe puts equals in order, inside its lanes too."""

    @property
    def label(self) -> str:
        """What the recipe calls the lane at work."""
        return self.turn.label

    @property
    def seeds(self) -> Rows:
        """The rows that the lane at work starts from, best first."""
        return self.turn.seeds

    def fetch(self, rows: Sequence[int]) -> Sequence[Record | None]:
        """Records by row; None for what was forgotten."""
        return self.effects.fetch(rows)

    def at(self, label: str, seeds: Mapping[str, Rows]) -> Context:
        """The context as one lane sees it, with its seeds where it has some."""
        turn = Turn(label, seeds[label]) if label in seeds else Turn(label)
        return replace(self, turn=turn)

    def best(self, scores: Scores, rows: Rows, pool: int) -> NDArray[np.intp]:
        """Where the best of a lane's rows stand, equals as the recipe says."""
        return top(scores, rows, pool, self.keys)

    @property
    def time(self) -> int:
        """The time asked about."""
        return self.query.now if self.query.as_of is None else self.query.as_of

    @property
    def graph(self) -> Graph:
        """The edges of the view; where append time decides, as they were recorded by then."""
        return self.view.graph.upto(self.recorded)

    def replaced_by(self, rows: Rows) -> list[tuple[str, ...]]:
        """For each of these rows the ids of what took its place, as far as it may be read.

        Where append time decides, what was replaced by then is not found at all.
        """
        if self.recorded is not None:
            return [()] * rows.size
        edges = self.view.superseding_edges(self.time)
        return replaced_by(self.view, rows, edges, self.selection.readable)


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a lane did not find a row, and values of its options under which it would have."""

    reason: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


class Lane(RecipePart):
    """A signal, as a recipe declares it: finds and ranks rows, and says why."""

    brings: ClassVar[bool] = False
    """Whether it only brings rows, and a boost may give them a score."""
    reads: ClassVar[tuple[str, ...]] = ()
    """What of a question it needs: `query`, its text; `vector`, or the text in its place."""
    generation: ClassVar[Literal["words", "vectors", "kin"] | None] = None
    """What somebody's analyzer or model made that it reads: another one changes its scores."""
    independent: ClassVar[bool] = False
    """Whether its raw score of a record does not depend on which other records may be found."""
    reads_time: ClassVar[bool] = False
    """Whether its score depends on when the question is asked."""

    enabled: bool = option("whether it runs", default=True)

    @abstractmethod
    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run."""

    @abstractmethod
    def rank(self, ctx: Context) -> Ranking:
        """Its rows, best first, cut to its pool; scores on the grid, ties by row."""

    @abstractmethod
    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """How it scored these rows of its ranking; asked only for final hits."""

    def missed(self, ctx: Context, row: int) -> Miss:
        """Why it does not find a row, however large its pool is."""
        del ctx, row
        return Miss("did not find it")

    def vectors(self, ctx: Context, rows: Rows) -> Mapping[str, Mapping[int, Vector]]:
        """By space, the vectors of these rows that its evidence rests on: inputs of the receipt."""
        del ctx, rows
        return {}

    @property
    def ties(self) -> tuple[str, ...]:
        """Attributes by which it puts equals in order by itself: inputs of the receipt."""
        return ()


class Seeded(Lane):
    """A lane that starts from rows: given with the call, or the best that other lanes found."""

    must_start: ClassVar[bool] = False
    """Whether it is an error that no lane seeds it and none are given."""

    seeds: tuple[str, ...] = option("lanes whose best rows it starts from", ())
    seed_count: int = option("best rows taken from each of them", 20, ge=1, le=1000)
    together: bool = option("seeds are the best of these lanes fused", default=False)


def plain_evidence(
    name: str, ranking: Ranking, rows: Rows, *, whole: bool = False
) -> list[Explanation]:
    """The score of each of these rows as one number; a whole one beside it, where it was one."""
    score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    return [
        Explanation(name, score[row], facts={"number": int(score[row])} if whole else {})
        for row in rows.tolist()
    ]
