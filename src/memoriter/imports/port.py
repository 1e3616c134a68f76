"""The `Format` type that importers provide, and the values that their readers yield."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memoriter.imports.source import BadRow, FileKind, InputFile


class Entry(NamedTuple):
    """A row that becomes a record."""

    where: str
    """The file and line, or how the source names the row."""
    key: str
    """Identifies the row in every import of the file, which makes a second import idempotent."""
    fields: Mapping[str, object]
    """Fields of a record, as `remember` takes them."""
    tenant: str | None = None
    """Its tenant, if the source system has tenants."""

    def key_in(self, scope: Mapping[str, str]) -> str:
        """What it is known by in a scope: without an id it is another row in another scope."""
        return json.dumps([self.key, scope]) if scope and "id" not in self.fields else self.key


class ImportedEdge(NamedTuple):
    """A row that becomes an edge; the ends are ids of records."""

    where: str
    source: str
    target: str
    kind: str
    fields: Mapping[str, object]


class ImportedAgent(NamedTuple):
    """An agent that the source describes."""

    where: str
    agent: str
    fields: Mapping[str, object]


class Lost(NamedTuple):
    """A value without a field here; `kept` says whether the metadata has it."""

    field: str
    example: object
    kept: bool = False
    times: int = 1


Extracted = Entry | ImportedEdge | ImportedAgent | Lost | BadRow


def rows_by_line(source: InputFile) -> int | None:
    """The number of lines, for a row per line; None for a single line, which may hold many rows."""
    lines = source.count() if source.kind == "lines" else None
    return lines if lines is not None and lines > 1 else None


def rows_unknown(source: InputFile) -> int | None:
    """None: the number of rows is known only when all are read."""
    del source


def no_advice(source: InputFile) -> str | None:
    """None: the system has no other files."""
    del source


class Format(NamedTuple):
    """A format that can be imported; entry points of `memoriter.importers` refer to one."""

    name: str
    about: str
    kinds: frozenset[FileKind]
    """The kinds of files that can have this format."""
    recognise: Callable[[InputFile], str | None]
    """Says why a file is of this format, for people; None if it is not."""
    read: Callable[[InputFile], Iterator[Extracted]]
    rows: Callable[[InputFile], int | None] = rows_by_line
    """The number of rows, for a progress bar; None if it is unknown before they are read."""
    strict: bool = False
    """Whether `--format` is refused for a file that `recognise` does not know."""
    general: bool = False
    """Whether it is a fallback, tried only if no specific format knows the file."""
    advise: Callable[[InputFile], str | None] = no_advice
    """Says what to do with a file of the same system that cannot be imported; else None."""
