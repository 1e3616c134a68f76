"""What the calls of mem0 give and take, from and to ours: ids, filters, messages, memories."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, cast

from memoriter.core.record import Record
from memoriter.core.times import iso
from memoriter.imports.fields import parse_time
from memoriter.integrations.answers import checked_filter, every_record
from memoriter.memory.facade import Memory
from memoriter.memory.options import Show
from memoriter.text.messages import FOREIGN_ROLES, Message, parse_message
from memoriter.text.recalled import without_blocks
from memoriter.text.secrets import secret_kinds
from memoriter.why.hit import Hit

OWN: Final = "mem0"
"""The field of the metadata that holds what only mem0 has."""
_UNNAMED: Final = "default"
"""The agent of records that were added without one; who was added by this name is marked."""
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
    given = {name: str(ids[name]).strip() for name in _SCOPE if ids.get(name) is not None}
    if not given:
        raise ValueError("At least one of user_id, agent_id, run_id is required.")
    for name, id in given.items():
        if not id:
            raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only.")
    return {_SCOPE[name]: id for name, id in given.items()}


def refuse_secret_ids(scope: Mapping[str, str]) -> None:
    """Raise ValueError if an id that every message would get is a secret; it is not repeated."""
    for name, field in _SCOPE.items():
        if kinds := secret_kinds(scope.get(field, "")):
            raise ValueError(f"{name}: holds a secret ({', '.join(kinds)}); no message was stored")


def filtered_scope(filters: object, options: Mapping[str, Any]) -> dict[str, str]:
    """The scope of a question: ids that are texts narrow it, `*` and operators are conditions.

    So is the agent `default`, which is also that of records without an agent.
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
    return scope_of(plain) if set(_SCOPE) & set(plain) else {}


def has_conditions(filters: Mapping[str, Any] | None) -> bool:
    """Whether filters ask for more than one user, agent or run."""
    return any(_is_condition(name, want) for name, want in (filters or {}).items())


def _is_condition(name: str, want: object) -> bool:
    return name not in _SCOPE or want == "*" or isinstance(want, dict) or is_unnamed(name, want)


def is_unnamed(name: str, id: object) -> bool:
    """Whether an id is the agent that records without an agent have too."""
    return name == "agent_id" and id is not None and str(id).strip() == _UNNAMED


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


def own_fields(record: Record) -> dict[str, Any]:
    """What `add` keeps beside the text: role, actor and the caller's metadata; else nothing."""
    return cast("dict[str, Any]", record.metadata[OWN]) if is_own(record) else {}


def is_own(record: Record) -> bool:
    """Whether `add` wrote a record."""
    return isinstance(record.metadata.get(OWN), dict)


def caller_metadata(record: Record) -> dict[str, Any]:
    """The metadata that the caller of `add` gave; all of it if `add` did not write the record."""
    return own_fields(record).get("metadata", {}) if is_own(record) else dict(record.metadata)


def turns_of(messages: object) -> dict[int, Message]:
    """The messages that have text beside recalled memories, by their places among the messages.

    Those of the system are no memories.
    """
    if isinstance(messages, str):
        messages = {"role": "user", "content": messages}
    if isinstance(messages, dict):
        messages = [cast("object", messages)]
    if not isinstance(messages, list):
        raise ValueError("messages must be str, dict, or list[dict]")  # noqa: TRY004  # as mem0
    rows = cast("list[object]", messages)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("messages must be str, dict, or list[dict]")
    turns = [parse_message(row) for row in cast("list[dict[str, Any]]", rows)]
    news = [turn._replace(text=without_blocks(turn.text).strip()) for turn in turns]
    return {at: turn for at, turn in enumerate(news) if turn.text and turn.role != "system"}


def with_metadata(record: Record, metadata: dict[str, Any]) -> dict[str, Any]:
    """Our metadata of a memory whose own gained something; nothing else in it is lost."""
    gained = {**caller_metadata(record), **without_ids(metadata)}
    if not is_own(record):
        return gained
    return {**record.metadata, OWN: {**own_fields(record), "metadata": gained}}


def without_ids(metadata: object) -> dict[str, Any]:
    """The metadata of a caller; ids in it have no effect, since the arguments say whose it is."""
    if not isinstance(metadata, dict | None):
        raise ValueError("metadata must be a dict")  # noqa: TRY004  # as mem0
    given = cast("dict[str, Any]", metadata or {})
    return {name: value for name, value in given.items() if name not in (*_SCOPE, "actor_id")}


def check_search(query: object, top_k: object, threshold: object) -> None:
    """Raise ValueError for a question that mem0 refuses."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError("Invalid query: must be a non-empty string.")
    check_count(top_k)
    if not isinstance(threshold, int | float | None) or not 0 <= (threshold or 0) <= 1:
        raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")


def check_count(top_k: object) -> None:
    """Raise ValueError for a number of memories that mem0 refuses."""
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def end_of_day(day: object) -> datetime | None:
    """The end of the last day on which a memory counts; None if it does not expire.

    >>> end_of_day("2026-03-31").isoformat()
    '2026-03-31T23:59:59.999999+00:00'
    """
    if day is None:
        return None
    try:
        given = date.fromisoformat(day) if isinstance(day, str) else day
    except ValueError:
        given = None
    if not isinstance(given, date):
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.")  # noqa: TRY004  # as mem0
    last = given.date() if isinstance(given, datetime) else given
    return datetime.combine(last, datetime.max.time(), UTC)


def unix_seconds(time: Any) -> Any:
    """A time as ours take it; numbers are seconds since 1970 for mem0, microseconds for us."""
    if isinstance(time, int | float) and not isinstance(time, bool):
        return parse_time(time) or time
    return time


def marks(metadata: object, agent_id: object) -> dict[str, Any]:
    """What `add` keeps of every record: the caller's metadata, and an agent named `default`."""
    marked = {"agent": _UNNAMED} if is_unnamed("agent_id", agent_id) else {}
    return {"metadata": without_ids(metadata), **marked}


def fact_draft(fact: dict[str, Any], marked: dict[str, Any], options: dict[str, Any]) -> Any:
    """The draft of a fact in messages that `add` wrote, with their marks and expiration."""
    expires = end_of_day(options.get("expiration_date"))
    dated = {} if expires is None else {"expires": expires}
    return {**fact, "metadata": {**fact["metadata"], OWN: marked}, **dated}


def turn_draft(turn: Message, marked: dict[str, Any], options: dict[str, Any]) -> Any:
    """The draft of a message, with the times among the options of `add`."""
    own = {"role": turn.role, "actor": turn.speaker, **marked}
    created = unix_seconds(options.get("timestamp"))
    times = {"created": created, "expires": end_of_day(options.get("expiration_date"))}
    dated = {name: time for name, time in times.items() if time is not None}
    foreign = {"trust": "external"} if turn.role in FOREIGN_ROLES else {}
    turn_fields = {"text": turn.text, "role": turn.role or "user", "metadata": {OWN: own}}
    return {**turn_fields, **foreign, **dated}


def mem0_item(record: Record) -> dict[str, Any]:
    """A memory in mem0's fields."""
    own = own_fields(record)
    optional = {
        "user_id": record.user,
        "agent_id": own.get("agent") if record.agent == _UNNAMED else record.agent,
        "run_id": record.session,
        "actor_id": own.get("actor"),
        "role": own.get("role"),
        "expiration_date": record.expires and iso(record.expires)[:10],
        "metadata": caller_metadata(record),
    }
    return {
        "id": record.id,
        "memory": record.text,
        "hash": hashlib.md5(record.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": iso(record.created),
        "updated_at": iso(record.committed),
        **{name: value for name, value in optional.items() if value},
    }


def hit_item(hit: Hit, *, explain: bool) -> dict[str, Any]:
    """A memory that a search found, with its relevance and, if wanted, the whole arithmetic."""
    score = hit.score if hit.relevance is None else hit.relevance
    details = {"score_details": hit.to_dict()["explanation"]} if explain else {}
    return {**mem0_item(hit.record), "score": score, **details}


def event_of(record: Record) -> dict[str, Any]:
    """A memory that was added."""
    item = mem0_item(record)
    kept = {name: item[name] for name in ("actor_id", "role") if name in item}
    return {"id": record.id, "memory": record.text, "event": "ADD", **kept}


def history_of(versions: Sequence[Record]) -> list[dict[str, Any]]:
    """The versions of a memory, oldest first."""
    return [
        {
            "id": f"{record.id}:{record.row}",
            "memory_id": record.id,
            "old_memory": versions[at - 1].text if at else None,
            "new_memory": record.text,
            "event": "UPDATE" if at else "ADD",
            "created_at": iso(versions[0].created),
            "updated_at": iso(record.committed) if at else None,
            "is_deleted": False,
            "actor_id": own_fields(record).get("actor"),
            "role": own_fields(record).get("role"),
        }
        for at, record in enumerate(versions)
    ]
