"""What the log says inside a write transaction, and the writing of a settled batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import apsw

from memoriter.core.batch import Commit
from memoriter.core.errors import Corrupt
from memoriter.core.times import to_datetime
from memoriter.store.port import Dump, Head
from memoriter.store.rows import (
    CommitRow,
    DebtRow,
    KeyRow,
    VectorRow,
    WordsRow,
    bookkeeping_sum,
    check_bookkeeping,
)
from memoriter.store.sequence import CurrentRow, Sequenced
from memoriter.store.sqlite.reader import HEAD, KEYS, NUMBER, checked_head

_BEYOND: Final = ", EXISTS (SELECT 1 FROM records WHERE tenant=t.tenant AND position>=t.positions)"
_HEAD: Final = HEAD.format(more=_BEYOND)


def head_of(db: apsw.Connection, tenant: str) -> tuple[int | None, Head]:
    """(number of the tenant, its head, checked); None for a tenant that never wrote."""
    found = db.execute(_HEAD, (tenant,)).fetchone()
    if found is None:
        return None, Head()
    number, *told, beyond = found
    head = checked_head(tenant, *told)
    if beyond:
        raise Corrupt(
            f"tenant {tenant!r} has records at position {head.positions} or later, not yet given",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return number, head


def number_of(db: apsw.Connection, tenant: str) -> int:
    """The number of a tenant, given on its first write."""
    found = db.execute(NUMBER, (tenant,)).fetchone()
    if found is None:
        db.execute("INSERT INTO tenants VALUES (NULL,?,0,0,0,x'',0)", (tenant,))
        return db.last_insert_rowid()
    return found[0]


def generation_of(db: apsw.Connection, fingerprint: str) -> int:
    """The number of a generation, given on its first use."""
    found = db.execute(
        "SELECT generation FROM generations WHERE fingerprint=?", (fingerprint,)
    ).fetchone()
    if found is None:
        db.execute("INSERT INTO generations VALUES (NULL,?)", (fingerprint,))
        return db.last_insert_rowid()
    return found[0]


class SqliteLedger:
    """The `Ledger` of one tenant over an open write transaction."""

    def __init__(self, db: apsw.Connection, name: str, tenant: int | None) -> None:
        self._db = db
        self._name = name
        self._tenant = -1 if tenant is None else tenant

    def _among(self, sql: str, values: Sequence[str | int]) -> Iterable[tuple[Any, ...]]:
        """The rows that a query finds for any of these values, which lead the join as JSON."""
        return self._db.execute(sql, (self._tenant, json.dumps(values))) if values else ()

    def places(self, ids: Sequence[str]) -> dict[str, CurrentRow]:
        """Where these records stand."""
        sql = """
            SELECT r.id, r.row, r.position FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.id=j.value ORDER BY r.row"""
        return {
            row[0]: CurrentRow(row[1], row[2]) for row in self._among(sql, ids)
        }  # the last wins

    def ids_at(self, positions: Sequence[int]) -> dict[int, str]:
        """The records at these positions."""
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
        """What was written under these keys."""
        found = self._among(KEYS, names)
        return {row[0]: check_bookkeeping(self._name, KeyRow(*row[:-1]), row[-1]) for row in found}


def write(db: apsw.Connection, tenant: str, new: Sequenced) -> None:
    """Write a settled batch; the caller holds the transaction."""
    number = number_of(db, tenant)
    _erase(db, tenant, number, new)
    spaces = {w.generation for w in new.words} | {v.generation for v in new.vectors}
    spaces |= {d.generation for d in new.debts} | {d.generation for d in new.paid}
    space = {name: generation_of(db, name) for name in sorted(spaces)}
    rows: dict[str, Sequence[tuple[apsw.SQLiteValue, ...]]] = {
        "chain": new.chain,
        "records": new.records,
        "words": [(space[w.generation], w.row, w.body, w.sum) for w in new.words],
        "vectors": [
            (v.seq, v.row, v.part, space[v.generation], v.form, v.body, v.sum) for v in new.vectors
        ],
        "mentions": new.mentions,
        "edges": new.edges,
        "agents": new.agents,
        "tombs": new.tombs,
        "keys": [(*key, bookkeeping_sum(tenant, key)) for key in new.keys],
        "debts": [(d.row, space[d.generation], bookkeeping_sum(tenant, d)) for d in new.debts],
        "commits": _commit_rows(
            tenant, [CommitRow(new.head.seq, new.head.time)] if new.advances else []
        ),
    }
    for table, values in rows.items():
        insert(db, table, number, values)
    paid = [(number, debt.row, space[debt.generation]) for debt in new.paid]
    if paid:
        db.executemany("DELETE FROM debts WHERE tenant=? AND row=? AND generation=?", paid)
    head = new.head
    db.execute(
        "UPDATE tenants SET seq=?, time=?, positions=?, link=? WHERE tenant=?",
        (head.seq, head.time, head.positions, head.link, number),
    )


def _commit_rows(tenant: str, commits: Sequence[CommitRow]) -> list[tuple[apsw.SQLiteValue, ...]]:
    return [(*commit, bookkeeping_sum(tenant, commit)) for commit in commits]


def insert(
    db: apsw.Connection, table: str, tenant: int, rows: Sequence[tuple[apsw.SQLiteValue, ...]]
) -> None:
    """Add rows of one tenant to one of our own tables."""
    if rows:
        marks = ",".join("?" * (len(rows[0]) + 1))
        sql = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608  # a table of ours
        db.executemany(sql, [(tenant, *row) for row in rows])


def rewrite_commits(db: apsw.Connection, tenant: str, commits: Sequence[CommitRow]) -> None:
    """Give a restored tenant the commits it came with."""
    number = number_of(db, tenant)
    db.execute("DELETE FROM commits WHERE tenant=?", (number,))
    insert(db, "commits", number, _commit_rows(tenant, commits))


def mend(
    db: apsw.Connection, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]
) -> None:
    """Write derived rows anew: words as given, vectors as debts."""
    number = number_of(db, tenant)
    space = {name: generation_of(db, name) for name in sorted({row.generation for row in words})}
    db.executemany(
        # A row that was forgotten since it was read gets no words.
        "INSERT OR REPLACE INTO words SELECT tenant, ?, row, ?, ? FROM records "
        "WHERE tenant=? AND row=?",
        [(space[row.generation], row.body, row.sum, number, row.row) for row in words],
    )
    for vector in lost:
        debt = DebtRow(vector.row, vector.generation)
        place = generation_of(db, vector.generation)
        gone = (number, place, vector.seq, vector.row)
        db.execute("DELETE FROM vectors WHERE tenant=? AND generation=? AND seq=? AND row=?", gone)
        told = (number, debt.row, place, bookkeeping_sum(tenant, debt))
        db.execute("INSERT OR REPLACE INTO debts VALUES (?,?,?,?)", told)


def drop_space(db: apsw.Connection, fingerprint: str) -> None:
    """Delete the words of a generation, and its name unless something else is in it."""
    number = generation_of(db, fingerprint)
    db.execute("DELETE FROM words WHERE generation=?", (number,))
    db.execute(
        "DELETE FROM generations WHERE generation=? AND NOT EXISTS "
        "(SELECT 1 FROM vectors WHERE vectors.generation=generations.generation) AND NOT EXISTS "
        "(SELECT 1 FROM debts WHERE debts.generation=generations.generation)",
        (number,),
    )


def _erase(db: apsw.Connection, tenant: str, number: int, new: Sequenced) -> None:
    """Delete what a forget erases; `secure_delete` overwrites it in the file."""
    if not new.tombs:
        return
    rows = [(number, row) for row in new.erased_rows]
    for table in ("records", "words", "vectors", "mentions", "debts"):
        db.executemany(f"DELETE FROM {table} WHERE tenant=? AND row=?", rows)  # noqa: S608  # our own
    edges = [(number, seq) for seq in new.erased_edges]
    db.executemany("DELETE FROM edges WHERE tenant=? AND seq=?", edges)
    for record_id in new.erased_ids:
        sql = "SELECT key, asked, seq, time, id, debt FROM keys WHERE tenant=? AND id=?"
        found: list[Any] = db.execute(sql, (number, record_id)).fetchall()
        for row in found:
            blank = KeyRow(*row)._replace(asked=b"")
            told = (blank.asked, bookkeeping_sum(tenant, blank), number, blank.key)
            db.execute("UPDATE keys SET asked=?, sum=? WHERE tenant=? AND key=?", told)


def rows_to_restore(tenant: str, dump: Dump) -> Sequenced:
    """A whole tenant as rows to write."""
    return Sequenced(
        replace(dump.head, published=0),
        Commit(tenant, dump.head.seq, to_datetime(dump.head.time), ()),
        list(dump.records), list(dump.words), list(dump.vectors), list(dump.mentions),
        list(dump.edges), list(dump.agents), list(dump.tombs), list(dump.chain), list(dump.keys),
        list(dump.debts),
    )  # fmt: skip
