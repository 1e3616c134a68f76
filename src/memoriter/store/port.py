"""What a store is: a durable, ordered log per tenant, and nothing that ranks.

Everything fast is derived from it by `index/`, with the same code for every store. A method that
takes `upto` answers for the view at that sequence number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memoriter.core.batch import Batch, Commit
from memoriter.core.record import Record
from memoriter.store.rows import (
    AgentRow,
    ChainRow,
    CommitRow,
    DebtRow,
    EdgeRow,
    KeyRow,
    MentionRow,
    RecordRow,
    TombRow,
    VectorRow,
    WordsRow,
)


@dataclass(frozen=True, slots=True)
class Head:
    """Where a tenant's log stands."""

    seq: int = 0
    time: int = 0
    positions: int = 0
    """How many positions were given; also the next one."""
    link: bytes = b""
    """The last link of the chain; empty before the first entry."""
    published: int = 0
    """Counts changes of the list of segments."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A stretch of the log, checked, as the index reads it: all entries in (after, upto]."""

    upto: int
    records: list[Record] = field(default_factory=list[Record])
    words: dict[int, bytes] = field(default_factory=dict[int, bytes])
    vectors: list[VectorRow] = field(default_factory=list[VectorRow])
    edges: list[EdgeRow] = field(default_factory=list[EdgeRow])
    tombs: list[TombRow] = field(default_factory=list[TombRow])


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """A published segment: which stretch of the log its file covers."""

    name: str
    first: int
    last: int
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The published segments of a tenant under one generation, oldest first.

    `floor`: the oldest view they can still answer; merges drop what ended before it.
    """

    segments: tuple[SegmentRef, ...] = ()
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Dump:
    """A whole tenant as rows, in sequence: what export writes and load restores."""

    head: Head
    commits: list[CommitRow]
    chain: list[ChainRow]
    records: list[RecordRow]
    vectors: list[VectorRow]
    mentions: list[MentionRow]
    edges: list[EdgeRow]
    agents: list[AgentRow]
    tombs: list[TombRow]
    keys: list[KeyRow]
    debts: list[DebtRow]
    words: list[WordsRow] = field(default_factory=list[WordsRow])
    """Left out by `dump`, since they follow from the records; given back to `restore`."""
    damaged: list[str] = field(default_factory=list[str])
    """Rows of bookkeeping (commits, keys, debts) that do not fit their checksum, in words."""


class Log(Protocol):
    """A store. Every method is safe to call from several threads."""

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        ...

    def head(self, tenant: str) -> Head:
        """Where the log of a tenant stands; an unknown tenant stands at 0."""
        ...

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time; 0 before the first."""
        ...

    def commit(self, batch: Batch) -> Commit:
        """Write a batch in one transaction, all or nothing, durable when it returns."""
        ...

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto], in stretches; words and vectors of these two generations."""
        ...

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """These record versions, in the order asked, digests checked; None where forgotten."""
        ...

    def versions(self, tenant: str, record_id: str, upto: int) -> list[Record]:
        """All versions of a record, oldest first; empty when unknown or forgotten."""
        ...

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version, checked."""
        ...

    def embedded(self, tenant: str) -> dict[str, set[int]]:
        """The record versions that have a vector in each generation, or nothing to embed."""
        ...

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges at a position, either end, in sequence, checked; replaced ones included."""
        ...

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, by name, checked."""
        ...

    def debts(self, tenant: str, limit: int) -> list[DebtRow]:
        """The oldest debts."""
        ...

    def keys(self, tenant: str, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys, checked; unknown ones are left out."""
        ...

    def words(self, tenant: str) -> Iterator[WordsRow]:
        """The analysed words of every record version, unchecked."""
        ...

    def spaces(self) -> list[str]:
        """The fingerprints of all generations that writers fill, or ever filled."""
        ...

    def open_space(self, generation: str) -> None:
        """Make a generation known, so that every writer fills it from now on."""
        ...

    def close_space(self, generation: str) -> None:
        """Drop the words of a generation, and let nobody fill it any more."""
        ...

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Write derived rows: words as given, vectors as debts. Records are not touched.

        Words of a row that has been forgotten are not written.
        """
        ...

    def damage(self) -> list[str]:
        """What the backend itself finds wrong with its files."""
        ...

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of an index, named by its fingerprint."""
        ...

    def manifests(self, tenant: str) -> dict[str, Manifest]:
        """The published segments of every index that ever published, by its fingerprint."""
        ...

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the list of segments if it still is `old`; whether it was."""
        ...

    def dump(self, tenant: str) -> Dump:
        """The whole tenant as of one moment."""
        ...

    def restore(self, tenant: str, dump: Dump) -> None:
        """Fill a tenant that has never been written to, keeping every number and time."""
        ...

    def check(self) -> None:
        """Refuse, without waiting for a lock, when the store cannot be used: after a fork."""
        ...

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        ...
