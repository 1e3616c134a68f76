"""Imports engrava's database, snapshot or export: thoughts with one vector each, and edges.

`rows` reads the three kinds of files; this module maps their rows to records and edges.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, Final

from memoriter.core.record import ESSENCE_CHARS
from memoriter.imports.fields import FieldMap, edge_kind, parse_time, record_id
from memoriter.imports.port import Extracted, Format, ImportedEdge, Lost
from memoriter.imports.source import JSON, BadRow, FileKind, InputFile, is_object
from memoriter.systems.engrava.rows import read_tables, recognise, row_count

NAME: Final = "engrava"
_TAKEN: Final = (
    "thought_id", "thought_type", "essence", "content", "priority", "updated_cycle", "source",
    "confidence", "created_at", "expires_at", "valid_from", "valid_until", "metadata_json",
    "provenance", "pinned", "model_name", "vector_blob", "content_hash", "embedding_ref",
    "revision",
)  # fmt: skip
_DEFAULTS: Final = {
    "lifecycle_status": "ACTIVE", "source_type": "EXPERIENCE", "visibility": "selective",
    "confirmation_count": 0, "access_count": 0, "created_cycle": 0,
}  # fmt: skip
"""Values that are the default there: not worth keeping in the metadata."""
_EDGE_DEFAULTS: Final = {"decay_multiplier": 1.0, "created_cycle": 0}
_ASSOCIATED: Final = "ASSOCIATED"
_DREAMING: Final = "DREAMING"
"""The source of the edges that its consolidation makes and goes by."""
_FILES: Final[frozenset[FileKind]] = frozenset({"sqlite", *JSON})
_ASIDE: Final = "engrava's own history"


def read(source: InputFile) -> Iterator[Extracted]:
    """Thoughts in the order of creation, then edges."""
    for item in read_tables(source):
        if isinstance(item, BadRow | Lost):
            yield item
        elif item.table == "thought":
            yield from _record(item.data)
        elif item.table == "edge":
            yield from _edge(item.data)
        else:
            yield Lost(f"table {item.table}", _ASIDE, times=item.times)


def _record(row: dict[str, Any]) -> Iterator[Extracted]:
    where = f"thought {row['thought_id']}"
    record = FieldMap(NAME, where, row["thought_id"])
    text, essence = row.get("content"), row.get("essence")
    record.put("text", text, "content")
    if "text" not in record.fields or not isinstance(text, str):
        yield BadRow(where, "content: is missing, empty or no text")
        return
    # An essence that only repeats the start of the text is no summary.
    record.put("summary", essence if essence != text[:ESSENCE_CHARS] else None, "essence")
    record.put("kind", str(row["thought_type"]).lower(), "thought_type")
    record.put("priority", row.get("priority"))
    record.put("cycle", row.get("updated_cycle"), "updated_cycle")
    record.put("archived", _is_archived(row) or None)
    record.put("pinned", bool(row.get("pinned")) or None)
    record.put_fraction("confidence", row.get("confidence"))
    record.put("source", {"who": str(row["source"])} if row.get("source") else None)
    record.put_time("created", row.get("created_at"), "created_at")
    record.put_time("expires", row.get("expires_at"), "expires_at")
    record.put_time("valid_from", row.get("valid_from"))
    record.put_time("valid_until", row.get("valid_until"))
    _provenance(record, _object(row.get("provenance")))
    record.metadata = _object(row.get("metadata_json"))
    _vector(record, row)
    defaults = [name for name, value in _DEFAULTS.items() if row.get(name) == value]
    record.keep_rest(row, *_TAKEN, *defaults)
    yield from record.finish(f"id {row['thought_id']}")


def _is_archived(row: dict[str, Any]) -> bool:
    """Whether engrava's searches skip it: archived, or a reflection that is not active."""
    status = row.get("lifecycle_status")
    retired = row["thought_type"] == "REFLECTION" and status not in (None, "ACTIVE")
    return retired or status == "ARCHIVED"


def _provenance(record: FieldMap, fields: dict[str, Any]) -> None:
    record.put("session", fields.pop("session_id", None), "provenance.session_id")
    record.put("agent", fields.pop("actor_id", None), "provenance.actor_id")
    record.keep("provenance", {key: value for key, value in fields.items() if value is not None})


def _vector(record: FieldMap, row: dict[str, Any]) -> None:
    blob = row.get("vector_blob")
    if not isinstance(blob, bytes):
        return
    numbers = struct.unpack(f"<{len(blob) // 4}f", blob) if len(blob) % 4 == 0 else ()
    if not any(numbers):
        record.drop("vector", f"{len(blob)} bytes of {row.get('model_name')}")
        return
    record.fields["vector"] = list(numbers)
    record.origin["model"] = str(row.get("model_name"))


def _edge(row: dict[str, Any]) -> Iterator[Extracted]:
    origin = {"format": NAME, "id": row["edge_id"], "source": row.get("source")}
    for called, defaults in _EDGE_DEFAULTS.items():
        if row.get(called) not in (None, defaults):
            origin[called] = row[called]
            yield Lost(f"edge: {called}", row[called], kept=True)
    values: dict[str, Any] = {"weight": row.get("weight")}
    for called in ("valid_from", "valid_until"):
        values[called] = parse_time(row[called]) if row.get(called) else None
        if row.get(called) and values[called] is None:
            yield Lost(f"edge: {called}", row[called])
    values["metadata"] = {**_object(row.get("metadata_json")), "origin": origin}
    kind = edge_kind(str(row["edge_type"]))
    if row["edge_type"] == _ASSOCIATED and row.get("source") != _DREAMING:
        kind = "related_to"
    ends = record_id(str(row["from_thought_id"])), record_id(str(row["to_thought_id"]))
    fields = {key: value for key, value in values.items() if value is not None}
    yield ImportedEdge(f"edge {row['edge_id']}", *ends, kind, fields)


def _object(text: object) -> dict[str, Any]:
    """The JSON object in a column; an empty one if there is none."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    return value if is_object(value) else {}


FORMAT: Final = Format(
    NAME, "an engrava database, snapshot or export", _FILES, recognise, read,
    row_count, strict=True,
)  # fmt: skip
