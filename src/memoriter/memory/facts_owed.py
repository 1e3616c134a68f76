"""Turns whose facts are still to be read: a debt that a later call works off.

A turn that facts are wanted of is written with its debt (`write.owing`), as memory of type
`working`: a column of the index, so that debts are found without reading other records.
`memory.facts` reads the facts.
"""

from __future__ import annotations

from typing import Final

from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.where import parse_where
from memoriter.index.selection import Criteria, select
from memoriter.memory.engine import Engine
from memoriter.write.ceiling import FREE, exceeds
from memoriter.write.owing import TYPE, replies_left

COUNTED: Final = 1_000
"""So many debts are counted at most: the newest."""
_TURNS: Final = parse_where({"kind": "message", "memory_type": TYPE})
"""Turns of which facts may be wanted."""


def owed_turns(
    engine: Engine, scope: Scope, limit: int = COUNTED, ceiling: str = FREE
) -> list[Record]:
    """The turns in scope whose facts are still to be read, newest first.

    Turns that are trusted more than the ceiling are left out, as are those that are archived,
    expired or superseded.
    """
    view, fetch = engine.view(scope.tenant, None), engine.fetch(scope.tenant)
    shown = Criteria(
        scope,
        _TURNS,
        engine.clock.now(),
        archived="hide",
        expired="hide",
        superseded="hide",
    )
    rows = select(view, shown, fetch).rows(view)[::-1].tolist()
    owed: list[Record] = []
    for at in range(0, len(rows), limit):  # others may call messages of theirs `working`
        records = (each for each in fetch(rows[at : at + limit]) if each is not None)
        owed += [
            each for each in records if replies_left(each) and not exceeds(each.trust, ceiling)
        ]
        if len(owed) >= limit:
            break
    return owed[:limit]
