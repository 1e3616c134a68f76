"""What only the log can say about a batch: numbers, positions, ends of edges, digests, links.

`settle` runs inside the write transaction of every store, so no two stores can number, link or
refuse differently. It reads through a `Ledger` and returns rows; the store only has to write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

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
from memoriter.core.times import to_datetime
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


@dataclass(frozen=True, slots=True)
class CurrentRow:
    """Where a record stands now."""

    row: int
    position: int


class Ledger(Protocol):
    """What `settle` asks of a store, inside the write transaction."""

    def places(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """Where these records stand; unknown and forgotten ones are left out."""
        ...

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The records at these positions; holes are left out."""
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
class Sequenced:
    """The rows that a batch adds, and what it erases."""

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
        """Whether there is nothing to write: every act was a retry, or had no effect."""
        return not (self.chain or self.vectors or self.paid)

    @property
    def advances(self) -> bool:
        """Whether it takes sequence numbers; a debt paid without a vector takes none."""
        return bool(self.chain or self.vectors)


def settle(batch: Batch, head: Head, ledger: Ledger) -> Sequenced:
    """Number and link a batch, or refuse it whole."""
    return _Settling(batch, head, ledger).run()


class _Settling:
    """One pass over the acts of a batch; lives as long as one transaction."""

    def __init__(self, batch: Batch, head: Head, ledger: Ledger) -> None:
        self.batch = batch
        self.tenant = batch.tenant
        self.ledger = ledger
        self.seq = head.seq
        self.time = max(head.time, batch.now)
        self.positions = head.positions
        self.link = head.link or genesis(batch.tenant)
        self.out = Sequenced(head, Commit(batch.tenant, head.seq, to_datetime(head.time), ()))
        self.places = ledger.places(_ids(batch.acts))
        self.kept = ledger.keys([key.name for key in map(_key, batch.acts) if key])
        self.fresh: dict[str, tuple[Key, str]] = {}
        self.replayed: list[KeyRow] = []

    def run(self) -> Sequenced:
        ids = tuple(self.act(act) for act in self.batch.acts)
        out = self.out
        debt = len(out.debts)
        if out.is_empty and self.replayed:
            first = max(self.replayed, key=lambda row: row.seq)
            out.commit = Commit(self.tenant, first.seq, to_datetime(first.time), ids, first.debt)
            return out
        if out.advances:
            head = out.head
            out.head = Head(self.seq, self.time, self.positions, self.link, head.published)
        out.commit = Commit(self.tenant, out.head.seq, to_datetime(out.head.time), ids, debt)
        out.keys = [
            KeyRow(key.name, key.asked, out.head.seq, out.head.time, record_id, debt)
            for key, record_id in self.fresh.values()
        ]
        return out

    def act(self, act: Act) -> str:
        key = _key(act)
        if key is not None and (again := self.again(key)) is not None:
            return again
        match act:
            case Put():
                record_id = self.put(act)
            case Link():
                record_id = self.tie(act.source, act.tie, act.salt)
            case Forget():
                record_id = self.forget(act)
            case RegisterAgent():
                record_id = self.enrol(act)
            case Embed():
                record_id = self.embed(act)
        if key is not None:
            self.fresh[key.name] = (key, record_id)
        return record_id

    def again(self, key: Key) -> str | None:
        """The record that this key wrote before, if it did."""
        if key.name in self.fresh:
            first, record_id = self.fresh[key.name]
            self.must_match(key, first.asked)
            return record_id
        row = self.kept.get(key.name)
        if row is None:
            return None
        self.must_match(key, row.asked)
        self.replayed.append(row)
        return row.id

    def must_match(self, key: Key, asked: bytes) -> None:
        if asked and asked != key.asked:
            raise Conflict(
                f"key {key.name!r} was used for another write",
                hint="an idempotency key names one write; use a new key for a new one",
                field="key",
            )

    def next(self) -> int:
        self.seq += 1
        return self.seq

    def chain(self, seq: int, kind: int, entry: bytes) -> None:
        self.link = next_link(self.link, seq, kind, entry)
        self.out.chain.append(ChainRow(seq, kind, entry, self.link))

    def put(self, act: Put) -> str:
        standing = self.places.get(act.id)
        if act.replaces is None:
            if standing is not None:
                raise Conflict(
                    f"there is a record with id {act.id!r} already",
                    hint="use update to change it, or leave the id out",
                    field="id",
                )
            position = self.positions
            self.positions += 1
        else:
            if standing is None or standing.row != act.replaces:
                raise Conflict(
                    f"record {act.id!r} was changed meanwhile", hint="try again", field="id"
                )
            position = standing.position
        row = self.next()
        self.places[act.id] = CurrentRow(row, position)
        record = RecordRow(row, position, act.id, self.time, act.salt, act.body)
        self.out.records.append(record)
        self.chain(row, RECORD, record_digest(self.tenant, record))
        self.derived(act, row)
        if act.replaces is None:
            self.refs(act)
        for at, tie in enumerate(act.ties):
            self.tie(act.id, tie, act.salt[:8] + at.to_bytes(8, "little"))
        return act.id

    def derived(self, act: Put, row: int) -> None:
        """Words, vectors, mentions and debts of a new version."""
        for generation, body in act.words:
            checksum = words_sum(self.tenant, row, generation, body)
            self.out.words.append(WordsRow(row, generation, body, checksum))
        for vector in act.vectors:
            self.vector(row, vector, act.salt)
        for entity in act.content.entities:
            seq = self.next()
            checksum = mention_sum(self.tenant, seq, row, entity)
            self.out.mentions.append(MentionRow(seq, row, entity, checksum))
        self.out.debts.extend(DebtRow(row, generation) for generation in act.owes)

    def vector(self, row: int, vector: Vector, salt: bytes) -> None:
        seq = self.next()
        space = f"{vector.generation}\n{vector.form}"
        checksum = vector_sum(self.tenant, (seq, row, vector.part), space, vector.body)
        kept = VectorRow(
            seq, row, vector.part, vector.generation, vector.form, vector.body, checksum
        )
        self.out.vectors.append(kept)
        if vector.form != "unit":
            self.chain(seq, VECTOR, vector_digest(self.tenant, kept, salt))

    def refs(self, act: Put) -> None:
        """Each ref makes an edge to the record at that position, which must exist."""
        if not act.content.refs:
            return
        far = self.ledger.ids_at(act.content.refs).values()
        self.places.update(
            self.ledger.places([r for r in far if r not in {*self.places, *self.out.erased_ids}])
        )
        known = {place.position: rid for rid, place in self.places.items()}
        for at, position in enumerate(act.content.refs):
            target = known.get(position)
            if target is None or target == act.id:
                raise BadRecord(
                    f"refs[{at}]: there is no earlier record at position {position}",
                    hint="refs are positions of records that exist; browse shows them",
                    field="refs",
                )
            salt = act.salt[:8] + (2**32 + at).to_bytes(8, "little")
            self.tie(act.id, NewEdge(target, "references"), salt)

    def tie(self, source: str, tie: NewEdge, salt: bytes) -> str:
        if source == tie.target and tie.kind in REPLACING:
            raise BadRecord(f"{tie.kind}: a record cannot replace itself", field=tie.kind)
        ends = self.place(source), self.place(tie.target)
        body: dict[str, object] = {
            "source": source,
            "target": tie.target,
            "kind": tie.kind,
            "weight": tie.weight,
            "valid_from": tie.valid_from,
            "valid_until": tie.valid_until,
            "metadata": tie.metadata,
        }
        given = {key: value for key, value in body.items() if value not in (None, {})}
        seq = self.next()
        row = EdgeRow(seq, ends[0].position, ends[1].position, salt, canonical(given))
        self.out.edges.append(row)
        self.chain(seq, EDGE, edge_digest(self.tenant, row))
        return source

    def place(self, record_id: str) -> CurrentRow:
        place = self.places.get(record_id)
        if place is None:
            raise NotFound(
                f"there is no record {record_id!r}",
                hint="browse lists the records that exist",
                field="id",
            )
        return place

    def forget(self, act: Forget) -> str:
        place = self.place(act.id)
        fresh = [record.row for record in self.out.records if record.position == place.position]
        if fresh:
            raise BadRecord("a record cannot be written and forgotten in one batch", field="id")
        rows = self.ledger.rows_at(place.position)
        edges = self.ledger.edges_at(place.position)
        edges += [e.seq for e in self.out.edges if place.position in (e.source, e.target)]
        self.out.edges = [e for e in self.out.edges if e.seq not in set(edges)]
        seq = self.next()
        vectors = self.ledger.caller_vectors(rows)
        told = {"position": place.position, "rows": rows, "edges": edges, "vectors": vectors}
        body = canonical(told)
        row = TombRow(seq, act.salt, body)
        self.out.tombs.append(row)
        self.chain(seq, TOMBSTONE, tomb_digest(self.tenant, row))
        self.out.erased_rows.extend(rows)
        self.out.erased_edges.extend(edges)
        self.out.erased_ids.append(act.id)
        del self.places[act.id]
        return act.id

    def enrol(self, act: RegisterAgent) -> str:
        row = AgentRow(self.next(), act.agent, act.salt, act.body)
        self.out.agents.append(row)
        self.chain(row.seq, AGENT, agent_digest(self.tenant, row))
        return act.agent

    def embed(self, act: Embed) -> str:
        if act.row in self.ledger.alive([act.row]):
            if act.vector is not None:
                self.vector(act.row, act.vector, b"")
            self.out.paid.append(DebtRow(act.row, act.generation))
        return ""


def _key(act: Act) -> Key | None:
    return None if isinstance(act, Embed) else act.key


def _ids(acts: tuple[Act, ...]) -> list[str]:
    """Every record that the acts name."""
    found: dict[str, None] = {}
    for act in acts:
        match act:
            case Put():
                found.update(dict.fromkeys((act.id, *(tie.target for tie in act.ties))))
            case Link():
                found.update(dict.fromkeys((act.source, act.tie.target)))
            case Forget():
                found[act.id] = None
            case RegisterAgent() | Embed():
                pass
    return list(found)
