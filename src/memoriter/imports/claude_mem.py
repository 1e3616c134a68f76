"""claude-mem: the SQLite file of its observations and summaries of sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.fields import FieldMap
from memoriter.imports.port import Extracted, Format, rows_unknown
from memoriter.imports.source import BadRow, InputFile, is_list
from memoriter.imports.sqlite import open_readonly, query_rows, table_columns

NAME: Final = "claude-mem"
_OBSERVATIONS: Final = "observations"
_SUMMARIES: Final = "session_summaries"
_SESSIONS: Final = ("memory_session_id", "sdk_session_id", "session_id")
_SUMMARY_PARTS: Final = (
    "request", "investigated", "learned", "completed", "next_steps", "notes",
)  # fmt: skip
_TAKEN: Final = (
    "id", "text", "narrative", "title", "subtitle", "facts", "concepts", "type", "created_at",
    "created_at_epoch", *_SESSIONS, *_SUMMARY_PARTS,
)  # fmt: skip


def recognise(source: InputFile) -> str | None:
    """Why this is a file of claude-mem: its table of observations. None if it is not."""
    if source.kind != "sqlite":
        return None
    columns = table_columns(source.path).get(_OBSERVATIONS, set())
    known = {"title", "narrative", "facts"} <= columns
    return "it has a table of observations" if known else None


def read(source: InputFile) -> Iterator[Extracted]:
    """Observations, then summaries, each in the order of their ids."""
    tables = table_columns(source.path)
    with open_readonly(source.path) as db:
        for table in (each for each in (_OBSERVATIONS, _SUMMARIES) if each in tables):
            for row in query_rows(db, table, f'SELECT * FROM "{table}" ORDER BY id'):  # noqa: S608  # ours
                if isinstance(row, BadRow):
                    yield row
                else:
                    yield from _record(table, row)


def _record(table: str, row: dict[str, Any]) -> Iterator[Extracted]:
    where = f"{table} {row['id']}"
    text = _observed(row) if table == _OBSERVATIONS else _summed(row)
    if not text.strip():
        yield BadRow(where, "holds no text")
        return
    record = FieldMap(NAME, where)
    record.origin["id"] = f"{table}-{row['id']}"  # a number of this database, so no id of a record
    record.put("text", text)
    record.put("title", row.get("title"))
    record.put("summary", row.get("subtitle"))
    record.put("kind", row.get("type") if table == _OBSERVATIONS else "summary", "type")
    record.put_words("concepts", _listed(row.get("concepts")))
    session = next((row[each] for each in _SESSIONS if row.get(each)), None)
    record.put("session", session)
    record.put_time("created", row.get("created_at_epoch") or row.get("created_at"))
    record.keep_rest(row, *_TAKEN)
    yield from record.finish(json.dumps([where, row], sort_keys=True, default=str))


def _observed(row: dict[str, Any]) -> str:
    """The narrative and the facts of an observation; its text if it has neither."""
    facts = [f"- {fact}" for fact in _listed(row.get("facts"))]
    parts = [str(row["narrative"])] if row.get("narrative") else []
    return "\n".join([*parts, *facts]) or str(row.get("text") or row.get("title") or "")


def _summed(row: dict[str, Any]) -> str:
    named = ((part.replace("_", " "), row.get(part)) for part in _SUMMARY_PARTS)
    return "\n".join(f"{name}: {value}" for name, value in named if value)


def _listed(value: object) -> list[str]:
    """A list that is kept as JSON."""
    try:
        parsed: Any = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return [str(value)]
    return [str(each) for each in parsed] if is_list(parsed) else []


FORMAT: Final = Format(
    NAME, "claude-mem's database", frozenset({"sqlite"}), recognise, read, rows_unknown, strict=True
)
