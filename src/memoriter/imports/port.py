"""What readers find in a file, and how a format is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memoriter.imports.source import Refused, Source


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


class Linked(NamedTuple):
    """A row that becomes an edge; the ends are ids of records."""

    where: str
    source: str
    target: str
    kind: str
    fields: Mapping[str, object]


class Known(NamedTuple):
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


Found = Entry | Linked | Known | Lost | Refused


class Format(NamedTuple):
    """One kind of file."""

    name: str
    about: str
    recognise: Callable[[Source], str | None]
    """Why a file is of this kind; None where it is not."""
    read: Callable[[Source], Iterator[Found]]
    general: bool = False
    """Whether it is asked only where no other one knows the file."""
