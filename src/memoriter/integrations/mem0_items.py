"""Messages, memories and versions in the fields of mem0, from and to ours."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, cast

from memoriter.core.record import Record
from memoriter.core.times import iso
from memoriter.imports.fields import parse_time
from memoriter.text.messages import Message, parse_message
from memoriter.why.result import Hit

OWN: Final = "mem0"
"""The field of the metadata that holds what only mem0 has."""


def own_fields(record: Record) -> dict[str, Any]:
    """What `add` keeps beside the text: role, actor and the caller's metadata; else nothing."""
    return cast("dict[str, Any]", record.metadata[OWN]) if is_own(record) else {}


def is_own(record: Record) -> bool:
    """Whether `add` wrote a record."""
    return isinstance(record.metadata.get(OWN), dict)


def caller_metadata(record: Record) -> dict[str, Any]:
    """The metadata that the caller of `add` gave; all of it if `add` did not write the record."""
    return own_fields(record).get("metadata", {}) if is_own(record) else dict(record.metadata)


def turns_of(messages: object) -> list[Message]:
    """The messages that have text; those of the system are instructions, not memories."""
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
    return [turn for turn in turns if turn.text and turn.role != "system"]


def with_metadata(record: Record, metadata: dict[str, Any]) -> dict[str, Any]:
    """Our metadata of a memory whose own gained something; nothing else in it is lost."""
    gained = {**caller_metadata(record), **metadata}
    if not is_own(record):
        return gained
    return {**record.metadata, OWN: {**own_fields(record), "metadata": gained}}


def unix_seconds(time: Any) -> Any:
    """A time as ours take it; numbers are seconds since 1970 for mem0, microseconds for us."""
    if isinstance(time, int | float) and not isinstance(time, bool):
        return parse_time(time) or time
    return time


def fact_draft(fact: dict[str, Any], metadata: Any, options: dict[str, Any]) -> Any:
    """The draft of a fact in messages that `add` wrote, with their metadata and expiration."""
    own: dict[str, Any] = {OWN: {"metadata": metadata or {}}}
    dated = {"expires": options["expiration_date"]} if options.get("expiration_date") else {}
    return {**fact, "metadata": {**fact["metadata"], **own}, **dated}


def turn_draft(turn: Message, metadata: Any, options: dict[str, Any]) -> Any:
    """The draft of a message, with the times among the options of `add`."""
    if not isinstance(metadata, dict | None):
        raise ValueError("metadata must be a dict")  # noqa: TRY004  # as mem0
    kept = cast("dict[str, Any]", metadata or {})
    own = {"role": turn.role, "actor": turn.speaker, "metadata": kept}
    created = unix_seconds(options.get("timestamp"))
    times = {"created": created, "expires": options.get("expiration_date")}
    dated = {name: time for name, time in times.items() if time is not None}
    return {"text": turn.text, "role": turn.role or "user", "metadata": {OWN: own}, **dated}


def mem0_item(record: Record) -> dict[str, Any]:
    """A memory in mem0's fields."""
    own = own_fields(record)
    optional = {
        "user_id": record.user,
        "agent_id": None if record.agent == "default" else record.agent,
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
