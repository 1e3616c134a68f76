"""The rows of one tenant of the store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from memoriter.core.lazy_dataclass import dataclass
from memoriter.store.port import Dump, Head, Manifest, TenantRows
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
from memoriter.store.sequence import CurrentRow, SequencedBatch


@dataclass()
class RamTenant:
    """One tenant's rows, and the `Ledger` that `sequence_batch` reads them through."""

    head: Head = field(default_factory=Head)
    commits: list[CommitRow] = field(default_factory=list[CommitRow])
    records: list[RecordRow] = field(default_factory=list[RecordRow])
    words: list[WordsRow] = field(default_factory=list[WordsRow])
    vector_rows: list[VectorRow] = field(default_factory=list[VectorRow])
    mentions: list[MentionRow] = field(default_factory=list[MentionRow])
    edge_rows: list[EdgeRow] = field(default_factory=list[EdgeRow])
    agent_rows: list[AgentRow] = field(default_factory=list[AgentRow])
    tombs: list[TombRow] = field(default_factory=list[TombRow])
    chain: list[ChainRow] = field(default_factory=list[ChainRow])
    key_rows: list[KeyRow] = field(default_factory=list[KeyRow])
    debt_rows: list[DebtRow] = field(default_factory=list[DebtRow])
    manifests: dict[str, Manifest] = field(default_factory=dict[str, Manifest])
    erased: int = 0
    """Tombstones up to this number are erased."""

    def current_rows(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """The latest version of each of these records."""
        wanted = set(ids)
        return {r.id: CurrentRow(r.row, r.position) for r in self.records if r.id in wanted}

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The ids of the records at these positions."""
        wanted = set(positions)
        return {r.position: r.id for r in self.records if r.position in wanted}

    def rows_at(self, position: int) -> list[int]:
        """All versions of the record at a position."""
        return [r.row for r in self.records if r.position == position]

    def edges_at(self, position: int) -> list[int]:
        """Sequence numbers of all edges that touch a position."""
        return [e.seq for e in self.edge_rows if position in (e.source, e.target)]

    def caller_vectors(self, rows: Sequence[int]) -> list[int]:
        """Sequence numbers of all vectors that callers gave for these rows."""
        return [v.seq for v in self.vector_rows if v.row in set(rows) and v.form != "unit"]

    def alive(self, rows: Sequence[int]) -> set[int]:
        """Those of these rows that were not forgotten."""
        return {r.row for r in self.records} & set(rows)

    def keys(self, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        wanted = set(names)
        return {k.key: k for k in self.key_rows if k.key in wanted}

    def write(self, new: SequencedBatch) -> None:
        """Append the rows of a sequenced batch and delete those that it erases."""
        rows, edges, ids = set(new.erased_rows), set(new.erased_edges), set(new.erased_ids)
        paid = set(new.paid)
        self.records = [r for r in self.records if r.row not in rows] + new.records
        self.words = [w for w in self.words if w.row not in rows] + new.words
        self.vector_rows = [v for v in self.vector_rows if v.row not in rows] + new.vectors
        self.mentions = [m for m in self.mentions if m.row not in rows] + new.mentions
        self.edge_rows = [e for e in self.edge_rows if e.seq not in edges] + new.edges
        debts = [d for d in self.debt_rows if d.row not in rows and d not in paid]
        self.debt_rows = debts + new.debts
        blank = [k._replace(asked=b"", id="") if k.id in ids else k for k in self.key_rows]
        self.key_rows = blank + new.keys
        self.agent_rows += new.agents
        self.tombs += new.tombs
        self.chain += new.chain
        if new.advances:
            self.commits.append(CommitRow(new.head.seq, new.head.time))
        self.head = new.head

    def dump(self) -> Dump:
        """All rows, in their order."""
        return Dump(
            head=self.head,
            commits=list(self.commits),
            chain=list(self.chain),
            records=list(self.records),
            vectors=list(self.vector_rows),
            mentions=list(self.mentions),
            edges=list(self.edge_rows),
            agents=list(self.agent_rows),
            tombs=list(self.tombs),
            keys=sorted(self.key_rows),
            debts=sorted(self.debt_rows),
        )

    @classmethod
    def of(cls, rows: TenantRows) -> RamTenant:
        """A tenant with these rows; what an export holds was not forgotten."""
        return cls(
            head=replace(rows.head, published=0),
            commits=list(rows.rows("commits")),
            records=list(rows.rows("records")),
            vector_rows=list(rows.rows("vectors")),
            mentions=list(rows.rows("mentions")),
            edge_rows=list(rows.rows("edges")),
            agent_rows=list(rows.rows("agents")),
            tombs=list(rows.rows("tombs")),
            chain=list(rows.rows("chain")),
            key_rows=list(rows.rows("keys")),
            debt_rows=list(rows.rows("debts")),
            erased=rows.head.seq,
        )
