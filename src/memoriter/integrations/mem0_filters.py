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


def scope_of(ids: Mapping[str, Any]) -> dict[str, str]:
    """The scope that mem0's ids name; raises ValueError if they name none."""
    scope = {ours: str(ids[name]).strip() for name, ours in _SCOPE.items() if ids.get(name)}
    if not scope:
        raise ValueError("At least one of user_id, agent_id, run_id is required.")
    return scope


def filtered_scope(filters: object, options: Mapping[str, Any]) -> dict[str, str]:
    """The scope of a question: ids that are texts narrow it, `*` and operators are conditions.

    Raises ValueError if filters name no id, or if one stands elsewhere.
    """
    for name in _SCOPE:
        if name in options:  # mem0 raises a ValueError for every wrong filter
            raise ValueError(f"pass filters={{'{name}': …}} instead of {name}=…")
    checked = checked_filter(filters)
    scope_of(checked)
    for name in set(_SCOPE) & set(checked):
        if isinstance(checked[name], list | tuple | set):
            raise ValueError(f"filters: {name}: expected a text, '*', or {{'in': […]}}")  # noqa: TRY004  # as above
    plain = {name: each for name, each in checked.items() if not _is_condition(name, each)}
    return scope_of(plain) if any(plain.values()) else {}


def has_conditions(filters: Mapping[str, Any] | None) -> bool:
    """Whether filters ask for more than one user, agent or run."""
    return any(_is_condition(name, want) for name, want in (filters or {}).items())


def _is_condition(name: str, want: object) -> bool:
    return name not in _SCOPE or want == "*" or isinstance(want, dict)


def filtered_records(
    scope: Memory, filters: Mapping[str, Any] | None, expired: Show = "hide"
) -> list[Record]:
    """The memories of a scope that pass all conditions, oldest first."""
    conditions = {name: want for name, want in (filters or {}).items() if _is_condition(name, want)}
    every = every_record(scope, expired=expired)
    return [record for record in every if _passes_all(conditions, mem0_item(record))]


def _passes_all(filters: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    return all(_passes(name, want, item) for name, want in filters.items())


def _passes(name: str, want: Any, item: Mapping[str, Any]) -> bool:
    if name in ("AND", "OR", "NOT"):
        if not isinstance(want, list):
            raise ValueError(f"filters: {name}: expected a list")  # as mem0
        parts = [_passes_all(checked_filter(each), item) for each in cast("list[object]", want)]
        return all(parts) if name == "AND" else any(parts) if name == "OR" else not any(parts)
    own = {} if name in _SCOPE else cast("dict[str, Any]", item.get("metadata") or {})
    value: Any = own.get(name, item.get(name))
    if want == "*":
        return value is not None
    if not isinstance(want, dict):
        return value == (str(want).strip() if name in _SCOPE else want)
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
