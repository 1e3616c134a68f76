"""Imports entries that Comis exported, as one JSON value or one per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from memoriter.core.fields import MEMORY_TYPES, TRUST
from memoriter.imports import markdown
from memoriter.imports.fields import FieldMap
from memoriter.imports.frontmatter import string_list
from memoriter.imports.port import Extracted, Format, Lost
from memoriter.imports.source import (
    JSON,
    NOTES,
    BadRow,
    InputFile,
    Value,
    is_object,
    parse_json_line,
    read_rows,
    sample_objects,
)
from memoriter.imports.sqlite import table_columns

NAME: Final = "comis"
_LISTS: Final = ("entries", "memories", "results")
_MARKS: Final = frozenset({"memory_type", "trust_level"})
_TAKEN: Final = (
    "id", "content", "memory_type", "trust_level", "agent_id", "user_id", "tenant_id", "tags",
    "source", "source_who", "source_channel", "source_session_key", "created_at", "expires_at",
    "occurred_at", "confidence", "pinned", "entities",
)  # fmt: skip
_SOURCE: Final = ("who", "channel", "session_key")
_COUNTERS: Final = ("score", "has_embedding", "embedding")
"""Fields of a search answer or of their index, not of the memory."""


def recognise(source: InputFile) -> str | None:
    """Why this is an export of Comis: its rows are entries. None if it is not."""
    for row in map(_entry, sample_objects(source, *_LISTS)):
        if "content" in row and _MARKS & set(row):
            return "its rows have a content and a memoryType or trustLevel"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """The entries; a Markdown file or folder is read as notes."""
    if source.kind in ("text", "folder"):
        yield from markdown.read(source)
        return
    for item in read_rows(source, *_LISTS):
        if isinstance(item, BadRow):
            yield item
        elif is_object(item.value):
            yield from _record(Value(item.where, _entry(item.value)))
        else:
            yield BadRow(item.where, "expected an entry, an object")


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """An entry, plain or from a search answer, where it is below `record` next to a score."""
    inner = row.get("record")
    return _snake_case(inner if is_object(inner) else row)


def _snake_case(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its keys in snake case: Comis writes memoryType and memory_type."""
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): value for name, value in row.items()}


def _record(item: Value) -> Iterator[Extracted]:
    row = item.value
    record = FieldMap(NAME, item.where, row.get("id"))
    record.put("text", row.get("content"), "content")
    if "text" not in record.fields:
        yield BadRow(item.where, "content: is missing, empty or no text")
        return
    # A row of unknown trust is refused: a wrong guess could make a stranger's text trusted.
    if row.get("trust_level", "learned") not in TRUST:
        reason = f"trustLevel: {row['trust_level']!r} is not one of {', '.join(TRUST)}"
        yield BadRow(item.where, reason, "correct it: trust is never guessed")
        return
    if row.get("memory_type", "semantic") in MEMORY_TYPES:
        record.put("memory_type", row.get("memory_type"))
    else:
        record.drop("memoryType", row["memory_type"])
    record.put("trust", row.get("trust_level"))
    record.put("agent", row.get("agent_id"), "agentId")
    record.put("user", row.get("user_id"), "userId")
    record.put("tags", string_list(_tags(row.get("tags"))))
    record.put_words("entities", row.get("entities"))
    _source(record, row)
    record.put_time("created", row.get("created_at"), "createdAt")
    record.put_time("expires", row.get("expires_at"), "expiresAt")
    record.put_time("occurred", row.get("occurred_at"), "occurredAt")
    record.put_fraction("confidence", row.get("confidence"))
    record.put("pinned", row.get("pinned") in (True, 1) or None)
    record.put("archived", bool(row.get("evicted_at")) or None)
    record.keep_rest(row, *_TAKEN, *_COUNTERS)
    yield from (Lost(called, row[called]) for called in _COUNTERS if row.get(called))
    # Rows of other tenants are sorted out by the caller, which knows its own.
    record.tenant = str(row.get("tenant_id") or "default")
    parts = [row.get("content"), row.get("created_at"), row.get("agent_id")]
    yield from record.finish(f"id {row['id']}" if row.get("id") else json.dumps(parts))


def _source(record: FieldMap, row: dict[str, Any]) -> None:
    inner = row.get("source")
    origin = _snake_case(inner) if is_object(inner) else {}
    who = origin.get("who") or row.get("source_who")
    channel = origin.get("channel") or row.get("source_channel")
    parts = {"who": who, "channel": channel}
    record.put("source", {key: str(value) for key, value in parts.items() if value})
    record.put("session", origin.get("session_key") or row.get("source_session_key"), "sessionKey")
    rest = {key: value for key, value in origin.items() if key not in _SOURCE}
    record.keep("source", rest if is_object(inner) else inner)


def _tags(value: object) -> object:
    """Tags; in rows of its database they are a JSON list inside a string."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return parse_json_line(value)
        except ValueError:
            return value
    return value


def advise(source: InputFile) -> str | None:
    """What to do with a database of Comis, which cannot be imported."""
    if source.kind != "sqlite":
        return None
    if {"content", "trust_level"} <= table_columns(source.path).get("memories", set()):
        return "it is a store of Comis: import the answer of its memory.export"
    return None


FORMAT: Final = Format(
    NAME, "entries that Comis exported (JSON)", JSON | NOTES, recognise, read, advise=advise
)
