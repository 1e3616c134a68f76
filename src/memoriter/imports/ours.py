"""Our own forms: JSON lines with the fields of a record, plain lines of text, a whole export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.port import Entry, Found
from memoriter.imports.shapes import is_list, is_object
from memoriter.imports.source import Refused, Source, rows

_HEAD_KEYS: Final = 3
"""`head`, `tenant`, and the name of the program with its export format."""


def is_export(source: Source) -> str | None:
    """Whether it is a tenant that `export` wrote."""
    begun = source.kind in ("lines", "document") and source.head.startswith(b'{"head":')
    told = source.sample[0] if begun and source.sample else None
    if is_object(told) and {"head", "tenant"} <= set(told) and len(told) == _HEAD_KEYS:
        return "its first line is the head of a Memoriter export"
    return None


def read_export(source: Source) -> Iterator[Found]:
    """Nothing: an export is not read row by row, it is restored whole."""
    del source
    yield from ()


def is_jsonl(source: Source) -> str | None:
    """Whether its rows are texts, or objects with a text."""
    seen = [row for value in source.sample for row in (value if is_list(value) else [value])]
    if source.kind in ("lines", "document") and any(_ours(row) for row in seen):
        return "its rows are JSON texts, or objects with a text"
    return None


def _ours(row: Any) -> bool:
    return isinstance(row, str) or (is_object(row) and "text" in row)


def read_jsonl(source: Source) -> Iterator[Found]:
    """Each row is a text, or an object with fields of a record; every field is checked."""
    for found in rows(source):
        if isinstance(found, Refused):
            yield found
        elif isinstance(found.value, str):
            yield Entry(found.where, found.value, {"text": found.value})
        elif is_object(found.value):
            yield Entry(found.where, _key(found.value), found.value)
        else:
            reason = f"expected a text or an object, got {type(found.value).__name__}"
            yield Refused(found.where, reason, '"a text", or {"text": …}')


def _key(row: dict[str, Any]) -> str:
    """The id of a row that has one, else all that it says."""
    told = row.get("id")
    return f"id {told}" if isinstance(told, str) else json.dumps(row, sort_keys=True)


def is_text(source: Source) -> str | None:
    """Whether it is text at all."""
    return "it is plain text: each line is a memory" if source.kind == "text" else None


def read_text_lines(source: Source) -> Iterator[Found]:
    """Each line that is not blank is a text."""
    for line in source.lines():
        yield (
            line if isinstance(line, Refused) else Entry(line.where, line.text, {"text": line.text})
        )
