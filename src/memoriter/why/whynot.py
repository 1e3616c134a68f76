"""Why a search did not return a record, and the smallest change of the call that returns it.

The change grows step by step: the first obstacle is removed and the search runs again, until the
record is among the hits. Then every part of the change is left out once, and the parts that turn
out to be unnecessary are dropped. `memory.receipts` calls `why_not`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Protocol

from memoriter.core.errors import MemoriterError, TooCostly
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.query import Query
from memoriter.core.shown import named, plain, shown
from memoriter.core.work_limit import WorkLimit
from memoriter.pipeline.recipe import Recipe
from memoriter.why.case import Case, Finished
from memoriter.why.change import Change, ChangedQuery, merged, smaller
from memoriter.why.obstacle import Obstacle, obstacle_of

SEARCHES: Final = 100
"""How many times the search is run at most, with one change after another."""
_ROUNDS: Final = 24
"""How many obstacles are removed one after the other before giving up."""


class Run(Protocol):
    """Runs a query, on the view of its receipt or on the present one."""

    def __call__(self, query: Query, recipe: Recipe, *, present: bool = False) -> Finished:
        """The finished search; raises MemoriterError if the query cannot be run."""
        ...


@dataclass(frozen=True, slots=True)
class WhyNot(Hinting):
    """What kept a record out of an answer, and what change returns it."""

    id: str
    stage: str
    """The first stage that left it out: view, scope, trust, reflections, archived, expired,
    superseded, as_of, where, lanes, score, an ordering, min_score, limit or budget; `hit` if it is
    among the hits."""
    reason: str
    change: Change | None = None
    """Options of `recall` with new values; None if no change helps."""
    admits: bool = False
    """Whether the record is among the hits after the change; True for a hit."""
    rank_then: int | None = None
    """Its rank after the change."""
    lanes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Lane → why it did not find the record; empty unless the stage is lanes or score."""

    def __repr__(self) -> str:
        detail = f"{plain(self.stage, 16)}, {plain(self.reason, 50)}"
        return shown(f"WhyNot {named(self.id)}", detail)

    def changed(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a call with the change applied.

        If the agent, user or session was set by `Memory.scoped`, call the memory without it.
        """
        return merged(ask, self.change or {})

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
    """Find the first obstacle of a record and the smallest change that returns the record.

    Raises TooCostly if that takes too many searches, or their filters too much work.
    """
    asked = ChangedQuery(case.query, case.recipe)
    trial = _Trial(run, asked, id)
    first = trial.outcome({})
    if isinstance(first, int):
        return WhyNot(id, "hit", f"it is a hit, at rank {first}", {}, admits=True, rank_then=first)
    if first is None:
        return WhyNot(id, "run", "the search cannot be run again")
    change, rank = trial.grow(first)
    if rank is None:
        return WhyNot(id, first.stage, first.reason, lanes=first.lanes)
    change, rank = trial.shrink(change, rank)
    options = asked.as_options(change)
    return WhyNot(
        id, first.stage, first.reason, options, admits=True, rank_then=rank, lanes=first.lanes
    )


class _Trial:
    """Runs one query with changes, to see whether a record is returned."""

    def __init__(self, run: Run, original: ChangedQuery, id: str) -> None:
        self._run = run
        self._original = original
        self._id = id
        self._searches = WorkLimit(SEARCHES, "why_not", "ask about a simpler search")

    def outcome(self, change: Change) -> Obstacle | int | None:
        """The record's rank after a change, or its obstacle; None if the query cannot be run."""
        self._searches.spend(1)
        try:
            changed = self._original.changed(change)
            done = self._run(changed.query, changed.recipe, present=changed.present)
        except TooCostly:
            raise
        except MemoriterError:  # an option may be refused, for example a limit that is too large
            return None
        for hit in done.result:
            if hit.id == self._id:
                return hit.rank
        return obstacle_of(done, self._id)

    def grow(self, first: Obstacle) -> tuple[Change, int | None]:
        """(a change that returns the record, its rank then); the rank is None if none was found."""
        change: Change = {}
        now: Obstacle | int | None = first
        for _ in range(_ROUNDS):
            if not isinstance(now, Obstacle):
                break
            change, now = self._past(change, now)
        return change, now if isinstance(now, int) else None

    def _past(self, change: Change, now: Obstacle) -> tuple[Change, Obstacle | int | None]:
        """The change with the first option that removes an obstacle, and the outcome then."""
        for option in now.options:
            wider = merged(change, option)
            after = self.outcome(wider)
            # Another obstacle of the same stage is no progress; accepting it could loop.
            if after is not None and after != now and getattr(after, "stage", "") != now.stage:
                return wider, after
        return change, None

    def shrink(self, change: Change, rank: int) -> tuple[Change, int]:
        """The change without the parts that are not needed, and the rank with it."""
        for less in smaller(change):
            outcome = self.outcome(less)
            if isinstance(outcome, int):
                return self.shrink(less, outcome)
        return change, rank
