"""What the log says inside a write transaction, and the writing of a settled batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from recollect.store.port import Head
from recollect.store.rows import KeyRow
from recollect.store.settle import Place, Settled


def head_of(db: apsw.Connection, tenant: str) -> tuple[int | None, Head]:
    """(number of the tenant, its head); None for a tenant that never wrote."""
    found = db.execute(
        "SELECT tenant, seq, time, positions, link, published FROM tenants WHERE name=?", (tenant,)
    ).fetchone()
    return (found[0], Head(*found[1:])) if found else (None, Head())


def number_of(db: apsw.Connection, tenant: str) -> int:
    """The number of a tenant, given on its first write."""
    number, _ = head_of(db, tenant)
    if number is None:
        db.execute("INSERT INTO tenants VALUES (NULL,?,0,0,0,x'',0)", (tenant,))
        number = db.last_insert_rowid()
    return number


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

    def __init__(self, db: apsw.Connection, tenant: int | None) -> None:
        self._db = db
        self._tenant = -1 if tenant is None else tenant

    def _among(self, sql: str, values: Sequence[str | int]) -> Iterable[tuple[Any, ...]]:
        """The rows that a query finds for any of these values, which lead the join as JSON."""
        return self._db.execute(sql, (self._tenant, json.dumps(values))) if values else ()

    def places(self, ids: Sequence[str]) -> dict[str, Place]:
        """Where these records stand."""
        sql = """
            SELECT r.id, r.row, r.position FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.id=j.value ORDER BY r.row"""
        return {row[0]: Place(row[1], row[2]) for row in self._among(sql, ids)}  # the last wins

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

    def alive(self, rows: Sequence[int]) -> set[int]:
        """Those of these rows that were not forgotten."""
        sql = """
            SELECT r.row FROM json_each(?2) j CROSS JOIN records r
            ON r.tenant=?1 AND r.row=j.value"""
        return {row[0] for row in self._among(sql, rows)}

    def keys(self, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these keys."""
        sql = """
            SELECT k.key, k.asked, k.seq, k.time, k.id, k.debt FROM json_each(?2) j
            CROSS JOIN keys k ON k.tenant=?1 AND k.key=j.value"""
        return {row[0]: KeyRow(*row) for row in self._among(sql, names)}


def write(db: apsw.Connection, tenant: int, new: Settled) -> None:
    """Write a settled batch; the caller holds the transaction."""
    _erase(db, tenant, new)
    spaces = {w.generation for w in new.words} | {v.generation for v in new.vectors}
    spaces |= {d.generation for d in new.debts} | {d.generation for d in new.paid}
    number = {space: generation_of(db, space) for space in sorted(spaces)}
    many = db.executemany
    many("INSERT INTO chain VALUES (?,?,?,?,?)", ((tenant, *row) for row in new.chain))
    many("INSERT INTO records VALUES (?,?,?,?,?,?,?)", ((tenant, *row) for row in new.records))
    many(
        "INSERT INTO words VALUES (?,?,?,?,?)",
        ((tenant, number[w.generation], w.row, w.body, w.sum) for w in new.words),
    )
    many(
        "INSERT INTO vectors VALUES (?,?,?,?,?,?,?,?)",
        (
            (tenant, v.seq, v.row, v.part, number[v.generation], v.form, v.body, v.sum)
            for v in new.vectors
        ),
    )
    many("INSERT INTO mentions VALUES (?,?,?,?,?)", ((tenant, *row) for row in new.mentions))
    many("INSERT INTO edges VALUES (?,?,?,?,?,?)", ((tenant, *row) for row in new.edges))
    many("INSERT INTO agents VALUES (?,?,?,?,?)", ((tenant, *row) for row in new.agents))
    many("INSERT INTO tombs VALUES (?,?,?,?)", ((tenant, *row) for row in new.tombs))
    many("INSERT INTO keys VALUES (?,?,?,?,?,?,?)", ((tenant, *row) for row in new.keys))
    many(
        "INSERT INTO debts VALUES (?,?,?)",
        ((tenant, d.row, number[d.generation]) for d in new.debts),
    )
    many(
        "DELETE FROM debts WHERE tenant=? AND row=? AND generation=?",
        ((tenant, d.row, number[d.generation]) for d in new.paid),
    )
    if not new.advances:
        return
    head = new.head
    db.execute("INSERT INTO commits VALUES (?,?,?)", (tenant, head.seq, head.time))
    db.execute(
        "UPDATE tenants SET seq=?, time=?, positions=?, link=? WHERE tenant=?",
        (head.seq, head.time, head.positions, head.link, tenant),
    )


def _erase(db: apsw.Connection, tenant: int, new: Settled) -> None:
    """Delete what a forget erases; `secure_delete` overwrites it in the file."""
    rows = [(tenant, row) for row in new.erased_rows]
    for sql in (
        "DELETE FROM records WHERE tenant=? AND row=?",
        "DELETE FROM words WHERE tenant=? AND row=?",
        "DELETE FROM vectors WHERE tenant=? AND row=?",
        "DELETE FROM mentions WHERE tenant=? AND row=?",
        "DELETE FROM debts WHERE tenant=? AND row=?",
    ):
        db.executemany(sql, rows)
    edges = [(tenant, seq) for seq in new.erased_edges]
    db.executemany("DELETE FROM edges WHERE tenant=? AND seq=?", edges)
    ids = [(tenant, record_id) for record_id in new.erased_ids]
    db.executemany("UPDATE keys SET asked=x'' WHERE tenant=? AND id=?", ids)
