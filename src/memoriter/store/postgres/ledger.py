"""SQL of the write transaction: what `sequence_batch` reads, and the rows of its result.

Everything that `sequence_batch` may need for the batches of a group is read in one round trip,
behind the lock on the tenant's head; what it asks for beyond that is read when it asks. READ
COMMITTED is enough: nobody else changes a row of the tenant while its head is locked. The rows of
all batches are written by one statement, at the end or before something else is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, cast

from memoriter.core.batch import Batch, Commit
from memoriter.core.times import to_datetime
from memoriter.store.acts import key_of, named_ids
from memoriter.store.checks import (
    checked_head,
    erasure_sum,
    manifest_of,
    manifest_row,
    unassigned_position,
)
from memoriter.store.port import Dump, Head, Manifest, TenantRows
from memoriter.store.postgres.arrays import BigInts, Blobs, Texts, columns
from memoriter.store.postgres.reader import KEYS, MANIFEST
from memoriter.store.postgres.schema import COLUMNS
from memoriter.store.postgres.wire import Wire
from memoriter.store.rows import (
    TABLES,
    CommitRow,
    DebtRow,
    KeyRow,
    VectorRow,
    WordsRow,
    bookkeeping_sum,
    check_bookkeeping,
    read_tomb,
)
from memoriter.store.sequence import CurrentRow, SequencedBatch
from memoriter.store.snapshots import portions
from memoriter.store.stretches import rows_to_append

_LOCK: Final = """
    SELECT seq, time, positions, link, published FROM memoriter.heads WHERE tenant=%s FOR UPDATE"""
_NEW: Final = """
    INSERT INTO memoriter.heads VALUES (%s, 0, 0, 0, '', 0) ON CONFLICT (tenant) DO NOTHING"""
# A statement of its own, after the lock: the one that waits for the lock still sees the tables as
# they were before it waited.
_BESIDE: Final = """
    SELECT c.seq, c.time, c.sum, l.link,
        EXISTS (SELECT 1 FROM memoriter.records WHERE tenant=%(t)s AND position>=h.positions),
        (SELECT array_agg(fingerprint) FROM memoriter.spaces),
        (SELECT link FROM memoriter.chain
            WHERE tenant=%(t)s AND seq<=%(since)s ORDER BY seq DESC LIMIT 1)
    FROM memoriter.heads h
    LEFT JOIN LATERAL (SELECT seq, time, sum FROM memoriter.commits
        WHERE tenant=h.tenant ORDER BY seq DESC LIMIT 1) c ON true
    LEFT JOIN LATERAL (SELECT link FROM memoriter.chain
        WHERE tenant=h.tenant ORDER BY seq DESC LIMIT 1) l ON true
    WHERE h.tenant=%(t)s"""
_CURRENT: Final = """
    SELECT DISTINCT ON (id) id, row, position FROM memoriter.records
    WHERE tenant=%s AND id=ANY(%s) ORDER BY id, row DESC"""
_MOVE: Final = """
    UPDATE memoriter.heads SET seq=%s, time=%s, positions=%s, link=%s WHERE tenant=%s"""


class PostgresLedger:
    """The `Ledger` of one tenant over an open write transaction, for a group of batches."""

    def __init__(
        self, connection: Wire, tenant: str, batches: Sequence[Batch], *, since: int
    ) -> None:
        self._connection = connection
        self._tenant = tenant
        self._since = since
        self.link_since: bytes | None = None
        """The link that the log has at an earlier entry, `since`."""
        self._unwritten: list[SequencedBatch] = []
        ids = dict.fromkeys(name for batch in batches for name in named_ids(batch.acts))
        acts = (act for batch in batches for act in batch.acts)
        names = dict.fromkeys(key.name for key in map(key_of, acts) if key)
        self.head, self.spaces = self._lock(list(ids), list(names))

    def _lock(self, ids: list[str], names: list[str]) -> tuple[Head, set[str]]:
        """Lock the head, made now for a new tenant, and read what the batches name."""
        db, tenant = self._connection, self._tenant
        while True:
            head = db.execute(_LOCK, (tenant,))
            beside = db.execute(_BESIDE, {"t": tenant, "since": self._since})
            current = db.execute(_CURRENT, (tenant, Texts(ids)))
            keys = db.execute(KEYS, (tenant, Texts(names))) if names else None
            fields = head.fetchone()
            if fields is not None:
                break
            db.execute(_NEW, (tenant,))
        *last, beyond, spaces, self.link_since = beside.fetchone() or (None,) * 7
        checked = checked_head(tenant, *fields, *last)
        if beyond:
            raise unassigned_position(tenant, checked)
        self._current: dict[str, CurrentRow | None] = dict.fromkeys(ids)
        self._current |= {row[0]: CurrentRow(row[1], row[2]) for row in current.fetchall()}
        self._keys: dict[str, KeyRow | None] = dict.fromkeys(names)
        self._keys |= self._checked_keys(keys.fetchall() if keys else [])
        return checked, set(spaces or ())

    def _checked_keys(self, rows: list[Any]) -> dict[str, KeyRow]:
        return {row[0]: check_bookkeeping(self._tenant, KeyRow(*row[:-1]), row[-1]) for row in rows}

    def _all(self, sql: str, *values: object) -> list[Any]:
        self.flush()
        return self._connection.execute(sql, (self._tenant, *values)).fetchall()

    def current_rows(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """The latest version of each of these records."""
        if unread := [name for name in ids if name not in self._current]:
            self._current |= dict.fromkeys(unread)
            rows = self._all(_CURRENT, Texts(unread))
            self._current |= {row[0]: CurrentRow(row[1], row[2]) for row in rows}
        return {name: row for name in ids if (row := self._current[name]) is not None}

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The ids of the records at these positions."""
        sql = (
            "SELECT DISTINCT position, id FROM memoriter.records "
            "WHERE tenant=%s AND position=ANY(%s)"
        )
        return dict(self._all(sql, BigInts(positions)))

    def rows_at(self, position: int) -> list[int]:
        """All versions of the record at a position."""
        sql = "SELECT row FROM memoriter.records WHERE tenant=%s AND position=%s ORDER BY row"
        return [row for (row,) in self._all(sql, position)]

    def edges_at(self, position: int) -> list[int]:
        """Sequence numbers of all edges that touch a position."""
        sql = (
            "SELECT seq FROM memoriter.edges WHERE tenant=%s AND (source=%s OR target=%s) "
            "ORDER BY seq"
        )
        return [seq for (seq,) in self._all(sql, position, position)]

    def caller_vectors(self, rows: Sequence[int]) -> list[int]:
        """Sequence numbers of all vectors that callers gave for these rows."""
        sql = (
            "SELECT seq FROM memoriter.vectors WHERE tenant=%s AND row=ANY(%s) AND form<>'unit' "
            "ORDER BY seq"
        )
        return [seq for (seq,) in self._all(sql, BigInts(rows))]

    def alive(self, rows: Sequence[int]) -> set[int]:
        """Those of these rows that were not forgotten."""
        sql = "SELECT row FROM memoriter.records WHERE tenant=%s AND row=ANY(%s)"
        return {row for (row,) in self._all(sql, BigInts(rows))}

    def keys(self, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        return {name: row for name in names if (row := self._keys[name]) is not None}

    def write(self, new: SequencedBatch) -> None:
        """Take the rows of a sequenced batch; `flush` writes them."""
        if new.tombs or new.paid:  # deletes what was there before, perhaps by this group
            self.flush()
            _erase(self._connection, self._tenant, new)
        self._unwritten.append(new)
        self.head = new.head
        self._current |= dict.fromkeys(new.erased_ids)
        self._current |= {row.id: CurrentRow(row.row, row.position) for row in new.records}
        gone = set(new.erased_ids)
        for name, row in self._keys.items():
            if row is not None and row.id in gone:
                self._keys[name] = row._replace(asked=b"", id="")
        self._keys |= {row.key: row for row in new.keys}

    def flush(self) -> None:
        """Write what was taken since the last time; COMMIT comes after it."""
        new, self._unwritten = self._unwritten, []
        if not new:
            return
        _insert_all(self._connection, self._tenant, new)
        for each in new:
            self._fill((*each.words, *each.vectors, *each.debts, *each.paid))

    def _fill(self, rows: Sequence[WordsRow | VectorRow | DebtRow]) -> None:
        """Register the generations of rows."""
        spaces = {row.generation for row in rows}
        for each in sorted(spaces - self.spaces):
            open_space(self._connection, each)
        self.spaces |= spaces

    def restore(self, rows: TenantRows) -> SequencedBatch:
        """Write all rows of an empty tenant, portion by portion; returns its end."""
        db, tenant, head = self._connection, self._tenant, replace(rows.head, published=0)
        end = SequencedBatch(head, Commit(tenant, head.seq, to_datetime(head.time), ()))
        for table in TABLES:
            for some in portions(rows.rows(table)):
                insert_rows(db, tenant, table, some)
                if table in ("vectors", "debts"):
                    self._fill(some)
                if table == "chain":
                    end.chain = some[-1:]
        _move(db, tenant, head)
        record_erased(db, tenant, head.seq)  # an export holds nothing that was forgotten
        return end

    def append(self, part: Dump) -> SequencedBatch:
        """Write a stretch of another store's log; one without commits moves the head."""
        db, tenant = self._connection, self._tenant
        gone = BigInts(row for tomb in part.tombs for row in read_tomb(tomb).rows)
        sql = "SELECT DISTINCT id FROM memoriter.records WHERE tenant=%s AND row=ANY(%s)"
        ids = [record_id for (record_id,) in self._all(sql, gone)] if gone else []
        new = rows_to_append(tenant, part, self.head, ids)
        self.write(new)
        self.flush()
        insert_rows(db, tenant, "commits", part.commits[:-1] if new.advances else part.commits)
        _move(db, tenant, new.head)
        return new


_WRITTEN: Final = (
    "chain", "records", "words", "vectors", "mentions", "edges", "agents", "tombs", "keys", "debts",
)  # fmt: skip
"""The tables that a batch adds rows to."""


def _insert_all(db: Wire, tenant: str, new: Sequence[SequencedBatch]) -> None:
    """Insert the rows of batches and move the head: all in one statement."""
    rows = {name: [row for each in new for row in getattr(each, name)] for name in _WRITTEN}
    rows["commits"] = [CommitRow(one.head.seq, one.head.time) for one in new if one.advances]
    filled = tuple(table for table in rows if rows[table])
    values = [value for table in filled for value in _values(tenant, table, rows[table])]
    if rows["commits"]:
        head = new[-1].head
        db.execute(_joined(filled), (*values, *_moved(head), tenant))
    elif filled:
        db.execute(_joined(filled[:-1], filled[-1]), values)
    if paid := [debt for each in new for debt in each.paid]:
        db.execute(
            "DELETE FROM memoriter.debts d USING unnest(%s, %s) AS p(row, generation) "
            "WHERE d.tenant=%s AND d.row=p.row AND d.generation=p.generation",
            (BigInts(debt.row for debt in paid), Texts(debt.generation for debt in paid), tenant),
        )


@lru_cache(maxsize=256)
def _joined(tables: tuple[str, ...], last: str | None = None) -> str:
    """One statement that inserts into tables, then into the last one or moves the head."""
    parts = ", ".join(f"in_{table} AS ({_INSERTS[table]})" for table in tables)
    end = _MOVE if last is None else _INSERTS[last]
    return f"WITH {parts} {end}" if parts else end


def _move(db: Wire, tenant: str, head: Head) -> None:
    db.execute(_MOVE, (*_moved(head), tenant))


def _moved(head: Head) -> tuple[object, ...]:
    return (head.seq, head.time, head.positions, head.link)


def insert_rows(db: Wire, tenant: str, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows of one tenant into a table."""
    if rows:
        db.execute(_INSERTS[table], _values(tenant, table, rows))


def _values(tenant: str, table: str, rows: Sequence[Sequence[Any]]) -> tuple[object, ...]:
    """The values of an insert; bookkeeping gets its checksums."""
    if table in ("commits", "keys", "debts"):
        rows = [(*row, bookkeeping_sum(tenant, row)) for row in cast("Sequence[Any]", rows)]
    return (tenant, *columns([kind for _, kind in COLUMNS[table]], rows))


_INSERTS: Final = {
    table: f"INSERT INTO memoriter.{table} SELECT %s::text, * "  # noqa: S608  # tables of ours
    f"FROM unnest({', '.join(f'%s::{kind}[]' for _, kind in kinds)})"
    for table, kinds in COLUMNS.items()
}


def open_space(db: Wire, generation: str) -> None:
    """Register a generation, if it is not."""
    db.execute("INSERT INTO memoriter.spaces VALUES (%s) ON CONFLICT DO NOTHING", (generation,))


def _erase(db: Wire, tenant: str, new: SequencedBatch) -> None:
    """Delete what a forget erases."""
    if not new.tombs:
        return
    rows = BigInts(new.erased_rows)
    for table in ("records", "words", "vectors", "mentions", "debts"):
        sql = f"DELETE FROM memoriter.{table} WHERE tenant=%s AND row=ANY(%s)"  # noqa: S608  # ours
        db.execute(sql, (tenant, rows))
    db.execute(
        "DELETE FROM memoriter.edges WHERE tenant=%s AND seq=ANY(%s)",
        (tenant, BigInts(new.erased_edges)),
    )
    named = db.execute(
        "SELECT key, asked, seq, time, id, debt FROM memoriter.keys WHERE tenant=%s AND id=ANY(%s)",
        (tenant, Texts(new.erased_ids)),
    ).fetchall()
    if named:
        blank = [KeyRow(*row)._replace(asked=b"", id="") for row in named]
        db.execute(
            "UPDATE memoriter.keys k SET asked='', id='', sum=b.sum "
            "FROM unnest(%s, %s) AS b(key, sum) WHERE k.tenant=%s AND k.key=b.key",
            (
                Texts(row.key for row in blank),
                Blobs(bookkeeping_sum(tenant, row) for row in blank),
                tenant,
            ),
        )


def record_erased(db: Wire, tenant: str, upto: int) -> None:
    """Record that what was forgotten up to a number is erased."""
    db.execute(
        "INSERT INTO memoriter.erasures VALUES (%s,%s,%s) "
        "ON CONFLICT (tenant) DO UPDATE SET upto=excluded.upto, sum=excluded.sum",
        (tenant, upto, erasure_sum(tenant, upto)),
    )


def mend_rows(db: Wire, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
    """Replace words, and turn lost vectors into debts."""
    if words:
        words = list({(row.row, row.generation): row for row in words}.values())
        kinds = [kind for _, kind in COLUMNS["words"]]
        # Joined with records, so that a row forgotten since it was read gets no words.
        db.execute(
            "INSERT INTO memoriter.words SELECT r.tenant, w.* "
            "FROM unnest(%s, %s, %s, %s) AS w(row, generation, body, sum) "
            "JOIN memoriter.records r ON r.tenant=%s AND r.row=w.row "
            "ON CONFLICT (tenant, row, generation) "
            "DO UPDATE SET body=excluded.body, sum=excluded.sum",
            (*columns(kinds, words), tenant),
        )
        for generation in sorted({row.generation for row in words}):
            open_space(db, generation)
    for vector in lost:
        debt = DebtRow(vector.row, vector.generation)
        db.execute(
            "DELETE FROM memoriter.vectors WHERE tenant=%s AND generation=%s AND seq=%s AND row=%s",
            (tenant, vector.generation, vector.seq, vector.row),
        )
        db.execute(
            "INSERT INTO memoriter.debts VALUES (%s,%s,%s,%s) "
            "ON CONFLICT (tenant, row, generation) DO UPDATE SET sum=excluded.sum",
            (tenant, *debt, bookkeeping_sum(tenant, debt)),
        )


def replace_debts(db: Wire, tenant: str, span: tuple[int, int], debts: Sequence[DebtRow]) -> None:
    """Replace the debts of the rows in a span."""
    sql = "DELETE FROM memoriter.debts WHERE tenant=%s AND row>%s AND row<=%s"
    db.execute(sql, (tenant, *span))
    insert_rows(db, tenant, "debts", debts)


def replace_manifest(db: Wire, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
    """Compare-and-set the manifest of an index; returns whether it was `old`."""
    row = db.execute(MANIFEST, (tenant, index)).fetchone()
    if (manifest_of(tenant, index, *row) if row else Manifest()) != old:
        return False
    db.execute(
        "INSERT INTO memoriter.manifests VALUES (%s,%s,%s,%s,%s) "
        "ON CONFLICT (tenant, fingerprint) DO UPDATE "
        "SET floor=excluded.floor, segments=excluded.segments, sum=excluded.sum",
        (tenant, index, *manifest_row(tenant, index, new)),
    )
    # Part of the head: other processes see by it that they must reload their segments.
    db.execute("UPDATE memoriter.heads SET published=published+1 WHERE tenant=%s", (tenant,))
    return True
