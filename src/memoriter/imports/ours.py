"""Memoriter's own formats: JSON lines with the fields of a record, lines of text, an export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.port import Entry, Extracted, Format
from memoriter.imports.source import JSON, LINES, BadRow, InputFile, is_list, is_object, read_rows

_HEAD_KEYS: Final = 3
"""The first line of an export has `head`, `tenant` and the program with its format version."""


def is_export(source: InputFile) -> str | None:
    """Why this is a file that `export` wrote; None if it is not."""
    # The bytes first: parsing a sample of every file would be slow.
    begun = source.kind in ("lines", "document") and source.head.startswith(b'{"head":')
    head = source.sample[0] if begun and source.sample else None
    if is_object(head) and {"head", "tenant"} <= set(head) and len(head) == _HEAD_KEYS:
        return "its first line is the head of a Memoriter export"
    return None


def no_rows(source: InputFile) -> Iterator[Extracted]:
    """Nothing: the caller restores an export as a whole instead of reading rows."""
    del source
    yield from ()


def is_jsonl(source: InputFile) -> str | None:
    """Why this is JSON of ours: its rows are texts, or objects with a text. None if it is not."""
    seen = [row for value in source.sample for row in (value if is_list(value) else [value])]
    if source.kind in ("lines", "document") and any(_ours(row) for row in seen):
        return "its rows are JSON texts, or objects with a text"
    return None


def _ours(row: Any) -> bool:
    return isinstance(row, str) or (is_object(row) and "text" in row)


def read_jsonl(source: InputFile) -> Iterator[Extracted]:
    """Each row is a text or an object with fields of a record; `remember` checks the fields."""
    for item in read_rows(source):
        if isinstance(item, BadRow):
            yield item
        elif isinstance(item.value, str):
            yield Entry(item.where, item.value, {"text": item.value})
        elif is_object(item.value):
            yield Entry(item.where, _key(item.value), item.value)
        else:
            reason = f"expected a text or an object, got {type(item.value).__name__}"
            yield BadRow(item.where, reason, '"a text", or {"text": …}')


def _key(row: dict[str, Any]) -> str:
    """What identifies a row: its id, or all its fields if it has none."""
    id = row.get("id")
    return f"id {id}" if isinstance(id, str) else json.dumps(row, sort_keys=True)


def lines_of_text(source: InputFile) -> int | None:
    """The number of lines; None for a single line, which may be blank."""
    lines = source.count()
    return lines if lines is not None and lines > 1 else None


def is_text(source: InputFile) -> str | None:
    """Why this is text; None if it is not."""
    return "it is plain text: each line is a memory" if source.kind == "text" else None


def read_text_lines(source: InputFile) -> Iterator[Extracted]:
    """Each line that is not blank becomes a record."""
    for line in source.lines():
        yield (
            line if isinstance(line, BadRow) else Entry(line.where, line.text, {"text": line.text})
        )


EXPORT: Final = Format(
    "memoriter", "a tenant that export wrote", JSON, is_export, no_rows, strict=True
)
JSONL: Final = Format("jsonl", "texts or records as JSON", JSON, is_jsonl, read_jsonl, general=True)
TEXT: Final = Format(
    "text", "a text on each line", LINES, is_text, read_text_lines,
    lines_of_text, general=True,
)  # fmt: skip
