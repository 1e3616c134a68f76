"""Turns a batch into rows: sequence numbers, positions, edge ends, digests and chain links.

`sequence_batch` runs inside the write transaction of every store, so no two stores can number, link
or refuse differently. It reads the log through a `Ledger`, checks idempotency keys and
compare-and-set conditions, and returns rows; the store only has to write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple, Protocol

from memoriter.core.batch import (
    Act,
    Batch,
    Commit,
    Embed,
    Forget,
    Key,
    Link,
    NewEdge,
    Put,
    RegisterAgent,
    Vector,
)
from memoriter.core.canonical import canonical
from memoriter.core.edge import REPLACING
from memoriter.core.errors import BadRecord, Conflict, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.times import to_datetime
from memoriter.store.acts import key_of, named_ids, own_id
from memoriter.store.port import Head
from memoriter.store.rows import (
    AGENT,
    EDGE,
    RECORD,
    TOMBSTONE,
    VECTOR,
    AgentRow,
    ChainRow,
    DebtRow,
    EdgeRow,
    KeyRow,
    MentionRow,
    RecordRow,
    TombRow,
    VectorRow,
    WordsRow,
    agent_digest,
    edge_digest,
    genesis,
    mention_sum,
    next_link,
    record_digest,
    tomb_digest,
    vector_digest,
    vector_sum,
    words_sum,
)


class CurrentRow(NamedTuple):
    """The latest version of a record, and its position."""

    row: int
    position: int


class Ledger(Protocol):
    """What `sequence_batch` reads from a store, inside the write transaction."""

    def current_rows(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """The latest version of each of these records; unknown and forgotten ones are left out."""
        ...

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The ids of the records at these positions; forgotten ones are left out."""
        ...

    def rows_at(self, position: int) -> list[int]:
        """All versions of the record at a position."""
        ...

    def edges_at(self, position: int) -> list[int]:
        """Sequence numbers of all edges that touch a position."""
        ...

    def caller_vectors(self, rows: Sequence[int]) -> list[int]:
        """Sequence numbers of all vectors that callers gave for these rows."""
        ...

    def alive(self, rows: Sequence[int]) -> set[int]:
        """Those of these rows that were not forgotten."""
        ...

    def keys(self, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        ...


@dataclass(slots=True)
class SequencedBatch:
    """The rows that a batch adds, what it erases, and the new head of the log."""

    head: Head
    commit: Commit
    records: list[RecordRow] = field(default_factory=list[RecordRow])
    words: list[WordsRow] = field(default_factory=list[WordsRow])
    vectors: list[VectorRow] = field(default_factory=list[VectorRow])
    mentions: list[MentionRow] = field(default_factory=list[MentionRow])
    edges: list[EdgeRow] = field(default_factory=list[EdgeRow])
    agents: list[AgentRow] = field(default_factory=list[AgentRow])
    tombs: list[TombRow] = field(default_factory=list[TombRow])
    chain: list[ChainRow] = field(default_factory=list[ChainRow])
    keys: list[KeyRow] = field(default_factory=list[KeyRow])
    debts: list[DebtRow] = field(default_factory=list[DebtRow])
    paid: list[DebtRow] = field(default_factory=list[DebtRow])
    erased_rows: list[int] = field(default_factory=list[int])
    erased_edges: list[int] = field(default_factory=list[int])
    erased_ids: list[str] = field(default_factory=list[str])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write: every act was a retry or had no effect."""
        return not (self.chain or self.vectors or self.paid)

    @property
    def advances(self) -> bool:
        """Whether the head moves; a debt paid without a vector takes no sequence number."""
        return bool(self.chain or self.vectors)


def sequence_batch(batch: Batch, head: Head, ledger: Ledger) -> SequencedBatch:
    """The rows of a batch after `head`.

    Raises Conflict (id taken, record changed meanwhile, key used for another write), NotFound or
    BadRecord; the whole batch is then refused.
    """
    return _Settling(batch, head, ledger).run()


class _Settling:
    """One pass over the acts of a batch; lives as long as one transaction."""

    def __init__(self, batch: Batch, head: Head, ledger: Ledger) -> None:
        self.batch = batch
        self.tenant = batch.tenant
        self.ledger = ledger
        self.seq = head.seq
        # Commit times never run backwards, or `known_at` would be ambiguous.
        self.time = max(head.time, batch.now)
        self.positions = head.positions
        self.link = head.link or genesis(batch.tenant)
        self.out = SequencedBatch(head, Commit(batch.tenant, head.seq, to_datetime(head.time), ()))
        self.current = ledger.current_rows(named_ids(batch.acts))
        """Updated act by act: a later act of the batch sees what an earlier one wrote."""
        self.known_keys = ledger.keys([key.name for key in map(key_of, batch.acts) if key])
        self.new_keys: dict[str, tuple[Key, str]] = {}
        self.replayed: list[KeyRow] = []

    def run(self) -> SequencedBatch:
        ids = tuple(self.act(act) for act in self.batch.acts)
        out = self.out
        debt = len(out.debts)
        # A pure retry gets the Commit of the first write back, not one of the present.
        if out.is_empty and self.replayed:
            first = max(self.replayed, key=lambda row: row.seq)
            out.commit = Commit(self.tenant, first.seq, to_datetime(first.time), ids, first.debt)
            return out
        if out.advances:
            head = out.head
            out.head = Head(self.seq, self.time, self.positions, self.link, head.published)
        out.commit = Commit(self.tenant, out.head.seq, to_datetime(out.head.time), ids, debt)
        out.keys = [
            KeyRow(
                key.name, key.asked, seq=out.head.seq, time=out.head.time, id=record_id, debt=debt
            )
            for key, record_id in self.new_keys.values()
        ]
        return out

    def act(self, act: Act) -> str:
        key = key_of(act)
        if key is not None and (earlier := self.earlier_write(key)) is not None:
            return earlier or own_id(act)
        match act:
            case Put():
                record_id = self.put(act)
            case Link():
                record_id = self.add_edge(act.source, act.edge, act.salt)
            case Forget():
                record_id = self.forget(act)
            case RegisterAgent():
                record_id = self.register(act)
            case Embed():
                record_id = self.embed(act)
        if key is not None:
            # The row of a forget must not bring the id back that it erases.
            self.new_keys[key.name] = (key, "" if isinstance(act, Forget) else record_id)
        return record_id

    def earlier_write(self, key: Key) -> str | None:
        """The record that this idempotency key wrote before, empty if it was forgotten since.

        None for a new key.
        """
        if key.name in self.new_keys:
            first, record_id = self.new_keys[key.name]
            self.require_same_request(key, first.asked)
            return record_id
        row = self.known_keys.get(key.name)
        if row is None:
            return None
        self.require_same_request(key, row.asked)
        self.replayed.append(row)
        return row.id

    def require_same_request(self, key: Key, earlier: bytes) -> None:
        # Empty after a forget, which deletes the digest: then any request is taken for a retry.
        if earlier and earlier != key.asked:
            raise Conflict(
                f"key {key.name!r} was already used for another write",
                hint="give every write a key of its own; the same key only repeats the same write",
                field="key",
            )

    def next(self) -> int:
        self.seq += 1
        return self.seq

    def chain(self, seq: int, kind: int, entry: bytes) -> None:
        self.link = next_link(self.link, seq, kind, entry)
        self.out.chain.append(ChainRow(seq, kind, entry, self.link))

    def put(self, act: Put) -> str:
        current = self.current.get(act.id)
        if act.replaces is None:
            if current is not None:
                raise Conflict(
                    f"there is a record with id {act.id!r} already",
                    hint="to change that record, use update; for a new one, leave the id out",
                    field="id",
                )
            position = self.positions
            self.positions += 1
        else:
            # Compare-and-set: the writer read this version before the transaction.
            if current is None or current.row != act.replaces:
                raise Conflict(
                    f"another writer changed record {act.id!r} first; nothing was written",
                    hint="read it again, then repeat your change",
                    field="id",
                )
            position = current.position
        row = self.next()
        self.current[act.id] = CurrentRow(row, position)
        record = RecordRow(
            row, position, id=act.id, committed=self.time, salt=act.salt, body=act.body
        )
        self.out.records.append(record)
        self.chain(row, RECORD, record_digest(self.tenant, record))
        self.derived(act, row)
        if act.replaces is None:
            self.refs(act)
        for at, edge in enumerate(act.edges):
            # Derived from the record's salt: settling itself is deterministic.
            self.add_edge(act.id, edge, act.salt[:8] + at.to_bytes(8, "little"))
        return act.id

    def derived(self, act: Put, row: int) -> None:
        """Add the words, vectors, mentions and debts of a new version."""
        for generation, body in act.words:
            checksum = words_sum(self.tenant, row, generation, body)
            self.out.words.append(WordsRow(row, generation, body, checksum))
        for vector in act.vectors:
            self.vector(row, vector, act.salt)
        for entity in act.content.entities:
            seq = self.next()
            checksum = mention_sum(self.tenant, seq, row, entity)
            self.out.mentions.append(MentionRow(seq, row, entity, checksum))
        for generation in act.owes:
            self.out.debts.append(DebtRow(row, generation))

    def vector(self, row: int, vector: Vector, salt: bytes) -> None:
        seq = self.next()
        given = (seq, row, vector.part, vector.generation, vector.form, vector.body)
        kept = VectorRow(*given, sum=vector_sum(self.tenant, VectorRow(*given, sum=b"")))
        self.out.vectors.append(kept)
        # Only a caller's vector is chained: an embedder's ("unit") follows from the record.
        if vector.form != "unit":
            self.chain(seq, VECTOR, vector_digest(self.tenant, kept, salt))

    def refs(self, act: Put) -> None:
        """Add an edge for each ref, to the record at that position, which must exist."""
        if not act.content.refs:
            return
        ids = self.ledger.ids_at(act.content.refs).values()
        # What this batch wrote or erased is newer than what the ledger says.
        unread = [one for one in ids if one not in {*self.current, *self.out.erased_ids}]
        self.current.update(self.ledger.current_rows(unread))
        known = {current.position: one for one, current in self.current.items()}
        for at, position in enumerate(act.content.refs):
            target = known.get(position)
            if target is None or target == act.id:
                raise BadRecord(
                    f"refs[{at}]: there is no earlier record at position {position}",
                    hint="give the `position` of a record that browse returns",
                    field="refs",
                )
            # 2**32 keeps these salts apart from those of the edges in `put`.
            salt = act.salt[:8] + (2**32 + at).to_bytes(8, "little")
            self.add_edge(act.id, NewEdge(target, "references"), salt)

    def add_edge(self, source: str, edge: NewEdge, salt: bytes) -> str:
        if source == edge.target and edge.kind in REPLACING:
            raise BadRecord(
                f"{edge.kind}: a memory cannot replace itself",
                hint="give the id of another memory",
                field=edge.kind,
            )
        ends = self.require(source), self.require(edge.target)
        body: dict[str, object] = {
            "source": source,
            "target": edge.target,
            "kind": edge.kind,
            "weight": edge.weight,
            "valid_from": edge.valid_from,
            "valid_until": edge.valid_until,
            "metadata": edge.metadata,
        }
        present = {key: value for key, value in body.items() if value not in (None, {})}
        seq = self.next()
        row = EdgeRow(seq, ends[0].position, ends[1].position, salt, canonical(present))
        self.out.edges.append(row)
        self.chain(seq, EDGE, edge_digest(self.tenant, row))
        return source

    def require(self, record_id: str) -> CurrentRow:
        current = self.current.get(record_id)
        if current is None:
            raise NotFound(
                f"there is no record {record_id!r}",
                hint="use browse to see the records that exist",
                field="id",
            )
        return current

    def forget(self, act: Forget) -> str:
        position = self.require(act.id).position
        if any(record.position == position for record in self.out.records):
            raise BadRecord(
                "a memory cannot be written and forgotten in one batch",
                hint="forget it in a later call",
                field="id",
            )
        rows = self.ledger.rows_at(position)
        edges = self.ledger.edges_at(position)
        # Edges that this batch added are not written, but their links stay in the chain.
        edges += [e.seq for e in self.out.edges if position in (e.source, e.target)]
        self.out.edges = [e for e in self.out.edges if e.seq not in set(edges)]
        seq = self.next()
        vectors = self.ledger.caller_vectors(rows)
        body = canonical({"position": position, "rows": rows, "edges": edges, "vectors": vectors})
        row = TombRow(seq, act.salt, body)
        self.out.tombs.append(row)
        self.chain(seq, TOMBSTONE, tomb_digest(self.tenant, row))
        self.out.erased_rows.extend(rows)
        self.out.erased_edges.extend(edges)
        self.out.erased_ids.append(act.id)
        self.new_keys = {
            name: (key, "" if wrote == act.id else wrote)
            for name, (key, wrote) in self.new_keys.items()
        }
        del self.current[act.id]
        return act.id

    def register(self, act: RegisterAgent) -> str:
        row = AgentRow(self.next(), act.agent, act.salt, act.body)
        self.out.agents.append(row)
        self.chain(row.seq, AGENT, agent_digest(self.tenant, row))
        return act.agent

    def embed(self, act: Embed) -> str:
        # The record may have been forgotten while its vector was computed.
        if act.row in self.ledger.alive([act.row]):
            if act.vector is not None:
                self.vector(act.row, act.vector, b"")
            self.out.paid.append(DebtRow(act.row, act.generation))
        return ""
