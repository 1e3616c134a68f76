"""SQL of the write transaction: what `sequence_batch` reads, and the rows of its result.

Called by `Sqlite` on its write connection; nothing here begins or ends a transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import apsw

from memoriter.store.checks import (
    checked_head,
    erasure_sum,
    manifest_of,
    manifest_row,
    unassigned_position,
)
from memoriter.store.port import Dump, Head, Manifest, TenantRows
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
from memoriter.store.sqlite.reader import HEAD, KEYS, MANIFEST, NUMBER
from memoriter.store.sqlite.schema import ERASURES
from memoriter.store.stretches import rows_to_append

_BEYOND: Final = ", EXISTS (SELECT 1 FROM records WHERE tenant=t.tenant AND position>=t.positions)"
_HEAD: Final = HEAD.format(more=_BEYOND)


def head_of(db: apsw.Connection, tenant: str) -> tuple[int | None, Head]:
    """(number of the tenant, its head); (None, empty head) for a tenant that never wrote.

    Raises Corrupt if the head contradicts the log.
    """
    row = db.execute(_HEAD, (tenant,)).fetchone()
    if row is None:
        return None, Head()
    number, *fields, beyond = row
    head = checked_head(tenant, *fields)
    if beyond:
        raise unassigned_position(tenant, head)
    return number, head


def number_of(db: apsw.Connection, tenant: str) -> int:
    """The number of a tenant, assigned on its first write."""
    row = db.execute(NUMBER, (tenant,)).fetchone()
    if row is None:
        db.execute("INSERT INTO tenants VALUES (NULL,?,0,0,0,x'',0)", (tenant,))
        return db.last_insert_rowid()
    return row[0]


def generation_of(db: apsw.Connection, fingerprint: str) -> int:
    """The number of a generation, assigned on its first use."""
    row = db.execute(
        "SELECT generation FROM generations WHERE fingerprint=?", (fingerprint,)
    ).fetchone()
    if row is None:
        db.execute("INSERT INTO generations VALUES (NULL,?)", (fingerprint,))
        return db.last_insert_rowid()
    return row[0]


class SqliteLedger:
    """The `Ledger` of one tenant over an open write transaction."""

    def __init__(self, db: apsw.Connection, name: str, tenant: int | None) -> None:
        self._db = db
        self._name = name
        self._tenant = -1 if tenant is None else tenant

    def _among(self, sql: str, values: Sequence[str | int]) -> Iterable[tuple[Any, ...]]:
        """The rows of a query for any of these values."""
        # Values come as one JSON array: no limit on their number, one prepared statement. CROSS
        # JOIN keeps SQLite from reordering, so each value is looked up in the index.
        return self._db.execute(sql, (self._tenant, json.dumps(values))) if values else ()

    def current_rows(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """The latest version of each of these records."""
        # One step of the index on ids for each, however many versions it has.
        sql = """
            SELECT j.value, r.row, r.position FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.row=(
                SELECT row FROM records WHERE tenant=?1 AND id=j.value ORDER BY row DESC LIMIT 1)"""
        return {row[0]: CurrentRow(row[1], row[2]) for row in self._among(sql, ids)}

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The ids of the records at these positions."""
        sql = """
            SELECT r.position, r.id FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.position=j.value"""
        return {row[0]: row[1] for row in self._among(sql, positions)}

    def rows_at(self, position: int) -> list[int]:
        """All versions of the record at a position."""
        sql = "SELECT row FROM records WHERE tenant=? AND position=? ORDER BY row"
        return [row for (row,) in self._db.execute(sql, (self._tenant, position))]

    def edges_at(self, position: int) -> list[int]:
        """Sequence numbers of all edges that touch a position."""
        sql = (
            "SELECT seq FROM edges WHERE tenant=?1 AND source=?2 "
            "UNION SELECT seq FROM edges WHERE tenant=?1 AND target=?2 ORDER BY seq"
        )
        return [seq for (seq,) in self._db.execute(sql, (self._tenant, position))]

    def caller_vectors(self, rows: Sequence[int]) -> list[int]:
        """Sequence numbers of all vectors that callers gave for these rows."""
        sql = """
            SELECT v.seq FROM json_each(?2) j CROSS JOIN vectors v
            ON v.tenant=?1 AND v.row=j.value AND v.form<>'unit' ORDER BY v.seq"""
        return [row[0] for row in self._among(sql, rows)]

    def alive(self, rows: Sequence[int]) -> set[int]:
        """Those of these rows that were not forgotten."""
        sql = """
            SELECT r.row FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.row=j.value"""
        return {row[0] for row in self._among(sql, rows)}

    def keys(self, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        rows = self._among(KEYS, names)
        return {row[0]: check_bookkeeping(self._name, KeyRow(*row[:-1]), row[-1]) for row in rows}


def write(db: apsw.Connection, tenant: str, new: SequencedBatch) -> int:
    """Write the rows of a sequenced batch, and move the head; returns the tenant's number."""
    number = number_of(db, tenant)
    _erase(db, tenant, number, new)
    commits = [CommitRow(new.head.seq, new.head.time)] if new.advances else []
    tables = {
        "chain": new.chain,
        "records": new.records,
        "words": new.words,
        "vectors": new.vectors,
        "mentions": new.mentions,
        "edges": new.edges,
        "agents": new.agents,
        "tombs": new.tombs,
        "keys": new.keys,
        "debts": new.debts,
        "commits": commits,
    }
    space: dict[str, int] = {}
    for table, rows in tables.items():
        insert(db, table, number, _stored(db, tenant, table, rows, space))
    if new.paid:
        space |= {name: generation_of(db, name) for name in {debt.generation for debt in new.paid}}
        paid = [(number, debt.row, space[debt.generation]) for debt in new.paid]
        db.executemany("DELETE FROM debts WHERE tenant=? AND row=? AND generation=?", paid)
    _move(db, number, new.head)
    return number


def _stored(
    db: apsw.Connection, tenant: str, table: str, rows: Sequence[Any], space: dict[str, int]
) -> Sequence[tuple[apsw.SQLiteValue, ...]]:
    """Rows as a table holds them: generations by number (see `space`), checksums of bookkeeping."""
    if table in ("words", "vectors", "debts"):
        for name in sorted({row.generation for row in rows}.difference(space)):
            space[name] = generation_of(db, name)
    match table:
        case "words":
            return [(space[w.generation], w.row, w.body, w.sum) for w in rows]
        case "vectors":
            return [
                (v.seq, v.row, v.part, space[v.generation], v.form, v.body, v.sum) for v in rows
            ]
        case "debts":
            return [(d.row, space[d.generation], bookkeeping_sum(tenant, d)) for d in rows]
        case "keys" | "commits":
            return [(*row, bookkeeping_sum(tenant, row)) for row in rows]
        case _:
            return rows


def _move(db: apsw.Connection, number: int, head: Head) -> None:
    db.execute(
        "UPDATE tenants SET seq=?, time=?, positions=?, link=? WHERE tenant=?",
        (head.seq, head.time, head.positions, head.link, number),
    )


def insert_tenant(db: apsw.Connection, tenant: str, rows: TenantRows) -> None:
    """Write all rows of an empty tenant, portion by portion."""
    number, space = number_of(db, tenant), dict[str, int]()
    for table in TABLES:
        for some in portions(rows.rows(table)):
            insert(db, table, number, _stored(db, tenant, table, some, space))
    _move(db, number, rows.head)
    mark_erased(db, tenant, rows.head.seq)  # an export holds nothing that was forgotten


def swap_debts(
    db: apsw.Connection, tenant: str, span: tuple[int, int], debts: Sequence[DebtRow]
) -> None:
    """Replace the debts of the rows in a span."""
    number = number_of(db, tenant)
    db.execute("DELETE FROM debts WHERE tenant=? AND row>? AND row<=?", (number, *span))
    insert(db, "debts", number, _stored(db, tenant, "debts", debts, {}))


def insert(
    db: apsw.Connection, table: str, tenant: int, rows: Sequence[tuple[apsw.SQLiteValue, ...]]
) -> None:
    """Insert rows of one tenant into a table whose first column is the tenant."""
    if rows:
        marks = ",".join("?" * (len(rows[0]) + 1))
        sql = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608  # a table of ours
        db.executemany(sql, [(tenant, *row) for row in rows])


def mend(
    db: apsw.Connection, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]
) -> None:
    """Replace words, and turn lost vectors into debts."""
    number = number_of(db, tenant)
    space = {name: generation_of(db, name) for name in sorted({row.generation for row in words})}
    db.executemany(
        # Selects from records, so that a row forgotten since it was read gets no words.
        "INSERT OR REPLACE INTO words SELECT tenant, ?, row, ?, ? FROM records "
        "WHERE tenant=? AND row=?",
        [(space[row.generation], row.body, row.sum, number, row.row) for row in words],
    )
    for vector in lost:
        debt = DebtRow(vector.row, vector.generation)
        generation = generation_of(db, vector.generation)
        key = (number, generation, vector.seq, vector.row)
        db.execute("DELETE FROM vectors WHERE tenant=? AND generation=? AND seq=? AND row=?", key)
        values = (number, debt.row, generation, bookkeeping_sum(tenant, debt))
        db.execute("INSERT OR REPLACE INTO debts VALUES (?,?,?,?)", values)


def drop_space(db: apsw.Connection, fingerprint: str) -> None:
    """Delete the words of a generation, and its name unless vectors or debts use it."""
    number = generation_of(db, fingerprint)
    db.execute("DELETE FROM words WHERE generation=?", (number,))
    db.execute(
        "DELETE FROM generations WHERE generation=? AND NOT EXISTS "
        "(SELECT 1 FROM vectors WHERE vectors.generation=generations.generation) AND NOT EXISTS "
        "(SELECT 1 FROM debts WHERE debts.generation=generations.generation)",
        (number,),
    )


def _erase(db: apsw.Connection, tenant: str, number: int, new: SequencedBatch) -> None:
    """Delete what a forget erases; `PRAGMA secure_delete` overwrites it in the file."""
    if not new.tombs:
        return
    rows = [(number, row) for row in new.erased_rows]
    for table in ("records", "words", "vectors", "mentions", "debts"):
        db.executemany(f"DELETE FROM {table} WHERE tenant=? AND row=?", rows)  # noqa: S608  # our own
    edges = [(number, seq) for seq in new.erased_edges]
    db.executemany("DELETE FROM edges WHERE tenant=? AND seq=?", edges)
    for record_id in new.erased_ids:
        sql = "SELECT key, asked, seq, time, id, debt FROM keys WHERE tenant=? AND id=?"
        keys: list[Any] = db.execute(sql, (number, record_id)).fetchall()
        for row in keys:
            blank = KeyRow(*row)._replace(asked=b"", id="")
            values = (bookkeeping_sum(tenant, blank), number, blank.key)
            db.execute("UPDATE keys SET asked=x'', id='', sum=? WHERE tenant=? AND key=?", values)


def mark_erased(db: apsw.Connection, tenant: str, upto: int) -> None:
    """Record that what was forgotten up to a number is erased from the files."""
    db.execute(ERASURES)
    values = (number_of(db, tenant), upto, erasure_sum(tenant, upto))
    db.execute("INSERT OR REPLACE INTO erasures VALUES (?,?,?)", values)


def swap_manifest(
    db: apsw.Connection, tenant: str, index: str, old: Manifest, new: Manifest
) -> bool:
    """Compare-and-set the manifest of an index; returns whether it was `old`."""
    number = number_of(db, tenant)
    row = db.execute(MANIFEST, (number, index)).fetchone()
    if (manifest_of(tenant, index, *row) if row else Manifest()) != old:
        return False
    db.execute(
        "INSERT OR REPLACE INTO manifests VALUES (?,?,?,?,?)",
        (number, index, *manifest_row(tenant, index, new)),
    )
    # Part of the head: other processes see by it that they must reload their segments.
    db.execute("UPDATE tenants SET published=published+1 WHERE tenant=?", (number,))
    return True


def append(db: apsw.Connection, tenant: str, part: Dump, before: Head) -> None:
    """Write a stretch of another store's log; one without commits moves the head."""
    number = number_of(db, tenant)
    gone = json.dumps([row for tomb in part.tombs for row in read_tomb(tomb).rows])
    sql = (
        "SELECT DISTINCT id FROM records WHERE tenant=? AND row IN (SELECT value FROM json_each(?))"
    )
    ids: list[Any] = db.execute(sql, (number, gone)).fetchall()
    new = rows_to_append(tenant, part, before, [record_id for (record_id,) in ids])
    write(db, tenant, new)
    more = part.commits[:-1] if new.advances else part.commits
    insert(db, "commits", number, _stored(db, tenant, "commits", more, {}))
