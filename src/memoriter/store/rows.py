"""The row types of every store, and the digests and checksums that protect them (format 2).

Sequenced entries (record version, edge, a caller's vector, tombstone, agent) have a salted digest
that is linked into the tenant's hash chain; derived rows (words, an embedder's vectors, mentions)
and bookkeeping (commits, keys, debts) have a checksum. Forgetting deletes the row with its salt:
the digest that stays in the chain can then not be tested against a guess.

Field names are export keys, and some class names are part of a checksum: do not rename them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeVar

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
    """The words that one analyzer made of one record version."""

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
    """An entity that a record version mentions."""

    seq: int
    row: int
    name: str
    sum: bytes


class EdgeRow(NamedTuple):
    """One edge: `source` and `target` are positions, the body names them by id."""

    seq: int
    source: int
    target: int
    salt: bytes
    body: bytes


RESERVED: Final = "\x1f"
"""Begins the names of registry entries that are settings; no agent can have such a name."""


class AgentRow(NamedTuple):
    """One state of an agent in the registry, or of a setting under a reserved name."""

    seq: int
    agent: str
    salt: bytes
    body: bytes


class TombRow(NamedTuple):
    """A tombstone: the numbers of what was forgotten (`Erased`), and none of its content."""

    seq: int
    salt: bytes
    body: bytes


class ChainRow(NamedTuple):
    """One link of the tenant's hash chain."""

    seq: int
    kind: int
    digest: bytes
    link: bytes


class KeyRow(NamedTuple):
    """What was written under an idempotency key.

    `asked` is the digest of the request. It and `id` are emptied when the record is forgotten: the
    id is erased with it, and the digest could be tested against a guess. From then on any request
    under the key gets the first Commit back, with the id that it names itself, and nothing is
    written.
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


TABLES: Final[dict[str, Callable[..., Any]]] = {
    "commits": CommitRow,
    "chain": ChainRow,
    "records": RecordRow,
    "vectors": VectorRow,
    "mentions": MentionRow,
    "edges": EdgeRow,
    "agents": AgentRow,
    "tombs": TombRow,
    "keys": KeyRow,
    "debts": DebtRow,
}
"""The tables of a tenant that an export has, in its order. Rows are in the order of their numbers,
keys in that of their names."""

SaltedRow = TypeVar("SaltedRow", EdgeRow, AgentRow, TombRow)
Bookkeeping = TypeVar("Bookkeeping", CommitRow, KeyRow, DebtRow)

RECORD: Final = 1
EDGE: Final = 2
VECTOR: Final = 3
TOMBSTONE: Final = 4
AGENT: Final = 5

_INTS: Final = {n: struct.Struct(f"<{n}q") for n in (1, 2, 3, 4)}


def _pack(*numbers: int) -> bytes:
    return _INTS[len(numbers)].pack(*numbers)


def record_digest(tenant: str, row: RecordRow) -> bytes:
    """The digest of a record version: every field, and the tenant that owns it.

    It is `digest("memoriter/record/1", tenant, numbers, salt, body)`; every hit of an answer is
    checked by it, so what is the same for all records of a tenant is encoded once.
    """
    numbers = _INTS[4].pack(row.row, row.position, row.committed, len(row.salt))
    parts = (_record_tag(tenant), numbers, row.salt, _INTS[1].pack(len(row.body)), row.body)
    return sha256(b"".join(parts)).digest()


@lru_cache(maxsize=256)
def _record_tag(tenant: str) -> bytes:
    """How what is digested of a record begins: tag, tenant, length of its numbers."""
    name = tenant.encode()
    return b"".join((b"memoriter/record/1\0", _pack(len(name)), name, _pack(_INTS[3].size)))


def edge_digest(tenant: str, row: EdgeRow) -> bytes:
    """The digest of every field of an edge."""
    numbers = _pack(row.seq, row.source, row.target)
    return digest("memoriter/edge/1", tenant.encode(), numbers, row.salt, row.body)


def vector_digest(tenant: str, row: VectorRow, salt: bytes) -> bytes:
    """The digest of a vector that a caller gave; the salt is its record's."""
    numbers = _pack(row.seq, row.row, row.part)
    space = f"{row.generation}\n{row.form}".encode()
    return digest("memoriter/vector/1", tenant.encode(), numbers, salt, space, row.body)


def agent_digest(tenant: str, row: AgentRow) -> bytes:
    """The digest of every field of an agent's state."""
    return digest("memoriter/agent/1", tenant.encode(), _pack(row.seq), row.salt, row.body)


def tomb_digest(tenant: str, row: TombRow) -> bytes:
    """The digest of a tombstone."""
    return digest("memoriter/tombstone/1", tenant.encode(), _pack(row.seq), row.salt, row.body)


def genesis(tenant: str) -> bytes:
    """The link before the first entry of a tenant's chain."""
    return digest("memoriter/genesis/1", tenant.encode())


def next_link(link: bytes, seq: int, kind: int, entry: bytes) -> bytes:
    """The link of a chain after `link`, for an entry with this number, kind and digest."""
    return digest("memoriter/chain/1", link, _pack(seq, kind), entry)


def words_sum(tenant: str, row: int, generation: str, body: bytes) -> bytes:
    """The checksum beside a record's analysed words."""
    return checksum(tenant.encode(), _pack(row), generation.encode(), body)


def vector_sum(tenant: str, row: VectorRow) -> bytes:
    """The checksum beside a vector, over all its other fields."""
    seq, number, part, generation, form, body, _ = row
    space = f"{generation}\n{form}".encode()
    return checksum(b"".join((tenant.encode(), _pack(seq, number, part), space, body)))


def mention_sum(tenant: str, seq: int, row: int, name: str) -> bytes:
    """The checksum beside a mention."""
    return checksum(tenant.encode(), _pack(seq, row), name.encode())


def bookkeeping_sum(tenant: str, row: CommitRow | KeyRow | DebtRow) -> bytes:
    """The checksum beside a row of bookkeeping."""
    # The class name keeps rows of two tables with equal values apart: it is part of the format.
    values = [value.hex() if isinstance(value, bytes) else value for value in row]
    return checksum(canonical([tenant, type(row).__name__, values]))


def check_bookkeeping(tenant: str, row: Bookkeeping, expected: bytes) -> Bookkeeping:
    """The row of bookkeeping itself; Corrupt if it does not match its checksum."""
    if not _equal(lambda: bookkeeping_sum(tenant, row), expected):
        raise Corrupt(
            f"a row of the internal tables of tenant {tenant!r} is damaged: {row}",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return row


_NO_DIGEST: Final = (TypeError, AttributeError, struct.error)
"""Damage can turn a column into a value of another type, which cannot be packed or encoded."""


def _equal(compute: Callable[[], bytes], expected: bytes) -> bool:
    """Whether a digest is as expected; False also where it cannot be computed."""
    try:
        return compute() == expected
    except _NO_DIGEST:
        return False


def read_record(tenant: str, row: RecordRow, expected: bytes) -> Record:
    """The record version in a row; Corrupt if it does not match its digest."""
    try:
        same = record_digest(tenant, row) == expected
    except _NO_DIGEST:
        same = False
    if not same:
        raise Corrupt(
            f"the record at log entry {row.row} of tenant {tenant!r} does not match its digest",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    record = decode(row.body, row.row, row.position, row.committed)
    if record.id != row.id:
        raise Corrupt(
            f"the record at log entry {row.row} of tenant {tenant!r} is stored under an id that is"
            " not its own",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return record


def check_words(tenant: str, row: WordsRow) -> bytes:
    """The encoded words in a row; Corrupt if they do not match their checksum."""
    if not _equal(lambda: words_sum(tenant, row.row, row.generation, row.body), row.sum):
        raise Corrupt(
            f"the stored words of log entry {row.row} of tenant {tenant!r} are damaged; the"
            " record itself is not",
            hint="run `memoriter doctor`, which makes the words again from the record",
        )
    return row.body


VECTORS: Final = "vectors"
"""`Corrupt.field` for a damaged vector: the index then answers without vectors."""


def check_vector(tenant: str, row: VectorRow) -> VectorRow:
    """The vector row itself; Corrupt (field `VECTORS`) if it does not match its checksum."""
    if not _equal(lambda: vector_sum(tenant, row), row.sum):
        raise Corrupt(
            f"a vector of log entry {row.row} of tenant {tenant!r} is damaged; the record is not",
            hint="run `memoriter doctor`, which repairs what can be computed again from the record",
            field=VECTORS,
        )
    return row


class Erased(NamedTuple):
    """The numbers of what a forget erased."""

    position: int
    rows: list[int]
    edges: list[int]
    vectors: list[int]
    """Only vectors that callers gave: they are in the chain. An embedder's are derived."""


def read_tomb(tomb: TombRow) -> Erased:
    """The numbers in the body of a tombstone."""
    return Erased(**json.loads(tomb.body))


def check_entry(tenant: str, row: SaltedRow, expected: bytes) -> SaltedRow:
    """The edge, agent or tombstone itself; Corrupt if it does not match its digest."""
    match row:
        case EdgeRow():
            same = _equal(lambda: edge_digest(tenant, row), expected)
        case AgentRow():
            same = _equal(lambda: agent_digest(tenant, row), expected)
        case TombRow():
            same = _equal(lambda: tomb_digest(tenant, row), expected)
    if not same:
        raise Corrupt(
            f"log entry {row.seq} of tenant {tenant!r} does not match its digest",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return row
