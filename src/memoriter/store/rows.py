"""The rows of a log: what every store keeps, and the bytes that guard each of them (final).

Sequenced entries (record version, edge, given vector, tombstone, agent) are digested with a salt
and linked into the tenant's chain; derived rows (words, an embedder's vectors, mentions) carry a
checksum. Forgetting deletes the row and its salt; the chain keeps the digest, which then tells
nothing.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from memoriter.core.canonical import canonical, checksum, digest
from memoriter.core.errors import Corrupt
from memoriter.core.record import Record, decode


class RecordRow(NamedTuple):
    """One version of a record."""

    row: int
    position: int
    id: str
    committed: int
    salt: bytes
    body: bytes


class WordsRow(NamedTuple):
    """What one analyzer made of one record version."""

    row: int
    generation: str
    body: bytes
    sum: bytes


class VectorRow(NamedTuple):
    """The vector of one part of a record version in one space."""

    seq: int
    row: int
    part: int
    generation: str
    form: str
    body: bytes
    sum: bytes


class MentionRow(NamedTuple):
    """An entity that a record version names."""

    seq: int
    row: int
    name: str
    sum: bytes


class EdgeRow(NamedTuple):
    """One link; the ends are positions, the body names them by id."""

    seq: int
    source: int
    target: int
    salt: bytes
    body: bytes


class AgentRow(NamedTuple):
    """One state of an agent in the registry."""

    seq: int
    agent: str
    salt: bytes
    body: bytes


class TombRow(NamedTuple):
    """What was forgotten: a position, its rows and edges, and no word of what they said."""

    seq: int
    salt: bytes
    body: bytes


class ChainRow(NamedTuple):
    """One link of the chain."""

    seq: int
    kind: int
    digest: bytes
    link: bytes


class KeyRow(NamedTuple):
    """What was written under an idempotency key.

    `asked` is empty once the record is forgotten, since a digest of what was asked would tell of
    it: any payload under the key then gets the first Commit, and writes nothing.
    """

    key: str
    asked: bytes
    seq: int
    time: int
    id: str
    debt: int


class DebtRow(NamedTuple):
    """A record version that still owes a vector to a generation."""

    row: int
    generation: str


class CommitRow(NamedTuple):
    """One commit: its last sequence number and its time, which never runs backwards."""

    seq: int
    time: int


Entry = TypeVar("Entry", EdgeRow, AgentRow, TombRow)
Bookkeeping = TypeVar("Bookkeeping", CommitRow, KeyRow, DebtRow)

RECORD: Final = 1
EDGE: Final = 2
VECTOR: Final = 3
TOMBSTONE: Final = 4
AGENT: Final = 5

_INTS: Final = {n: struct.Struct(f"<{n}q") for n in (1, 2, 3)}


def _pack(*numbers: int) -> bytes:
    return _INTS[len(numbers)].pack(*numbers)


def record_digest(tenant: str, row: RecordRow) -> bytes:
    """Covers every field of a record version, and who owns it."""
    numbers = _pack(row.row, row.position, row.committed)
    return digest("memoriter/record/1", tenant.encode(), numbers, row.salt, row.body)


def edge_digest(tenant: str, row: EdgeRow) -> bytes:
    """Covers every field of an edge."""
    numbers = _pack(row.seq, row.source, row.target)
    return digest("memoriter/edge/1", tenant.encode(), numbers, row.salt, row.body)


def vector_digest(tenant: str, row: VectorRow, salt: bytes) -> bytes:
    """Covers a vector that a caller gave; the salt is its record's."""
    numbers = _pack(row.seq, row.row, row.part)
    space = f"{row.generation}\n{row.form}".encode()
    return digest("memoriter/vector/1", tenant.encode(), numbers, salt, space, row.body)


def agent_digest(tenant: str, row: AgentRow) -> bytes:
    """Covers every field of an agent's state."""
    return digest("memoriter/agent/1", tenant.encode(), _pack(row.seq), row.salt, row.body)


def tomb_digest(tenant: str, row: TombRow) -> bytes:
    """Covers what a tombstone says."""
    return digest("memoriter/tombstone/1", tenant.encode(), _pack(row.seq), row.salt, row.body)


def genesis(tenant: str) -> bytes:
    """The link before the first entry of a tenant."""
    return digest("memoriter/genesis/1", tenant.encode())


def next_link(link: bytes, seq: int, kind: int, entry: bytes) -> bytes:
    """The next link of a chain."""
    return digest("memoriter/chain/1", link, _pack(seq, kind), entry)


def words_sum(tenant: str, row: int, generation: str, body: bytes) -> bytes:
    """The checksum beside a record's analysed words."""
    return checksum(tenant.encode(), _pack(row), generation.encode(), body)


def vector_sum(tenant: str, numbers: tuple[int, int, int], space: str, body: bytes) -> bytes:
    """The checksum beside a vector; numbers are (seq, row, part), space its generation and form."""
    return checksum(tenant.encode(), _pack(*numbers), space.encode(), body)


def mention_sum(tenant: str, seq: int, row: int, name: str) -> bytes:
    """The checksum beside a mention."""
    return checksum(tenant.encode(), _pack(seq, row), name.encode())


def bookkeeping_sum(tenant: str, row: CommitRow | KeyRow | DebtRow) -> bytes:
    """The checksum beside a row of bookkeeping."""
    told = [value.hex() if isinstance(value, bytes) else value for value in row]
    return checksum(canonical([tenant, type(row).__name__, told]))


def check_bookkeeping(tenant: str, row: Bookkeeping, expected: bytes) -> Bookkeeping:
    """A row of bookkeeping, after its checksum was checked."""
    if not _equal(lambda: bookkeeping_sum(tenant, row), expected):
        raise Corrupt(
            f"a {type(row).__name__} of tenant {tenant!r} is damaged: {row}",
            hint="restore a backup",
        )
    return row


def _equal(made: Callable[[], bytes], expected: bytes) -> bool:
    """Whether a digest is as expected; damage can also turn a column into another type."""
    try:
        return made() == expected
    except (TypeError, AttributeError, struct.error):
        return False


def read_record(tenant: str, row: RecordRow, expected: bytes) -> Record:
    """The record version in a row, after its digest was checked."""
    if not _equal(lambda: record_digest(tenant, row), expected):
        raise Corrupt(
            f"row {row.row} of tenant {tenant!r} does not match its digest",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    record = decode(row.body, row.row, row.position, row.committed)
    if record.id != row.id:
        raise Corrupt(f"row {row.row} of tenant {tenant!r} is filed under a wrong id")
    return record


def check_words(tenant: str, row: WordsRow) -> bytes:
    """The analysed words in a row, after their checksum was checked."""
    if not _equal(lambda: words_sum(tenant, row.row, row.generation, row.body), row.sum):
        raise Corrupt(f"the words of row {row.row} of tenant {tenant!r} are damaged")
    return row.body


VECTORS: Final = "vectors"
"""The field of an error about a damaged vector: everything else can still be read."""


def check_vector(tenant: str, row: VectorRow) -> VectorRow:
    """The vector row itself, after its checksum was checked."""
    space = f"{row.generation}\n{row.form}"
    numbers = (row.seq, row.row, row.part)
    if not _equal(lambda: vector_sum(tenant, numbers, space, row.body), row.sum):
        raise Corrupt(
            f"a vector of row {row.row} of tenant {tenant!r} is damaged",
            hint="`memoriter doctor` makes anew what follows from the records",
            field=VECTORS,
        )
    return row


class Erased(NamedTuple):
    """What a tombstone says is gone."""

    position: int
    rows: list[int]
    edges: list[int]
    vectors: list[int]
    """Those that callers gave; the others are derived."""


def read_tomb(tomb: TombRow) -> Erased:
    """What a tombstone says is gone."""
    return Erased(**json.loads(tomb.body))


def check_entry(tenant: str, row: Entry, expected: bytes) -> Entry:
    """The row itself, after its digest was checked."""
    match row:
        case EdgeRow():
            same = _equal(lambda: edge_digest(tenant, row), expected)
        case AgentRow():
            same = _equal(lambda: agent_digest(tenant, row), expected)
        case TombRow():
            same = _equal(lambda: tomb_digest(tenant, row), expected)
    if not same:
        raise Corrupt(
            f"entry {row.seq} of tenant {tenant!r} does not match its digest",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return row
