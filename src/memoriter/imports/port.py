"""What readers find in a file, and how a format is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memoriter.imports.source import BadRow, InputFile, Kind


class Entry(NamedTuple):
    """A row that becomes a record."""

    where: str
    """The file and line, or how the source names the row."""
    key: str
    """What the row is, the same whenever it is read: a second import knows it by this."""
    fields: Mapping[str, object]
    """Fields of a record, as `remember` takes them."""
    tenant: str | None = None
    """Whose it was, where the source has walls too."""


class ImportedEdge(NamedTuple):
    """A row that becomes an edge; the ends are ids of records."""

    where: str
    source: str
    target: str
    kind: str
    fields: Mapping[str, object]


class ImportedAgent(NamedTuple):
    """An agent that the source tells of."""

    where: str
    agent: str
    fields: Mapping[str, object]


class Lost(NamedTuple):
    """Something that has no place here; `kept` says whether it stands in the metadata."""

    field: str
    example: object
    kept: bool = False
    times: int = 1


Extracted = Entry | ImportedEdge | ImportedAgent | Lost | BadRow


def rows_by_line(source: InputFile) -> int | None:
    """How many rows there are where each line is one; a single line may be one whole value."""
    lines = source.count() if source.kind == "lines" else None
    return lines if lines is not None and lines > 1 else None


def rows_unknown(source: InputFile) -> int | None:
    """None: how many rows there are is known only when all are read."""
    del source


def no_advice(source: InputFile) -> str | None:
    """None: there are no other files of this system."""
    del source


class Format(NamedTuple):
    """One kind of file. An entry point of `memoriter.importers` leads to such a value."""

    name: str
    about: str
    kinds: frozenset[Kind]
    """Of which kinds a file of this format may be."""
    recognise: Callable[[InputFile], str | None]
    """Why a file is of this format; None where it is not."""
    read: Callable[[InputFile], Iterator[Extracted]]
    rows: Callable[[InputFile], int | None] = rows_by_line
    """How many rows a file has, where that is known before they are read."""
    strict: bool = False
    """Whether a file that is not recognised is refused also where this format is asked for."""
    general: bool = False
    """Whether it is asked only where no other one knows the file."""
    advise: Callable[[InputFile], str | None] = no_advice
    """What to do with another file of the same system, which nothing here can read."""
