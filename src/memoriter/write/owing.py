"""The debt of a turn whose facts are still to be read, as its record holds it.

`memory.facts_owed` finds such turns, `memory.facts` reads their facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from memoriter.core.record import Record

REPLIES: Final = 3
"""So many unusable replies are taken; then the turn owes nothing any more."""
TYPE: Final = "working"
"""The memory type of a turn that owes facts."""
_OWED: Final = "facts_owed"
"""The field of the metadata of a turn that says how many unusable replies it may still get."""


def owing(draft: dict[str, object]) -> dict[str, object]:
    """The draft of a turn, with the debt of its facts."""
    return {**draft, "memory_type": TYPE, "metadata": {_OWED: REPLIES}}


def replies_left(turn: Record) -> int:
    """How many unusable replies a turn may still get; 0 if it owes nothing."""
    left = turn.metadata.get(_OWED)
    if not isinstance(left, int) or turn.memory_type != TYPE:
        return 0
    return max(0, min(left, REPLIES))


def settled(turn: Record, replies: int) -> dict[str, Any]:
    """The changes of a turn that used up some of its replies; without any it owes nothing."""
    left = replies_left(turn) - replies
    others = {name: value for name, value in turn.metadata.items() if name != _OWED}
    if left > 0:
        return {"metadata": {**others, _OWED: left}}
    return {"memory_type": "episodic", "metadata": others}


def still_owing(turn: Record, changes: Mapping[str, object]) -> Mapping[str, object]:
    """The changes of a record by a caller: other metadata does not end its debt."""
    given = changes.get("metadata")
    owes = replies_left(turn) and changes.get("memory_type", TYPE) == TYPE
    if not owes or "metadata" not in changes or not isinstance(given, Mapping | None):
        return changes
    others = cast("Mapping[str, object]", given or {})
    return {**changes, "metadata": {**others, _OWED: turn.metadata[_OWED]}}
