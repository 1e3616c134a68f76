"""Reads the rows of an engrava database, snapshot (JSON lines) or export (one JSON value).

A snapshot lists vectors after thoughts, so it is read twice and the vectors are held in memory.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from memoriter.core.errors import Unsupported
from memoriter.imports.port import Lost, rows_by_line
from memoriter.imports.source import (
    BadRow,
    InputFile,
    is_list,
    is_object,
    list_or_empty,
    object_or_empty,
)
from memoriter.imports.sqlite import count_rows, open_readonly, query_rows, table_columns

SCHEMA: Final = 21
"""The schema of engrava 0.7.2, the newest one that we read."""
_EXPORT: Final = "engrava-export"
_NEEDED: Final = {
    "thought": ("thought_id", "thought_type", "content"),
    "edge": ("edge_id", "from_thought_id", "to_thought_id", "edge_type"),
}
_ASIDE: Final = ("action", "journal_entry")
_FURTHER: Final = "further vectors of a thought"
# Of several vectors of a thought: the serving model's first, then the newest.
_VECTOR: Final = """
    LEFT JOIN embedding v ON v.embedding_id = (
        SELECT e.embedding_id FROM embedding e WHERE e.owner_id = t.thought_id
        ORDER BY e.model_name = coalesce(
            (SELECT value FROM _metadata WHERE key = 'embedding_model_name'), '') DESC,
            e.created_at DESC, e.embedding_id LIMIT 1)"""


class TableRow(NamedTuple):
    """A row of a table, or `times` rows of a table that is only counted."""

    table: str
    data: dict[str, Any]
    times: int = 1


Row = TableRow | BadRow | Lost


def recognise(source: InputFile) -> str | None:
    """Why this is a database, a snapshot or an export of engrava; None if it is not."""
    if source.kind == "sqlite":
        whole = table_columns(source.path).get("thought", set()).issuperset(_NEEDED["thought"])
        return "it is a SQLite database with a table of thoughts" if whole else None
    values = [value for value in source.sample if is_object(value)]
    if any(value.get("format") == _EXPORT and is_list(value.get("thoughts")) for value in values):
        return f"its format is {_EXPORT}"
    if any(_table(value) == "thought" and "data" in value for value in values):
        return "its lines are rows of tables, some of thoughts"
    return None


def read_tables(source: InputFile) -> Iterator[Row]:
    """Every row, thoughts first; a thought has its vector as a column."""
    if source.kind == "sqlite":
        yield from _database(source)
    elif any(object_or_empty(value).get("format") == _EXPORT for value in source.sample):
        yield from _export(source)
    else:
        yield from _snapshot(source)


def row_count(source: InputFile) -> int | None:
    """The number of thoughts of a database, or of lines of a snapshot."""
    if source.kind != "sqlite":
        return rows_by_line(source)
    with open_readonly(source.path) as db:
        return count_rows(db, "thought")


def _database(source: InputFile) -> Iterator[Row]:
    known = table_columns(source.path)
    with open_readonly(source.path) as db:
        _check_schema(source.path, db.pragma("user_version"))
        joined = {"embedding", "_metadata"} <= set(known)
        vector = ", v.model_name, v.vector_blob" if joined else ""
        order = _VECTOR if joined else ""
        sql = f"SELECT t.*{vector} FROM thought t {order} ORDER BY t.rowid"  # noqa: S608  # constants
        for row in query_rows(db, "thought", sql):
            yield row if isinstance(row, BadRow) else TableRow("thought", row)
        if "edge" in known:
            for row in query_rows(db, "edge", "SELECT * FROM edge ORDER BY rowid"):
                yield row if isinstance(row, BadRow) else TableRow("edge", row)
        for table in _ASIDE:
            if table in known and (rows := count_rows(db, table)):
                yield TableRow(table, {}, rows)
        if joined:
            cursor = db.execute("SELECT count(*) - count(DISTINCT owner_id) FROM embedding")
            ((further,),) = cursor.fetchall()
            if isinstance(further, int) and further:
                yield Lost(_FURTHER, "of other models", times=further)


def _export(source: InputFile) -> Iterator[Row]:
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        value = object_or_empty(item.value)
        for table in ("thought", "edge"):
            for nth, row in enumerate(list_or_empty(value.get(f"{table}s"))):
                yield _complete(table, f"{item.where} {table}s[{nth}]", row)


def _snapshot(source: InputFile) -> Iterator[Row]:
    vectors, further = _vectors(source)
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        value = object_or_empty(item.value)
        table = _table(value)
        if table in _NEEDED:
            row = _complete(table, item.where, value.get("data"))
            if isinstance(row, TableRow) and table == "thought":
                row = TableRow(table, {**row.data, **vectors.get(str(row.data["thought_id"]), {})})
            yield row
        elif table == "metadata":
            _check_schema(source.path, value.get("schema_version"))
        elif table != "embedding":
            yield TableRow(table, {}) if table else BadRow(item.where, "names no table")
    if further:
        yield Lost(_FURTHER, "of other models", times=further)


def _vectors(source: InputFile) -> tuple[dict[str, dict[str, Any]], int]:
    """(model and vector by thought, number of vectors that are not taken).

    Of several vectors of a thought the serving model's newest is taken, else the newest.
    """
    best: dict[str, tuple[tuple[bool, str], dict[str, Any]]] = {}
    serving, seen = "", 0
    for item in source.values():
        value = {} if isinstance(item, BadRow) else object_or_empty(item.value)
        data = object_or_empty(value.get("data"))
        if _table(value) == "metadata":
            serving = str(value.get("embedding_model_name") or "")
        elif _table(value) == "embedding" and data.get("owner_id") is not None:
            seen += 1
            model, owner = str(data.get("model_name")), str(data["owner_id"])
            # `metadata` is the first line of a snapshot, so the serving model is known here.
            worth = model == serving, str(data.get("created_at"))
            if owner not in best or worth > best[owner][0]:
                blob = _bytes(data.get("vector_blob"))
                best[owner] = worth, {"model_name": model, "vector_blob": blob}
    return {owner: vector for owner, (_, vector) in best.items()}, seen - len(best)


def _bytes(text: object) -> bytes:
    """The bytes of a base64 column; empty if it is no base64."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def _table(value: dict[str, Any]) -> str:
    """The table of a line of a snapshot; older versions use another key."""
    named = value.get("_type", value.get("table"))
    return named if isinstance(named, str) else ""


def _complete(table: str, where: str, row: object) -> TableRow | BadRow:
    """The row if it has the required columns of its table, else a `BadRow`."""
    data = object_or_empty(row)
    missing = [name for name in _NEEDED[table] if data.get(name) is None]
    if missing:
        return BadRow(where, f"{missing[0]}: is missing")
    return TableRow(table, data)


def _check_schema(path: Path, version: object) -> None:
    if isinstance(version, int) and version > SCHEMA:
        raise Unsupported(
            f"{path.name} has schema {version} of engrava, but this version of Memoriter reads up"
            f" to {SCHEMA}",
            hint="update Memoriter, or write the file with an older version of engrava",
        )
