"""The values of a write: Draft (the request) → Batch (complete and validated) → Commit (written).

A batch is a list of acts. Whatever can be validated without reading the log is validated before a
batch is built; `store.sequence` checks the rest inside one transaction, all or nothing.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Final, Literal

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import Json
from memoriter.core.other_words import Hinting
from memoriter.core.record import Content
from memoriter.core.shown import counted, named, shown
from memoriter.core.similar import SimilarRecord
from memoriter.core.times import iso

VectorForm = Literal["unit", "f4", "f8"]
"""`unit`: of unit length on the grid, by an embedder. `f4`, `f8`: the caller's own."""
NOTHING: Final = b""
"""The vector body of a record that has nothing to embed: it owes no vector and matches none."""
DERIVED: Final = b"\1"
"""The vector body of a record whose vector the packaged table gives: the index computes it."""
IN_BYTES: Final = b"\2"
"""Begins a `unit` body that has one signed byte a number (`rank.units.widened`).

The numbers are a multiple of four, so its length is none that float32 could have."""


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key, and the digest of the request that used it."""

    name: str
    asked: bytes


@dataclass(frozen=True, slots=True)
class Vector:
    """The vector of one part of a record in one space; little-endian bytes."""

    generation: str
    """Fingerprint of the embedder, or `given:<n>` for a caller's own n-dimensional space."""
    part: int
    form: VectorForm
    body: bytes


@dataclass(frozen=True, slots=True)
class NewEdge:
    """An edge to write together with a new record, which is its source."""

    target: str
    kind: str
    weight: float = 1.0
    valid_from: int | None = None
    valid_until: int | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Put:
    """A new record, or a new version of one."""

    id: str
    content: Content
    body: bytes
    salt: bytes
    replaces: int | None = None
    """The row of the version it follows; None for a new record."""
    words: tuple[tuple[str, bytes], ...] = ()
    """(generation, bytes) for each analyzer."""
    vectors: tuple[Vector, ...] = ()
    owes: tuple[str, ...] = ()
    """Vector spaces that have no vector of it yet, because the embedder failed: debt."""
    edges: tuple[NewEdge, ...] = ()
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two records that exist."""

    source: str
    edge: NewEdge
    salt: bytes
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Erase a record, all its versions, and their words, vectors and edges."""

    id: str
    salt: bytes
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class RegisterAgent:
    """A new state of an agent in the registry."""

    agent: str
    body: bytes
    salt: bytes
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Embed:
    """A vector made after the record was written (pays a debt); None if nothing can be embedded."""

    row: int
    generation: str
    vector: Vector | None


Act = Put | Link | Forget | RegisterAgent | Embed


@dataclass(frozen=True, slots=True)
class Batch:
    """Acts of one tenant that are committed atomically."""

    tenant: str
    acts: tuple[Act, ...]
    now: int
    spaces: tuple[str, ...] | None = None
    """The `known_spaces` of the log that its words were made for; None if they were read anew."""


@dataclass(frozen=True, slots=True)
class Commit(Hinting):
    """The result of a write. A retry with the same idempotency keys returns the same commit."""

    tenant: str
    seq: int
    """The last sequence number it took; the view at this number contains the whole commit."""
    time: datetime
    ids: tuple[str, ...]
    """The record (or agent) of each act, in the order of the acts."""
    debt: int = 0
    """How many vectors are missing because an embedder failed."""
    near: tuple[SimilarRecord, ...] = ()
    """What `on_similar` found, whatever it did about it."""

    def __repr__(self) -> str:
        what = named(self.ids[0]) if len(self.ids) == 1 else counted(len(self.ids), "record")
        owed = f", {counted(self.debt, 'vector')} owed" if self.debt else ""
        return shown(f"Commit {self.seq}", f"{what}{owed}")

    @property
    def id(self) -> str:
        """The id of the only record; raises InputError if there is not exactly one."""
        if len(self.ids) != 1:
            raise InputError(
                f"id: this commit wrote {counted(len(self.ids), 'memory', 'memories')}, not one",
                hint="use `ids`, the list of all ids that it wrote",
                field="id",
            )
        return self.ids[0]

    def to_dict(self) -> dict[str, object]:
        """The commit as plain data."""
        return {
            "tenant": self.tenant,
            "seq": self.seq,
            "time": iso(self.time),
            "ids": list(self.ids),
            "debt": self.debt,
            **({"near": [each.to_dict() for each in self.near]} if self.near else {}),
        }
