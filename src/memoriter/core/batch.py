"""A write on its way: Draft (asked) → Batch (complete and checked) → Commit (written).

A batch is a list of acts. Everything that can be refused without looking at the log has been
refused before a batch exists; the store settles the rest inside one transaction, all or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from memoriter.core.errors import InputError
from memoriter.core.names import Json
from memoriter.core.other_words import Hinting
from memoriter.core.record import Content
from memoriter.core.shown import counted, named, shown
from memoriter.core.times import iso

VectorForm = Literal["unit", "f4", "f8"]
"""`unit`: float32 of unit length on the grid, by an embedder. `f4`, `f8`: as a caller gave it."""
NOTHING: Final = b""
"""The body of a vector of a record that has nothing to embed: no debt, and nothing to compare."""


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key and the digest of what was asked under it."""

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
    """An edge that a new record brings along; the record is its source."""

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
    """Generations that could not embed it yet: debt."""
    ties: tuple[NewEdge, ...] = ()
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two records that exist."""

    source: str
    tie: NewEdge
    salt: bytes
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Erase a record, all its versions and all that hangs on them."""

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
    """A vector that came later: debt paid, or None where there is nothing to embed."""

    row: int
    generation: str
    vector: Vector | None


Act = Put | Link | Forget | RegisterAgent | Embed


@dataclass(frozen=True, slots=True)
class Batch:
    """Acts of one tenant that are written together or not at all."""

    tenant: str
    acts: tuple[Act, ...]
    now: int


@dataclass(frozen=True, slots=True)
class Commit(Hinting):
    """What was written. A retry with the same keys gives the same commit again."""

    tenant: str
    seq: int
    """The last sequence number it took; the view at this number sees it whole."""
    time: datetime
    ids: tuple[str, ...]
    """The record each act was about, in the order asked."""
    debt: int = 0
    """How many vectors it still owes."""

    def __repr__(self) -> str:
        what = named(self.ids[0]) if len(self.ids) == 1 else counted(len(self.ids), "record")
        owed = f", {counted(self.debt, 'vector')} owed" if self.debt else ""
        return shown(f"Commit {self.seq}", f"{what}{owed}")

    @property
    def id(self) -> str:
        """The only record it was about."""
        if len(self.ids) != 1:
            raise InputError(
                f"a commit of {counted(len(self.ids), 'memory', 'memories')} has no one id",
                hint="ids has them all",
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
        }
