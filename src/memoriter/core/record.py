"""One memory: what it says, what is known about it, where and when it belongs.

`Content` is what a caller says, `Record` a stored version of it. The body in the log is the
canonical JSON of the content; what is absent stays absent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Final, cast

from memoriter.core.canonical import canonical
from memoriter.core.errors import Corrupt
from memoriter.core.names import Json
from memoriter.core.shown import named, quoted, shown
from memoriter.core.shown import plain as phrase
from memoriter.core.times import iso

MEMORY_TYPES: Final = ("working", "episodic", "semantic", "procedural")
PRIORITIES: Final = ("P1", "P2", "P3", "P4")
TRUST: Final = ("system", "learned", "external")
ESSENCE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from."""

    who: str | None = None
    channel: str | None = None
    path: str | None = None

    def __repr__(self) -> str:
        told = ((key, getattr(self, key)) for key in _SOURCE_FIELDS)
        return shown("Source", ", ".join(f"{key} {named(v)}" for key, v in told if v is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Everything that can be said of a memory but its id. Times are microseconds UTC."""

    text: str
    title: str | None = None
    summary: str | None = None
    kind: str = "note"
    role: str = "memory"
    memory_type: str = "semantic"
    tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    entity_type: str | None = None
    source_episode: str | None = None
    importance: float = 0.5
    confidence: float | None = None
    priority: str = "P3"
    trust: str = "learned"
    source: Source = Source()
    agent: str = "default"
    user: str | None = None
    session: str | None = None
    created: int
    occurred: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    expires: int | None = None
    cycle: int | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    archived: bool = False
    pinned: bool = False
    refs: tuple[int, ...] = ()

    @property
    def essence(self) -> str:
        """The summary, else the first 200 characters of the text."""
        return self.summary if self.summary is not None else self.text[:ESSENCE_CHARS]

    @property
    def titled(self) -> str:
        """The text, under its title if it has one: what embedders read."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Content):
    """One stored version of a memory."""

    id: str
    row: int
    """The sequence number of this version."""
    position: int
    """The ordinal of the memory in its tenant, the same for all its versions."""
    committed: int
    """When this version was committed, by the store's own clock."""

    def __repr__(self) -> str:
        kind = f"Record {named(self.id)} {phrase(self.kind, 16)} {iso(self.created)[:10]}"
        return shown(kind, quoted(self.text, 48))

    def to_dict(self) -> dict[str, object]:
        """The record as plain data."""
        stored = {"row": self.row, "position": self.position, "committed": self.committed}
        return {"id": self.id, **plain(self), **stored}


CONTENT_FIELDS: Final = tuple(f.name for f in fields(Content))
_SOURCE_FIELDS: Final = tuple(f.name for f in fields(Source))
_VALUES: Final = attrgetter(*CONTENT_FIELDS)


def plain(content: Content) -> dict[str, object]:
    """The content as plain data, without what is absent or empty."""
    out: dict[str, object] = {}
    for key, value in zip(CONTENT_FIELDS, _VALUES(content), strict=True):
        if isinstance(value, tuple | dict):
            if value:
                out[key] = (
                    list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
                )
        elif isinstance(value, Source):
            if told := {k: v for k in _SOURCE_FIELDS if (v := getattr(value, k)) is not None}:
                out[key] = told
        elif value is not None:
            out[key] = value
    return out


def encode(record_id: str, content: Content) -> bytes:
    """The body that the log keeps and the digest covers."""
    return canonical({"id": record_id, **plain(content)})


def decode(body: bytes, row: int, position: int, committed: int) -> Record:
    """The record version that `encode` wrote."""
    try:
        data = cast("dict[str, object]", json.loads(body))
        for key in ("tags", "concepts", "entities", "refs"):
            if key in data:
                data[key] = tuple(cast("list[object]", data[key]))
        if "source" in data:
            data["source"] = Source(**cast("dict[str, str]", data["source"]))
        return Record(row=row, position=position, committed=committed, **data)  # pyright: ignore[reportArgumentType]  # checked when it was written, digested since
    except (ValueError, TypeError) as error:
        raise Corrupt(f"the record in row {row} cannot be read: {error}") from error
