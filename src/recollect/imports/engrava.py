"""engrava: its SQLite database, read only. Thoughts, edges, and the vector of each thought."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from recollect.core.errors import Unsupported
from recollect.core.record import ESSENCE_CHARS
from recollect.imports.fields import Filling, kind_of, moment, usable
from recollect.imports.port import Found, Linked, Lost
from recollect.imports.shapes import is_object
from recollect.imports.source import Refused, Source
from recollect.imports.sqlite import counted, objects, reading, tables

NAME: Final = "engrava"
SCHEMA: Final = 21
"""The schema of engrava 0.7.2, the newest that is known."""
_NEEDED: Final = frozenset({"thought_id", "thought_type", "content"})
_TAKEN: Final = (
    "thought_id", "thought_type", "essence", "content", "priority", "updated_cycle", "source",
    "confidence", "created_at", "expires_at", "valid_from", "valid_until", "metadata_json",
    "provenance", "pinned", "model_name", "vector_blob", "content_hash", "embedding_ref",
    "revision",
)  # fmt: skip
_USUAL: Final = {
    "lifecycle_status": "ACTIVE", "source_type": "EXPERIENCE", "visibility": "selective",
    "confirmation_count": 0, "access_count": 0, "created_cycle": 0,
}  # fmt: skip
"""What says nothing, because it is so by default."""
_KINDS: Final = {"ASSOCIATED": "related_to"}
_VECTOR: Final = """
    LEFT JOIN embedding v ON v.embedding_id = (
        SELECT e.embedding_id FROM embedding e WHERE e.owner_id = t.thought_id
        ORDER BY e.model_name = coalesce(
            (SELECT value FROM _metadata WHERE key = 'embedding_model_name'), '') DESC,
            e.created_at DESC, e.embedding_id LIMIT 1)"""
_ASIDE: Final = ("action", "journal_entry")


def recognise(source: Source) -> str | None:
    """Whether it is a database with thoughts."""
    columns = tables(source.path).get("thought", set()) if source.kind == "sqlite" else set[str]()
    whole = columns.issuperset(_NEEDED)
    return "it is a SQLite database with a table of thoughts" if whole else None


def read(source: Source) -> Iterator[Found]:
    """Thoughts in the order they were made, then edges."""
    known = tables(source.path)
    with reading(source.path) as db:
        _must_know(source.path, db.pragma("user_version"))
        joined = {"embedding", "_metadata"} <= set(known)
        vector = ", v.model_name, v.vector_blob" if joined else ""
        order = _VECTOR if joined else ""
        sql = f"SELECT t.*{vector} FROM thought t {order} ORDER BY t.rowid"  # noqa: S608  # constants
        for row in objects(db, "thought", sql):
            yield from (row,) if isinstance(row, Refused) else _record(row)
        if "edge" in known:
            for row in objects(db, "edge", "SELECT * FROM edge ORDER BY rowid"):
                yield from (row,) if isinstance(row, Refused) else _edge(row)
        for table in _ASIDE:
            if table in known and (rows := counted(db, table)):
                yield Lost(f"table {table}", "a history of theirs", times=rows)


def count(source: Source) -> int:
    """How many thoughts there are."""
    with reading(source.path) as db:
        return counted(db, "thought")


def _must_know(path: Path, version: object) -> None:
    if isinstance(version, int) and version > SCHEMA:
        raise Unsupported(
            f"{path.name} has schema {version} of engrava, this version reads up to {SCHEMA}",
            hint="a newer Recollect may read it",
        )


def _record(row: dict[str, Any]) -> Iterator[Found]:
    where = f"thought {row['thought_id']}"
    filling = Filling(NAME, where, row["thought_id"])
    text, essence = row["content"], row.get("essence")
    filling.put("text", text, "content")
    if "text" not in filling.fields:
        yield Refused(where, "content: is missing, empty or no text")
        return
    filling.put("summary", essence if essence != text[:ESSENCE_CHARS] else None, "essence")
    filling.put("kind", str(row["thought_type"]).lower(), "thought_type")
    filling.put("priority", row.get("priority"))
    filling.put("cycle", row.get("updated_cycle"), "updated_cycle")
    filling.put("archived", row.get("lifecycle_status") == "ARCHIVED" or None)
    filling.put("pinned", bool(row.get("pinned")) or None)
    filling.share("confidence", row.get("confidence"))
    filling.put("source", {"who": str(row["source"])} if row.get("source") else None)
    filling.when("created", row.get("created_at"), "created_at")
    filling.when("expires", row.get("expires_at"), "expires_at")
    filling.when("valid_from", row.get("valid_from"))
    filling.when("valid_until", row.get("valid_until"))
    _provenance(filling, _object(row.get("provenance")))
    filling.metadata = _object(row.get("metadata_json"))
    _vector(filling, row)
    usual = [name for name, value in _USUAL.items() if row.get(name) == value]
    filling.rest(row, *_TAKEN, *usual)
    yield from filling.found(f"id {row['thought_id']}")


def _provenance(filling: Filling, told: dict[str, Any]) -> None:
    filling.put("session", told.pop("session_id", None), "provenance.session_id")
    filling.put("agent", told.pop("actor_id", None), "provenance.actor_id")
    filling.keep("provenance", {key: value for key, value in told.items() if value is not None})


def _vector(filling: Filling, row: dict[str, Any]) -> None:
    blob = row.get("vector_blob")
    if not isinstance(blob, bytes):
        return
    numbers = struct.unpack(f"<{len(blob) // 4}f", blob) if len(blob) % 4 == 0 else ()
    if not any(numbers):
        filling.drop("vector", f"{len(blob)} bytes of {row.get('model_name')}")
        return
    filling.fields["vector"] = list(numbers)
    filling.origin["model"] = str(row.get("model_name"))


def _edge(row: dict[str, Any]) -> Iterator[Found]:
    told = {"format": NAME, "id": row["edge_id"], "source": row.get("source")}
    if row.get("decay_multiplier") not in (None, 1.0):
        told["decay_multiplier"] = row["decay_multiplier"]
        yield Lost("decay_multiplier", row["decay_multiplier"], kept=True)
    given = {
        "weight": row.get("weight"),
        "valid_from": moment(row["valid_from"]) if row.get("valid_from") else None,
        "valid_until": moment(row["valid_until"]) if row.get("valid_until") else None,
        "metadata": {**_object(row.get("metadata_json")), "origin": told},
    }
    kind = _KINDS.get(row["edge_type"]) or kind_of(str(row["edge_type"]))
    ends = usable(str(row["from_thought_id"])), usable(str(row["to_thought_id"]))
    fields = {key: value for key, value in given.items() if value is not None}
    yield Linked(f"edge {row['edge_id']}", *ends, kind, fields)


def _object(text: object) -> dict[str, Any]:
    """The JSON object that a column holds; an empty one where it holds none."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    return found if is_object(found) else {}
