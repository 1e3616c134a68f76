"""The filters of mem0: whose memories, and conditions on their metadata."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from memoriter.core.record import Record
from memoriter.integrations.answers import checked_filter, every_record
from memoriter.integrations.mem0_items import mem0_item
from memoriter.memory.facade import Memory
from memoriter.memory.options import Show

_SCOPE: Final = {"user_id": "user", "agent_id": "agent", "run_id": "session"}
_TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda value, want: operator.contains(want, value),
    "nin": lambda value, want: not operator.contains(want, value),
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "contains": lambda value, want: str(want) in str(value or ""),
    "icontains": lambda value, want: str(want).lower() in str(value or "").lower(),
}


def scope_of(ids: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
    """The scope that mem0's ids name; raises ValueError if they name none, or stand elsewhere."""
    for name in _SCOPE:
        if name in options:
            raise ValueError(f"pass filters={{'{name}': …}} instead of {name}=…")
    ids = checked_filter(ids)
    scope = {ours: str(ids[name]).strip() for name, ours in _SCOPE.items() if ids.get(name)}
    if not scope:
        raise ValueError("At least one of user_id, agent_id, run_id is required.")
    return scope


def has_conditions(filters: Mapping[str, Any] | None) -> bool:
    """Whether filters ask for more than a user, an agent or a run."""
    return bool(set(filters or ()) - set(_SCOPE))


def filtered_records(
    scope: Memory, filters: Mapping[str, Any] | None, expired: Show = "hide"
) -> list[Record]:
    """The memories of a scope that pass all conditions, oldest first."""
    every = every_record(scope, expired=expired)
    return [record for record in every if _passes_all(filters or {}, mem0_item(record))]


def _passes_all(filters: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    return all(_passes(name, want, item) for name, want in filters.items() if name not in _SCOPE)


def _passes(name: str, want: Any, item: Mapping[str, Any]) -> bool:
    if name in ("AND", "OR", "NOT"):
        if not isinstance(want, list):
            raise ValueError(f"filters: {name}: expected a list")  # as mem0
        parts = [_passes_all(checked_filter(each), item) for each in cast("list[object]", want)]
        return all(parts) if name == "AND" else any(parts) if name == "OR" else not any(parts)
    own = cast("dict[str, Any]", item.get("metadata") or {})
    value: Any = own.get(name, item.get(name))
    if want == "*":
        return value is not None
    if not isinstance(want, dict):
        return value == want
    conditions = cast("dict[str, Any]", want)
    if unknown := set(conditions) - set(_TESTS):
        known = ", ".join(_TESTS)
        raise ValueError(f"filters: no operator {min(unknown)!r} for {name}; known: {known}")
    return all(_holds(test, value, wanted) for test, wanted in conditions.items())


def _holds(test: str, value: Any, want: Any) -> bool:
    """Whether a test passes; what cannot be compared does not."""
    try:
        return _TESTS[test](value, want)
    except TypeError:
        return False
