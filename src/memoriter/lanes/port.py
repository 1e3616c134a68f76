"""What a lane is: it finds and ranks rows by one signal, inside the selection, and can say why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.query import Query
from memoriter.core.ranking import Ranking, Rows, Scores
from memoriter.embed.port import Kindred
from memoriter.index.filter import Fetch
from memoriter.index.graph import Graph
from memoriter.index.ids import replaced_by
from memoriter.index.reading import Reading
from memoriter.index.selection import Selection
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


Judge = Callable[[Sequence[int], Sequence[str], int], "Scores | str"]
"""Asks a reranker about the query: rows, their texts, milliseconds; scores, or why none came."""


@dataclass(frozen=True, slots=True)
class InSpace:
    """A query in one vector space: whose, the view with its vectors, the query's own."""

    name: str
    reading: Reading
    vector: NDArray[np.float32] | Skipped | None


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a lane may look at. Frozen: a lane is a pure function of it."""

    query: Query
    reading: Reading
    selection: Selection
    analyzer: Analyzer
    vector: NDArray[np.float32] | Skipped | None
    """The query's vector on the grid, or why there is none: the outcome of the one effect.

    None while planning only: nobody has asked the embedder yet.
    """
    unread: str | None = None
    """Why the recipe's analyzer cannot be used on this store; None when it can."""
    kin: Kindred | None = None
    """The table of kin that the index was read with; None where there is none."""
    recorded: int | None = None
    """The last entry of the log at the time asked about, where append time decides."""
    label: str = ""
    """What the recipe calls the lane at work."""
    given: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """The rows that the call gives lanes to start from."""
    seeds: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    """The rows that the lane at work starts from, best first; none for a lane that needs none."""
    lists: Mapping[str, tuple[Rows, Scores]] = field(default_factory=dict[str, tuple[Rows, Scores]])
    """Ranked lists that come with the call, best first."""
    fetch: Fetch = no_records
    """Reads records, for steps that look at texts."""
    judge: Judge | None = None
    """The reranker; None where there is none."""
    space: str = "serving"
    """Who embeds in the space that serves."""
    beside: tuple[InSpace, ...] = ()
    """The other spaces that the memory reads."""
    keys: Keys = by_row
    """How the recipe puts equals in order, inside its lanes too."""

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
        return self.reading.graph.upto(self.recorded)

    def replaced_by(self, rows: Rows) -> list[tuple[str, ...]]:
        """For each of these rows the ids of what took its place, as far as it may be read.

        Where append time decides, what was replaced by then is not found at all.
        """
        if self.recorded is not None:
            return [()] * rows.size
        edges = self.reading.in_force(self.time)
        return replaced_by(self.reading, rows, edges, self.selection.readable)


class Lane(Protocol):
    """A signal."""

    brings: ClassVar[bool]
    reads: ClassVar[tuple[str, ...]]

    @property
    def kind(self) -> str:
        """What kind of lane it is."""
        ...

    @property
    def enabled(self) -> bool:
        """Whether the recipe runs it."""
        ...

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run."""
        ...

    def rank(self, ctx: Context) -> Ranking:
        """Its rows, best first, cut to its pool; scores on the grid, ties by row."""
        ...

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """How it scored these rows of its ranking; asked only for final hits."""
        ...
