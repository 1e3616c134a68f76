"""Why a search did not answer with a record: the first thing in its way, and what lets it in.

The change is found step by step, each step tested by running it: what stands in the way is taken
away, the search runs again, until the record is among the hits. Then every part of the change is
left out once, and only what is needed stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from memoriter.core.errors import MemoriterError
from memoriter.core.query import Query
from memoriter.core.shown import named, plain, shown
from memoriter.pipeline.recipe import Recipe
from memoriter.why.case import Case, Finished
from memoriter.why.change import Change, ChangedQuery, merged, smaller
from memoriter.why.obstacle import Obstacle, obstacle_of

_ROUNDS: Final = 24
"""So many things may stand in the way of one record."""


class Run(Protocol):
    """Runs a question, on the view of its receipt or on the present one."""

    def __call__(self, query: Query, recipe: Recipe, *, present: bool = False) -> Finished:
        """The finished search."""
        ...


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What kept a record out of an answer, and what lets it in."""

    id: str
    stage: str
    """Where it was lost: view, scope, what hides it, as_of, where, lanes, score, an ordering,
    min_score, limit; `hit` where it was not."""
    reason: str
    change: Change | None = None
    """What to ask instead, in the words of `recall`; None where nothing helps."""
    admits: bool = False
    """Whether the change was run and the record was among the hits; also for a hit."""
    rank_then: int | None = None
    """Where it then stood."""
    lanes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each lane has to say, where none found it."""

    def __repr__(self) -> str:
        told = f"{plain(self.stage, 16)}, {plain(self.reason, 50)}"
        return shown(f"WhyNot {named(self.id)}", told)

    def changed(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """What to ask instead of what was asked; who asks (`scope`) is left to the caller."""
        told = merged(ask, self.change or {})
        told.pop("scope", None)
        return told

    def to_dict(self) -> dict[str, object]:
        """The reasons as plain data."""
        return {
            "id": self.id,
            "stage": self.stage,
            "reason": self.reason,
            "change": None if self.change is None else dict(self.change),
            "admits": self.admits,
            "rank_then": self.rank_then,
            **({"lanes": dict(self.lanes)} if self.lanes else {}),
        }


def why_not(run: Run, case: Case, id: str) -> WhyNot:
    """The first thing in the way of a record, and the smallest change that lets it in."""
    search = _Search(run, ChangedQuery(case.query, case.recipe), id)
    first = search.way({})
    if isinstance(first, int):
        return WhyNot(id, "hit", f"it is there, at rank {first}", {}, admits=True, rank_then=first)
    if first is None:
        return WhyNot(id, "run", "the search cannot be run again")
    change, rank = search.opened(first)
    told = WhyNot(id, first.stage, first.reason, lanes=first.lanes)
    if rank is None:
        return told
    change, rank = search.least(change, rank)
    return WhyNot(id, told.stage, told.reason, change, True, rank, told.lanes)  # noqa: FBT003  # admitted


class _Search:
    """Changes of one question, each run."""

    def __init__(self, run: Run, asking: ChangedQuery, id: str) -> None:
        self._run = run
        self._asking = asking
        self._id = id

    def way(self, change: Change) -> Obstacle | int | None:
        """What stands in the way under a change, or the rank; None where it cannot be asked."""
        try:
            asking = self._asking.changed(change)
            done = self._run(asking.query, asking.recipe, present=asking.present)
        except MemoriterError:
            return None
        for hit in done.result:
            if hit.id == self._id:
                return hit.rank
        return obstacle_of(done, self._id)

    def opened(self, first: Obstacle) -> tuple[Change, int | None]:
        """The change that lets the record in, and where it then stands; no rank: none does."""
        change: Change = {}
        now: Obstacle | int | None = first
        for _ in range(_ROUNDS):
            if not isinstance(now, Obstacle):
                break
            change, now = self._past(change, now)
        return change, now if isinstance(now, int) else None

    def _past(self, change: Change, now: Obstacle) -> tuple[Change, Obstacle | int | None]:
        """The first option that leads past an obstacle, and what comes then."""
        for option in now.options:
            wider = merged(change, option)
            after = self.way(wider)
            if after is not None and after != now and getattr(after, "stage", "") != now.stage:
                return wider, after
        return change, None

    def least(self, change: Change, rank: int) -> tuple[Change, int]:
        """The change without parts that are not needed."""
        for less in smaller(change):
            found = self.way(less)
            if isinstance(found, int):
                return self.least(less, found)
        return change, rank
