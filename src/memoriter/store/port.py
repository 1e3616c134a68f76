"""The store protocol: a durable, ordered log per tenant.

`Log` is what `ram`, `sqlite` and `postgres` implement and what `memory/` and `index/` read;
everything that ranks is derived from it by `index/`, with the same code for every store. A method
that takes `upto` answers for the view at that sequence number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, Protocol

from memoriter.core.batch import Batch, Commit
from memoriter.core.lazy_dataclass import dataclass
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
    read_tomb,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a tenant's log: its last sequence number, commit time, position and chain link."""

    seq: int = 0
    time: int = 0
    positions: int = 0
    """How many positions were assigned; also the next one."""
    link: bytes = b""
    """The last link of the chain; empty before the first entry."""
    published: int = 0
    """How often the list of segments was replaced: an index reloads when it changes."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The entries of the log in (after, upto], digests checked, as the index reads them."""

    upto: int
    records: list[Record] = field(default_factory=list[Record])
    words: dict[int, bytes] = field(default_factory=dict[int, bytes])
    vectors: list[VectorRow] = field(default_factory=list[VectorRow])
    edges: list[EdgeRow] = field(default_factory=list[EdgeRow])
    tombs: list[TombRow] = field(default_factory=list[TombRow])


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """A published segment, covering the log in (first, last]; its name is that in its home."""

    name: str
    first: int
    last: int
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The published segments of a tenant's index, oldest first.

    `floor` is the oldest view that they can answer; merges drop rows that ended before it.
    """

    segments: tuple[SegmentRef, ...] = ()
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Unerased:
    """Forgotten records whose bytes may still be in a file of the store."""

    count: int = 0
    since: int = 0
    """When the first of them was forgotten; 0 if there is none."""
    upto: int = 0
    """The last sequence number that was looked at."""
    rows: tuple[int, ...] = ()
    """The rows of all their versions."""
    positions: tuple[int, ...] = ()

    @classmethod
    def of(cls, tombs: Sequence[TombRow], since: int, upto: int) -> Unerased:
        """What tombstones that are not erased yet tell of; `since` is the first one's time."""
        erased = [read_tomb(tomb) for tomb in tombs]
        return cls(
            len(erased),
            since if erased else 0,
            upto,
            tuple(row for each in erased for row in each.rows),
            tuple(each.position for each in erased),
        )


class TenantRows(Protocol):
    """The rows of a tenant at one moment, read table by table: what export writes, load restores.

    They are read as they are asked for, a portion at a time, so that a tenant may be larger than
    the memory. Words are not among them: they follow from the records.
    """

    @property
    def head(self) -> Head:
        """The end of the log, not checked."""
        ...

    @property
    def damaged(self) -> Sequence[str]:
        """One message for each commit, key or debt read so far that does not match its checksum."""
        ...

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one of `rows.TABLES`, in its order."""
        ...


@dataclass(frozen=True, slots=True)
class Dump:
    """Rows of a tenant in memory, in sequence: those of a stretch of its log."""

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
    damaged: list[str] = field(default_factory=list[str])
    """One message for each commit, key or debt that does not match its checksum."""

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of a table, as `TenantRows` has them."""
        return iter(getattr(self, table))


class Log(Protocol):
    """A store. Every method is safe to call from several threads.

    Methods raise Corrupt where a row does not match its digest or checksum.
    """

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        ...

    def head(self, tenant: str) -> Head:
        """The end of a tenant's log; an unknown tenant is at 0."""
        ...

    def catch_up(self, tenant: str) -> Head:
        """The same from the primary, where a standby answers reads; later reads are as new."""
        ...

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time; 0 before the first."""
        ...

    def commit(self, batch: Batch) -> Commit:
        """Write a batch in one transaction: all or nothing, and durable when it returns.

        Raises what `sequence.sequence_batch` refuses the batch with; then nothing was written.
        """
        ...

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto], in consecutive parts.

        `generations` are the analyzer's and the vector space's fingerprints; words and vectors of
        others are left out.
        """
        ...

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """The record versions of these rows, in their order; None where forgotten."""
        ...

    def sizes(self, tenant: str, rows: Sequence[int]) -> list[int]:
        """How many bytes the bodies of these record versions have; 0 where forgotten.

        Bodies are not read: the sizes are asked for before, to bound what is read at a time.
        """
        ...

    def versions(self, tenant: str, record_id: str, upto: int) -> list[int]:
        """The rows of all versions of a record, oldest first; none if unknown or forgotten."""
        ...

    def latest(self, tenant: str, record_id: str, upto: int) -> Record | None:
        """The version in the last of these rows; None when unknown or forgotten."""
        ...

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version."""
        ...

    def embedded(self, tenant: str) -> Iterator[dict[str, list[int]]]:
        """By generation the rows that have a vector in it, or are known to need none.

        In consecutive parts; a row is named once for each generation.
        """
        ...

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges that begin or end at a position, in sequence; replaced ones included."""
        ...

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, sorted by name."""
        ...

    def debts(self, tenant: str, limit: int, after: tuple[int, str] = (0, "")) -> list[DebtRow]:
        """The oldest debts after a row and generation: record versions that lack a vector."""
        ...

    def owe(self, tenant: str, after: int, upto: int, debts: Sequence[DebtRow]) -> None:
        """Replace the debts of the rows in (after, upto]."""
        ...

    def keys(self, tenant: str, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys; unknown ones are left out."""
        ...

    def words(self, tenant: str) -> Iterator[WordsRow]:
        """The analysed words of every record version; checksums are not checked."""
        ...

    def spaces(self) -> list[str]:
        """The fingerprints of all generations that writers fill or once filled."""
        ...

    def known_spaces(self) -> tuple[str, ...]:
        """The same, perhaps as they were at the last commit of this process.

        A batch that names them in `spaces` is then refused with SpacesChanged if they are others.
        """
        ...

    def open_space(self, generation: str) -> None:
        """Register a generation, so that every writer fills it from now on."""
        ...

    def close_space(self, generation: str) -> None:
        """Delete the words of a generation; writers stop filling it."""
        ...

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Repair derived rows: replace words, and turn lost vectors into debts.

        Records are not touched, and words of a forgotten row are not written.
        """
        ...

    def damage(self) -> list[str]:
        """Messages of the backend's own integrity check; empty if it finds nothing."""
        ...

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of the index with this fingerprint; empty if it has none."""
        ...

    def manifests(self, tenant: str) -> dict[str, Manifest]:
        """The published segments of every index, by its fingerprint."""
        ...

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Compare-and-set: replace the manifest if it still is `old`; returns whether it was."""
        ...

    def unerased(self, tenant: str) -> Unerased:
        """What was forgotten and not erased yet."""
        ...

    def unerased_tenants(self, tenant: str) -> list[str]:
        """The tenants with something to erase; a server of many looks at the given one alone."""
        ...

    def scrub(self, tenant: str, upto: int) -> bool:
        """Erase from the log's own files what was deleted by now, then mark it as erased.

        From then on `unerased` begins after `upto`. Published segments are the caller's to clean
        first. False, and nothing is marked, if that is not possible just now, since others read.
        """
        ...

    def snapshot(self, tenant: str) -> AbstractContextManager[TenantRows]:
        """All rows of a tenant at one moment, to be read by this thread while the block lasts."""
        ...

    def restore(self, tenant: str, rows: TenantRows) -> None:
        """Write all rows of a tenant into an empty one, with the same numbers and times.

        In one transaction. Raises Conflict if the tenant has been written to.
        """
        ...

    def stretch(self, tenant: str, after: int, limit: int) -> Dump:
        """The rows of the commits after a number, about `limit` entries, read in one snapshot.

        It has at least one commit, if there is any; without one, its head is that of the log.
        Words are those of all generations. Checksums of bookkeeping are checked.
        """
        ...

    def append(self, tenant: str, part: Dump, before: Head) -> None:
        """Write a stretch after `before`, in one transaction; what its tombstones name is erased.

        A stretch without commits brings the count of positions. Raises Conflict if the log does not
        end in `before`.
        """
        ...

    def check(self) -> None:
        """Raise Unsupported if the store is closed, or belongs to the parent of a fork.

        It takes no lock that a fork may have left held for ever.
        """
        ...

    def close(self) -> None:
        """Release all resources. Idempotent."""
        ...
