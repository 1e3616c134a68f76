"""The default store: one SQLite file per memory, any number of processes."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import apsw

from recollect.core.batch import Batch, Commit
from recollect.core.errors import Conflict, Forbidden, NotFound, Unsupported
from recollect.core.record import Record
from recollect.store.lease import Lease
from recollect.store.port import Delta, Dump, Head, Manifest, SegmentRef
from recollect.store.rows import (
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
    check_vector,
    check_words,
    checked,
    read_record,
)
from recollect.store.settle import Settled, settle
from recollect.store.sqlite.connect import connect, create, is_unborn, translated
from recollect.store.sqlite.ledger import SqliteLedger, head_of, number_of, write

STRETCH: Final = 8192
"""How many sequence numbers a delta spans at most."""

_RECORD: Final = "r.row, r.position, r.id, r.committed, r.salt, r.body"
_CHAINED: Final = "JOIN chain c ON c.tenant=r.tenant AND c.seq=r."
_VECTOR: Final = "r.seq, r.row, r.part, g.fingerprint, r.form, r.body, r.sum"
_SPACE: Final = "JOIN generations g ON g.generation=r.generation"


class Sqlite:
    """A log in one SQLite file."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._path = path
        self._pid = os.getpid()
        self.read_only = read_only or not _writable(path)
        if self.read_only and not path.exists():
            raise NotFound(
                f"there is no store at {path}", hint="open it without read_only to make one"
            )
        self._lease = Lease(path.with_name(path.name + ".lock"))
        if not self.read_only and is_unborn(path):
            with contextlib.closing(self._lease), self._lease.held():
                create(path)
        self._local = threading.local()
        self._mutex = threading.Lock()
        self._open: list[apsw.Connection] | None = []
        self._writer: apsw.Connection | None = None
        self._reader()

    # -- connections ---------------------------------------------------------------------------

    def _check(self) -> list[apsw.Connection]:
        if self._pid != os.getpid():
            raise Unsupported(
                "a store cannot be used after fork", hint="open it again in the child process"
            )
        if self._open is None:
            raise Unsupported("the store is closed", hint="open it again")
        return self._open

    def _connect(self) -> apsw.Connection:
        connection = connect(self._path, read_only=self.read_only)
        with self._mutex:
            self._check().append(connection)
        return connection

    def _reader(self) -> apsw.Connection:
        """The connection of this thread."""
        self._check()
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    @contextlib.contextmanager
    def _writing(self) -> Generator[apsw.Connection]:
        """The one writing connection, inside a transaction that commits or leaves no trace."""
        self._check()
        if self.read_only:
            raise Forbidden(
                f"{self._path.name} was opened to read only", hint="open it for writing"
            )
        with self._lease.held(), translated(self._path):
            if self._writer is None:
                self._writer = self._connect()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _snapshot(self) -> Generator[apsw.Connection]:
        """This thread's connection, inside one read transaction."""
        with translated(self._path):
            db = self._reader()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    def _rows(self, sql: str, *values: apsw.SQLiteValue) -> list[Any]:
        """All rows of a query, on this thread's connection."""
        with translated(self._path):
            return self._reader().execute(sql, values).fetchall()

    def close(self) -> None:
        """Close every connection; closing twice is fine."""
        with self._mutex:
            connections, self._open = self._open or [], None
        if self._pid == os.getpid():
            for connection in connections:
                connection.close()
        self._lease.close()

    # -- the log -------------------------------------------------------------------------------

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        return [name for (name,) in self._rows("SELECT name FROM tenants ORDER BY name")]

    def _of(self, tenant: str) -> tuple[int, Head]:
        with translated(self._path):
            number, head = head_of(self._reader(), tenant)
        return -1 if number is None else number, head

    def head(self, tenant: str) -> Head:
        """Where the log of a tenant stands."""
        return self._of(tenant)[1]

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time."""
        sql = "SELECT max(seq) FROM commits WHERE tenant=? AND time<=?"
        ((seq,),) = self._rows(sql, self._of(tenant)[0], time)
        return seq or 0

    def commit(self, batch: Batch) -> Commit:
        """Write a batch in one transaction, durable when it returns."""
        with self._writing() as db:
            number, head = head_of(db, batch.tenant)
            new: Settled = settle(batch, head, SqliteLedger(db, number))
            if not new.is_empty:
                write(db, number_of(db, batch.tenant), new)
            return new.commit

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto], in stretches."""
        while after < upto:
            last = min(after + STRETCH, upto)
            yield self._delta(tenant, after, last, generations)
            after = last

    def _delta(self, tenant: str, after: int, upto: int, generations: tuple[str, str]) -> Delta:
        number = self._of(tenant)[0]
        span = (number, after, upto)
        return Delta(
            upto,
            self._records(tenant, "r.row>? AND r.row<=? ORDER BY r.row", *span),
            {
                row: check_words(tenant, WordsRow(row, generations[0], body, guard))
                for row, body, guard in self._rows(
                    f"SELECT r.row, r.body, r.sum FROM words r {_SPACE} "  # noqa: S608  # constants
                    "WHERE r.tenant=? AND r.row>? AND r.row<=? AND g.fingerprint=?",
                    *span,
                    generations[0],
                )
            },
            self._vectors(
                tenant,
                "r.seq>? AND r.seq<=? AND g.fingerprint=? ORDER BY r.seq",
                *span,
                generations[1],
            ),
            self._edges(tenant, "r.seq>? AND r.seq<=? ORDER BY r.seq", *span),
            self._tombs(tenant, *span),
        )

    def _records(self, tenant: str, condition: str, *values: apsw.SQLiteValue) -> list[Record]:
        sql = (
            f"SELECT {_RECORD}, c.digest FROM records r {_CHAINED}row "  # noqa: S608  # constants
            f"WHERE r.tenant=? AND {condition}"
        )
        return [
            read_record(tenant, RecordRow(*row[:-1]), row[-1]) for row in self._rows(sql, *values)
        ]

    def _vectors(self, tenant: str, condition: str, *values: apsw.SQLiteValue) -> list[VectorRow]:
        sql = f"SELECT {_VECTOR} FROM vectors r {_SPACE} WHERE r.tenant=? AND {condition}"  # noqa: S608  # constants
        return [check_vector(tenant, VectorRow(*row)) for row in self._rows(sql, *values)]

    def _edges(self, tenant: str, condition: str, *values: apsw.SQLiteValue) -> list[EdgeRow]:
        sql = (
            "SELECT r.seq, r.source, r.target, r.salt, r.body, c.digest "  # noqa: S608  # constants
            f"FROM edges r {_CHAINED}seq WHERE r.tenant=? AND {condition}"
        )
        return [checked(tenant, EdgeRow(*row[:-1]), row[-1]) for row in self._rows(sql, *values)]

    def _tombs(self, tenant: str, number: int, after: int, upto: int) -> list[TombRow]:
        sql = (
            f"SELECT r.seq, r.salt, r.body, c.digest FROM tombs r {_CHAINED}seq "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.seq>? AND r.seq<=? ORDER BY r.seq"
        )
        return [
            checked(tenant, TombRow(*row[:-1]), row[-1])
            for row in self._rows(sql, number, after, upto)
        ]

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """These record versions, in the order asked; None where forgotten."""
        number = self._of(tenant)[0]
        wanted = json.dumps(list(dict.fromkeys(rows)))
        among = "r.row IN (SELECT value FROM json_each(?))"
        found = {record.row: record for record in self._records(tenant, among, number, wanted)}
        return [found.get(row) for row in rows]

    def versions(self, tenant: str, record_id: str, upto: int) -> list[Record]:
        """All versions of a record, oldest first."""
        number = self._of(tenant)[0]
        return self._records(tenant, "r.id=? AND r.row<=? ORDER BY r.row", number, record_id, upto)

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version."""
        return self._vectors(tenant, "r.row=? ORDER BY r.seq", self._of(tenant)[0], row)

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges at a position, either end, in sequence."""
        number = self._of(tenant)[0]
        ends = "(r.source=? OR r.target=?) AND r.seq<=? ORDER BY r.seq"
        return self._edges(tenant, ends, number, position, position, upto)

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, by name."""
        sql = (
            f"SELECT r.seq, r.agent, r.salt, r.body, c.digest FROM agents r {_CHAINED}seq "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.seq<=? ORDER BY r.seq"
        )
        rows = self._rows(sql, self._of(tenant)[0], upto)
        latest = {row[1]: checked(tenant, AgentRow(*row[:-1]), row[-1]) for row in rows}
        return [latest[name] for name in sorted(latest)]

    def debts(self, tenant: str, limit: int) -> list[DebtRow]:
        """The oldest debts."""
        sql = (
            f"SELECT r.row, g.fingerprint FROM debts r {_SPACE} WHERE r.tenant=? "  # noqa: S608  # constants
            "ORDER BY r.row, g.fingerprint LIMIT ?"
        )
        return [DebtRow(*row) for row in self._rows(sql, self._of(tenant)[0], limit)]

    # -- published segments --------------------------------------------------------------------

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of an index."""
        sql = "SELECT segments, floor FROM manifests WHERE tenant=? AND fingerprint=?"
        rows = self._rows(sql, self._of(tenant)[0], index)
        return _manifest(*rows[0]) if rows else Manifest()

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the list of segments if it still is `old`."""
        with self._writing() as db:
            number = number_of(db, tenant)
            sql = "SELECT segments, floor FROM manifests WHERE tenant=? AND fingerprint=?"
            found = db.execute(sql, (number, index)).fetchone()
            if (_manifest(*found) if found else Manifest()) != old:
                return False
            segments = json.dumps([asdict(segment) for segment in new.segments])
            db.execute(
                "INSERT OR REPLACE INTO manifests VALUES (?,?,?,?)",
                (number, index, new.floor, segments),
            )
            db.execute("UPDATE tenants SET published=published+1 WHERE tenant=?", (number,))
            return True

    # -- whole tenants -------------------------------------------------------------------------

    def dump(self, tenant: str) -> Dump:
        """The whole tenant as of one moment."""
        with self._snapshot() as db:
            number, head = self._of(tenant)

            def table(columns: str, source: str, order: str) -> list[Any]:
                sql = f"SELECT {columns} FROM {source} WHERE r.tenant=? ORDER BY {order}"  # noqa: S608  # constants
                return db.execute(sql, (number,)).fetchall()

            read = {
                "commits": (CommitRow, "seq, time", "commits r", "seq"),
                "chain": (ChainRow, "seq, kind, digest, link", "chain r", "seq"),
                "records": (RecordRow, _RECORD, "records r", "row"),
                "vectors": (VectorRow, _VECTOR, f"vectors r {_SPACE}", "r.seq"),
                "mentions": (MentionRow, "seq, row, name, sum", "mentions r", "seq"),
                "edges": (EdgeRow, "seq, source, target, salt, body", "edges r", "seq"),
                "agents": (AgentRow, "seq, agent, salt, body", "agents r", "seq"),
                "tombs": (TombRow, "seq, salt, body", "tombs r", "seq"),
                "keys": (KeyRow, "key, asked, seq, time, id, debt", "keys r", "key"),
                "debts": (
                    DebtRow,
                    "r.row, g.fingerprint",
                    f"debts r {_SPACE}",
                    "r.row, g.fingerprint",
                ),
            }
            rows = {
                name: [row(*values) for values in table(*how)] for name, (row, *how) in read.items()
            }
        return Dump(head, **rows)  # pyright: ignore[reportArgumentType]  # one row type per name

    def restore(self, tenant: str, dump: Dump) -> None:
        """Fill a tenant that has never been written to."""
        with self._writing() as db:
            if head_of(db, tenant)[1].seq:
                raise Conflict(
                    f"tenant {tenant!r} holds records already",
                    hint="load into a new tenant or a new store",
                )
            number = number_of(db, tenant)
            write(db, number, _settled(tenant, dump))
            db.execute("DELETE FROM commits WHERE tenant=?", (number,))
            db.executemany(
                "INSERT INTO commits VALUES (?,?,?)", ((number, *c) for c in dump.commits)
            )


def _settled(tenant: str, dump: Dump) -> Settled:
    return Settled(
        replace(dump.head, published=0), Commit(tenant, dump.head.seq, dump.head.time, ()),
        list(dump.records), list(dump.words), list(dump.vectors), list(dump.mentions),
        list(dump.edges), list(dump.agents), list(dump.tombs), list(dump.chain), list(dump.keys),
        list(dump.debts),
    )  # fmt: skip


def _manifest(segments: str, floor: int) -> Manifest:
    return Manifest(tuple(SegmentRef(**segment) for segment in json.loads(segments)), floor)


def _writable(path: Path) -> bool:
    """Whether the file, or its future place, can be written."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
