"""mem0: memories as its `get_all` answers them, or an export of its platform, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.fields import FieldMap
from memoriter.imports.port import Extracted, Format
from memoriter.imports.source import (
    JSON,
    BadRow,
    InputFile,
    is_object,
    rows_of_value,
    sample_objects,
)

NAME: Final = "mem0"
_LISTS: Final = ("results", "memories")
_SIGNS: Final = ("hash", "user_id", "agent_id", "run_id", "updated_at")
_TAKEN: Final = (
    "id", "memory", "user_id", "agent_id", "run_id", "metadata", "created_at", "categories", "hash",
    "score", "expiration_date",
)  # fmt: skip
_CONTENTS: Final = ("memory", "user_id", "agent_id", "run_id", "created_at")
"""What a memory without an id is known by."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


def recognise(source: InputFile) -> str | None:
    """Why these are memories of mem0: objects with `memory` and one of its ids. None if not."""
    for row in sample_objects(source, *_LISTS):
        if isinstance(row.get("memory"), str) and any(sign in row for sign in _SIGNS):
            return "its rows have `memory` and the fields of mem0"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """A record for each memory."""
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        for nth, row in enumerate(rows_of_value(item.value, *_LISTS)):
            where = item.where if row is item.value else f"{item.where}[{nth}]"
            if not is_object(row) or not isinstance(row.get("memory"), str):
                yield BadRow(where, "memory: is missing or no text")
            else:
                yield from _record(where, row)


def _record(where: str, row: dict[str, Any]) -> Iterator[Extracted]:
    record = FieldMap(NAME, where, row.get("id"))
    record.put("text", row["memory"], "memory")
    if "text" not in record.fields:
        yield BadRow(where, "memory: is empty")
        return
    record.put("user", row.get("user_id"), "user_id")
    record.put("agent", row.get("agent_id"), "agent_id")
    record.put("session", row.get("run_id"), "run_id")
    record.put_words("tags", row.get("categories"), "categories")
    record.put_time("created", row.get("created_at"), "created_at")
    record.put_time("expires", _end_of_day(row.get("expiration_date")), "expiration_date")
    if is_object(row.get("metadata")):
        record.metadata = dict(row["metadata"])
    record.keep_rest(row, *_TAKEN)
    contents = json.dumps([row.get(name) for name in _CONTENTS])
    yield from record.finish(contents if row.get("id") is None else str(row["id"]))


def _end_of_day(day: object) -> object:
    """The end of a day: mem0 hides a memory after its last day; anything but a day as it is."""
    is_day = isinstance(day, str) and _DAY.fullmatch(day) is not None
    return f"{day}T23:59:59.999999Z" if is_day else day


FORMAT: Final = Format(NAME, "memories of mem0 (JSON)", JSON, recognise, read)
