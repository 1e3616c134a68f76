"""Turns whose facts are still to be read: a debt that a later call works off.

A turn that facts are wanted of is written with its debt, as memory of type `working`: a column of
the index, so that debts are found without reading other records. `memory.facts` reads the facts.
"""

from __future__ import annotations

from typing import Any, Final

from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.where import parse_where
from memoriter.index.selection import Criteria, select
from memoriter.memory.engine import Engine

COUNTED: Final = 1_000
"""So many debts are counted at most: the newest."""
REPLIES: Final = 3
"""So many unusable replies are taken; then the turn owes nothing any more."""
_OWED: Final = "facts_owed"
"""The field of the metadata of a turn that says how many unusable replies it may still get."""


def owing(draft: dict[str, object]) -> dict[str, object]:
    """The draft of a turn, with the debt of its facts."""
    return {**draft, "memory_type": "working", "metadata": {_OWED: REPLIES}}


def owed_turns(engine: Engine, scope: Scope, limit: int = COUNTED) -> list[Record]:
    """The turns in scope whose facts are still to be read, newest first."""
    view, fetch = engine.view(scope.tenant, None), engine.fetch(scope.tenant)
    where = parse_where({"kind": "message", "memory_type": "working"})
    rows = select(view, Criteria(scope, where, engine.clock.now()), fetch).rows(view)
    records = fetch(rows[::-1][:limit].tolist())
    return [record for record in records if record is not None and _replies(record) > 0]


def settled(turn: Record, replies: int) -> dict[str, Any]:
    """The changes of a turn that used up some of its replies; without any it owes nothing."""
    left = _replies(turn) - replies
    others = {name: value for name, value in turn.metadata.items() if name != _OWED}
    if left > 0:
        return {"metadata": {**others, _OWED: left}}
    return {"memory_type": "episodic", "metadata": others}


def _replies(turn: Record) -> int:
    left = turn.metadata.get(_OWED)
    return min(left, REPLIES) if isinstance(left, int) else 0
