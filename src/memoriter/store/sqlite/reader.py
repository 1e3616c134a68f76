"""The reading half of the SQLite store: SQL in, checked rows out.

`Sqlite` inherits from `SqliteReader` and provides `_rows`, which runs a query on the thread's
connection.
"""

from __future__ import annotations

import heapq
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

import apsw

from memoriter.core.record import Record
from memoriter.store.checks import checked_head, erasure_sum, manifest_of
from memoriter.store.port import Delta, Dump, Head, Manifest, Unerased
from memoriter.store.rows import (
    AgentRow,
    CommitRow,
    DebtRow,
    EdgeRow,
    KeyRow,
    RecordRow,
    TombRow,
    VectorRow,
    WordsRow,
    check_bookkeeping,
    check_entry,
    check_vector,
    check_words,
    read_record,
)
from memoriter.store.snapshots import StoredRows, in_memory
from memoriter.store.sqlite.schema import OWNED
from memoriter.store.stretches import end_of, head_at, rest_of
from memoriter.store.verify import require_undamaged

DELTA_SPAN: Final = 8192
"""How many sequence numbers a delta spans at most, so that a long log is read in parts."""

_RECORD: Final = "r.row, r.position, r.id, r.committed, r.salt, r.body"
_CHAINED: Final = "LEFT JOIN chain c ON c.tenant=r.tenant AND c.seq=r."
_VECTOR: Final = "r.seq, r.row, r.part, g.fingerprint, r.form, r.body, r.sum"
_SPACE: Final = "JOIN generations g ON g.generation=r.generation"
NUMBER: Final = "SELECT tenant FROM tenants WHERE name=?"
_LAST: Final = "FROM commits NOT INDEXED WHERE tenant=t.tenant ORDER BY seq DESC LIMIT 1"
HEAD: Final = f"""
    SELECT t.tenant, t.seq, t.time, t.positions, t.link, t.published,
        (SELECT seq {_LAST}), (SELECT time {_LAST}), (SELECT sum {_LAST}),
        (SELECT link FROM chain WHERE tenant=t.tenant ORDER BY seq DESC LIMIT 1){{more}}
    FROM tenants t WHERE t.name=?"""  # noqa: S608  # constants; four times as quick as a join
"""A tenant's head, and its last commit and chain link to check it against."""
_HEAD: Final = HEAD.format(more="")
_AT_ONCE: Final = 1000
"""How many records are read by one statement at most."""
KEYS: Final = """
    SELECT k.key, k.asked, k.seq, k.time, k.id, k.debt, k.sum FROM json_each(?2) j
    CROSS JOIN keys k ON k.tenant=?1 AND k.key=j.value"""
MANIFEST: Final = "SELECT segments, floor, sum FROM manifests WHERE tenant=? AND fingerprint=?"


@lru_cache(maxsize=64)
def _records_in(count: int, columns: str = f"{_RECORD}, c.digest") -> str:
    """The statement that reads so many records of a tenant by row: `IN` a list of parameters.

    With the tenant's number by a subquery and without `json_each` it takes half as long.
    """
    return (
        f"SELECT {columns} FROM records r {_CHAINED}row "  # noqa: S608  # constants
        f"WHERE r.tenant=({NUMBER}) AND r.row IN ({','.join('?' * count)})"
    )


class SqliteReader(ABC):
    """The methods of `Log` that read; they are documented there."""

    @abstractmethod
    def _rows(self, sql: str, *values: apsw.SQLiteValue) -> list[Any]:
        """All rows of a query, on this thread's connection."""

    @abstractmethod
    def _each(self, sql: str, *values: apsw.SQLiteValue) -> Iterator[Any]:
        """The rows of a query one by one, within a read transaction."""

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        return [name for (name,) in self._rows("SELECT name FROM tenants ORDER BY name")]

    def _number_of(self, tenant: str) -> int:
        """The number of a tenant; -1 (which has no rows) for one that never wrote."""
        rows = self._rows(NUMBER, tenant)
        return rows[0][0] if rows else -1

    def head(self, tenant: str) -> Head:
        """The end of a tenant's log, checked against its last commit and link."""
        rows = self._rows(_HEAD, tenant)
        return checked_head(tenant, *rows[0][1:]) if rows else Head()

    catch_up = head

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time."""
        sql = (
            "SELECT seq, time, sum FROM commits WHERE tenant=? AND time<=? "
            "ORDER BY time DESC, seq DESC LIMIT 1"
        )
        rows = self._rows(sql, self._number_of(tenant), time)
        return check_bookkeeping(tenant, CommitRow(*rows[0][:-1]), rows[0][-1]).seq if rows else 0

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto], in parts of `DELTA_SPAN` numbers."""
        while after < upto:
            last = min(after + DELTA_SPAN, upto)
            yield self._delta(tenant, after, last, generations)
            after = last

    def _delta(self, tenant: str, after: int, upto: int, generations: tuple[str, str]) -> Delta:
        number = self._number_of(tenant)
        span = (number, after, upto)
        return Delta(
            upto,
            self._records(tenant, "r.row>? AND r.row<=? ORDER BY r.row", *span),
            words={
                row: check_words(tenant, WordsRow(row, generations[0], body, stored_sum))
                for row, body, stored_sum in self._rows(
                    f"SELECT r.row, r.body, r.sum FROM words r {_SPACE} "  # noqa: S608  # constants
                    "WHERE r.tenant=? AND r.row>? AND r.row<=? AND g.fingerprint=?",
                    *span,
                    generations[0],
                )
            },
            vectors=self._vectors(
                tenant,
                "r.seq>? AND r.seq<=? AND g.fingerprint=? ORDER BY r.seq",
                *span,
                generations[1],
            ),
            edges=self._edges(tenant, "r.seq>? AND r.seq<=? ORDER BY r.seq", *span),
            tombs=self._tombs(tenant, *span),
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
        return [
            check_entry(tenant, EdgeRow(*row[:-1]), row[-1]) for row in self._rows(sql, *values)
        ]

    def _tombs(self, tenant: str, number: int, after: int, upto: int) -> list[TombRow]:
        sql = (
            f"SELECT r.seq, r.salt, r.body, c.digest FROM tombs r {_CHAINED}seq "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.seq>? AND r.seq<=? ORDER BY r.seq"
        )
        return [
            check_entry(tenant, TombRow(*row[:-1]), row[-1])
            for row in self._rows(sql, number, after, upto)
        ]

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """The record versions of these rows; None where forgotten."""
        wanted = list(dict.fromkeys(rows))
        known: dict[int, Record] = {}
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            for row in self._rows(_records_in(len(some)), tenant, *some):
                known[row[0]] = read_record(tenant, RecordRow(*row[:-1]), row[-1])
        return [known.get(row) for row in rows]

    def sizes(self, tenant: str, rows: Sequence[int]) -> list[int]:
        """How many bytes each of these record versions takes; 0 where forgotten."""
        known: dict[int, int] = {}
        for first in range(0, len(rows), _AT_ONCE):
            some = rows[first : first + _AT_ONCE]
            known |= self._rows(_records_in(len(some), "r.row, length(r.body)"), tenant, *some)
        return [known.get(row, 0) for row in rows]

    def versions(self, tenant: str, record_id: str, upto: int) -> list[int]:
        """The rows of all versions of a record, oldest first."""
        sql = f"SELECT row FROM records WHERE tenant=({NUMBER}) AND id=? AND row<=? ORDER BY row"  # noqa: S608  # constants
        return [row for (row,) in self._rows(sql, tenant, record_id, upto)]

    def latest(self, tenant: str, record_id: str, upto: int) -> Record | None:
        """The latest version of a record, by one read of the index on ids."""
        number = self._number_of(tenant)
        last = "r.id=? AND r.row<=? ORDER BY r.row DESC LIMIT 1"
        return next(iter(self._records(tenant, last, number, record_id, upto)), None)

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version."""
        return self._vectors(tenant, "r.row=? ORDER BY r.seq", self._number_of(tenant), row)

    def embedded(self, tenant: str) -> Iterator[dict[str, list[int]]]:
        """By generation the rows that have a vector in it, in parts of `DELTA_SPAN` rows."""
        sql = (
            f"SELECT DISTINCT g.fingerprint, r.row FROM vectors r {_SPACE} "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.row>? AND r.row<=?"
        )
        number = self._number_of(tenant)
        last = self._rows("SELECT coalesce(max(row), 0) FROM vectors WHERE tenant=?", number)[0][0]
        for after in range(0, last, DELTA_SPAN):
            part: dict[str, list[int]] = {}
            for generation, row in self._rows(sql, number, after, after + DELTA_SPAN):
                part.setdefault(generation, []).append(row)
            yield part

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges that begin or end at a position, in sequence."""
        number = self._number_of(tenant)
        ends = "(r.source=? OR r.target=?) AND r.seq<=? ORDER BY r.seq"
        return self._edges(tenant, ends, number, position, position, upto)

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, sorted by name."""
        sql = (
            f"SELECT r.seq, r.agent, r.salt, r.body, c.digest FROM agents r {_CHAINED}seq "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.seq<=? ORDER BY r.seq"
        )
        rows = self._rows(sql, self._number_of(tenant), upto)
        latest = {row[1]: check_entry(tenant, AgentRow(*row[:-1]), row[-1]) for row in rows}
        return [latest[name] for name in sorted(latest)]

    def debts(self, tenant: str, limit: int, after: tuple[int, str] = (0, "")) -> list[DebtRow]:
        """The oldest debts after a row and generation."""
        sql = (
            f"SELECT r.row, g.fingerprint, r.sum FROM debts r {_SPACE} "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.row>=? AND (r.row, g.fingerprint)>(?,?) "
            "ORDER BY r.row, g.fingerprint LIMIT ?"
        )
        rows = self._rows(sql, self._number_of(tenant), after[0], *after, limit)
        return [check_bookkeeping(tenant, DebtRow(*row[:-1]), row[-1]) for row in rows]

    def keys(self, tenant: str, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        rows = self._rows(KEYS, self._number_of(tenant), json.dumps(list(names)))
        return {row[0]: check_bookkeeping(tenant, KeyRow(*row[:-1]), row[-1]) for row in rows}

    def words(self, tenant: str) -> Iterator[WordsRow]:
        """The analysed words of every record version; checksums are not checked."""
        sql = (
            f"SELECT r.row, g.fingerprint, r.body, r.sum FROM words r {_SPACE} "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.row>? AND r.row<=? ORDER BY r.row"
        )
        number = self._number_of(tenant)
        last = self._rows("SELECT coalesce(max(row), 0) FROM words WHERE tenant=?", number)[0][0]
        for after in range(0, last, DELTA_SPAN):
            yield from (
                WordsRow(*row) for row in self._rows(sql, number, after, after + DELTA_SPAN)
            )

    def spaces(self) -> list[str]:
        """The fingerprints of all generations."""
        return [name for (name,) in self._rows("SELECT fingerprint FROM generations ORDER BY 1")]

    def known_spaces(self) -> tuple[str, ...]:
        """The same."""
        return tuple(self.spaces())

    def damage(self) -> list[str]:
        """Messages of SQLite's integrity check, and rows without a tenant or generation."""
        messages = self._rows("PRAGMA integrity_check(20)")
        return [message for (message,) in messages if message != "ok"] + self._orphans()

    def _orphans(self) -> list[str]:
        """One message for each missing tenant or generation that rows still refer to."""
        owned = [(table, "tenant") for table in OWNED]
        owned += [(table, "generation") for table in ("words", "vectors", "debts")]
        out: list[str] = []
        for table, parent in owned:
            sql = (
                f"SELECT DISTINCT {parent} FROM {table} "  # noqa: S608  # constants
                f"WHERE {parent} NOT IN (SELECT {parent} FROM {parent}s)"
            )
            out += [f"{table} of {parent} {number}, which is gone" for (number,) in self._rows(sql)]
        return out

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of an index."""
        rows = self._rows(MANIFEST, self._number_of(tenant), index)
        return manifest_of(tenant, index, *rows[0]) if rows else Manifest()

    def manifests(self, tenant: str) -> dict[str, Manifest]:
        """The published segments of every index, by its fingerprint."""
        sql = (
            "SELECT fingerprint, segments, floor, sum FROM manifests WHERE tenant=? "
            "ORDER BY fingerprint"
        )
        rows = self._rows(sql, self._number_of(tenant))
        return {index: manifest_of(tenant, index, *row) for index, *row in rows}

    def unerased(self, tenant: str) -> Unerased:
        """What was forgotten and not erased yet."""
        number, head = self._number_of(tenant), self.head(tenant)
        tombs = self._tombs(tenant, number, self._erased(tenant, number), head.seq)
        if not tombs:
            return Unerased(upto=head.seq)
        sql = "SELECT min(time) FROM commits WHERE tenant=? AND seq>=?"
        return Unerased.of(tombs, self._rows(sql, number, tombs[0].seq)[0][0], head.seq)

    def unerased_tenants(self, tenant: str) -> list[str]:
        """The tenants with something to erase."""
        marked = bool(self._rows("SELECT 1 FROM sqlite_schema WHERE name='erasures'"))
        mark = "(SELECT upto FROM erasures WHERE erasures.tenant=tenants.tenant)"
        sql = (
            "SELECT name FROM tenants WHERE EXISTS (SELECT 1 FROM tombs "  # noqa: S608  # constants
            f"WHERE tombs.tenant=tenants.tenant AND seq>coalesce({mark if marked else 0}, 0))"
        )
        names = sorted({tenant, *(name for (name,) in self._rows(sql))})
        return [each for each in names if self.unerased(each).count]

    def _erased(self, tenant: str, number: int) -> int:
        """The number up to which tombstones are erased; 0 if that is unknown."""
        if not self._rows("SELECT 1 FROM sqlite_schema WHERE name='erasures'"):
            return 0
        rows = self._rows("SELECT upto, sum FROM erasures WHERE tenant=?", number)
        # A damaged mark counts as none: erasing twice does no harm.
        return rows[0][0] if rows and erasure_sum(tenant, rows[0][0]) == rows[0][1] else 0

    def _stretch(self, tenant: str, after: int, limit: int) -> Dump:
        """The rows of the commits after a number; the caller holds a read transaction."""
        number, head = self._number_of(tenant), self.head(tenant)
        sql = "SELECT seq, time FROM commits WHERE tenant=? AND seq>? ORDER BY seq LIMIT ?"
        commits = [CommitRow(*row) for row in self._rows(sql, number, after, limit)]
        if not commits:
            return rest_of(head)
        upto = end_of(commits, after + limit)
        part = require_undamaged(in_memory(self._stored(tenant, (after, upto))))
        sql = (
            f"SELECT r.row, g.fingerprint, r.body, r.sum FROM words r {_SPACE} "  # noqa: S608  # constants
            "WHERE r.tenant=? AND r.row>? AND r.row<=? ORDER BY r.row, g.fingerprint"
        )
        words = [WordsRow(*row) for row in self._rows(sql, number, after, upto)]
        return replace(part, head=head_at(part), words=words)

    def _stored(self, tenant: str, span: tuple[int, int] = (0, 2**62)) -> StoredRows:
        """The rows of a tenant in (after, upto]; to be read within a read transaction."""
        # The head is unchecked, so that a damaged tenant can still be read and `verify_log` names
        # the damage.
        heads = self._rows(_HEAD, tenant)
        number, head = (heads[0][0], Head(*heads[0][1:6])) if heads else (-1, Head())

        def read(table: str) -> Iterator[Any]:
            if table == "vectors":  # their index begins with the generation: no sorting in memory
                every = self._rows("SELECT generation FROM generations")
                parts = [self._each(_VECTORS, number, one, *span) for (one,) in every]
                return heapq.merge(*parts, key=itemgetter(0))
            return self._each(_TABLES[table], number, *span)

        return StoredRows(tenant, head, read)


def _table(columns: str, source: str, order: str = "seq", by: str = "seq") -> str:
    return (
        f"SELECT {columns} FROM {source} "  # noqa: S608  # constants
        f"WHERE r.tenant=? AND r.{by}>? AND r.{by}<=? ORDER BY {order}"
    )


_TABLES: Final = {
    "commits": _table("seq, time, sum", "commits r"),
    "chain": _table("seq, kind, digest, link", "chain r"),
    "records": _table(_RECORD, "records r", "row", "row"),
    "mentions": _table("seq, row, name, sum", "mentions r"),
    "edges": _table("seq, source, target, salt, body", "edges r"),
    "agents": _table("seq, agent, salt, body", "agents r"),
    "tombs": _table("seq, salt, body", "tombs r"),
    "keys": _table("key, asked, seq, time, id, debt, sum", "keys r", "key"),
    "debts": _table(
        "r.row, g.fingerprint, r.sum", f"debts r {_SPACE}", "r.row, g.fingerprint", "row"
    ),
}
"""By table of a tenant: the statement that reads it, in the order of an export."""
_VECTORS: Final = f"""
    SELECT {_VECTOR} FROM vectors r {_SPACE}
    WHERE r.tenant=? AND r.generation=? AND r.seq>? AND r.seq<=? ORDER BY r.seq"""  # noqa: S608  # constants
