"""The reading half of the store on PostgreSQL: SQL in, checked rows out.

`Postgres` inherits from `PostgresReader`. Every method is one round trip and one snapshot.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from memoriter.core.errors import Corrupt, Unavailable
from memoriter.core.record import Record
from memoriter.kernel.turns import TURNS
from memoriter.store.checks import checked_head, erasure_sum, manifest_of
from memoriter.store.port import Delta, Dump, Head, Manifest, TenantRows, Unerased
from memoriter.store.postgres.arrays import BigInts, Texts
from memoriter.store.postgres.sessions import PgSessions, Statement, each, execute
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
from memoriter.store.stretches import end_of, head_at, rest_of
from memoriter.store.verify import require_undamaged

DELTA_SPAN: Final = 8192
"""How many sequence numbers a delta spans at most, so that a long log is read in parts."""

_RECORD: Final = "r.row, r.position, r.id, r.committed, r.salt, r.body"
_CHAINED: Final = "LEFT JOIN memoriter.chain c ON c.tenant=r.tenant AND c.seq=r."
_VECTOR: Final = "seq, row, part, generation, form, body, sum"
_HEAD: Final = """
    SELECT t.seq, t.time, t.positions, t.link, t.published, c.seq, c.time, c.sum, l.link{more}
    FROM memoriter.heads t
    LEFT JOIN LATERAL (SELECT seq, time, sum FROM memoriter.commits
        WHERE tenant=t.tenant ORDER BY seq DESC LIMIT 1) c ON true
    LEFT JOIN LATERAL (SELECT link FROM memoriter.chain
        WHERE tenant=t.tenant ORDER BY seq DESC LIMIT 1) l ON true
    WHERE t.tenant=%s"""
HEAD: Final = _HEAD.format(more="")
"""A tenant's head, and its last commit and chain link to check it against."""
_HEAD_SINCE: Final = _HEAD.format(
    more=""", (SELECT link FROM memoriter.chain
        WHERE tenant=t.tenant AND seq<=%s ORDER BY seq DESC LIMIT 1)"""
)
"""The same, and the link that an earlier head ended in."""
KEYS: Final = """
    SELECT key, asked, seq, time, id, debt, sum FROM memoriter.keys
    WHERE tenant=%s AND key=ANY(%s)"""
MANIFEST: Final = (
    "SELECT segments, floor, sum FROM memoriter.manifests WHERE tenant=%s AND fingerprint=%s"
)


def _records(condition: str) -> str:
    return (
        f"SELECT {_RECORD}, c.digest FROM memoriter.records r {_CHAINED}row "  # noqa: S608  # constants
        f"WHERE r.tenant=%s AND {condition} ORDER BY r.row"
    )


def _entries(table: str, columns: str, condition: str) -> str:
    return (
        f"SELECT {columns}, c.digest FROM memoriter.{table} r {_CHAINED}seq "  # noqa: S608  # constants
        f"WHERE r.tenant=%s AND {condition} ORDER BY r.seq"
    )


def _all_of(table: str, columns: str, order: str, by: str = "seq") -> str:
    return (
        f"SELECT {columns} FROM memoriter.{table} "  # noqa: S608  # constants
        f"WHERE tenant=%s AND {by}>%s AND {by}<=%s ORDER BY {order}"
    )


_SPAN: Final = "r.seq>%s AND r.seq<=%s"
_RECORDS_IN: Final = _records("r.row>%s AND r.row<=%s")
_RECORDS_AT: Final = _records("r.row=ANY(%s)")
_LATEST: Final = f"{_records('r.id=%s AND r.row<=%s')} DESC LIMIT 1"
_SIZES: Final = "SELECT row, length(body) FROM memoriter.records WHERE tenant=%s AND row=ANY(%s)"
_VERSIONS: Final = "SELECT row FROM memoriter.records WHERE tenant=%s AND id=%s AND row<=%s"
_EDGE: Final = "r.seq, r.source, r.target, r.salt, r.body"
_EDGES_IN: Final = _entries("edges", _EDGE, _SPAN)
_EDGES_AT: Final = _entries("edges", _EDGE, "(r.source=%s OR r.target=%s) AND r.seq<=%s")
_TOMBS_IN: Final = _entries("tombs", "r.seq, r.salt, r.body", _SPAN)
_AGENTS: Final = _entries("agents", "r.seq, r.agent, r.salt, r.body", "r.seq<=%s")
_WORDS_IN: Final = """
    SELECT row, generation, body, sum FROM memoriter.words
    WHERE tenant=%s AND row>%s AND row<=%s AND generation=%s"""
_VECTORS_IN: Final = f"""
    SELECT {_VECTOR} FROM memoriter.vectors
    WHERE tenant=%s AND seq>%s AND seq<=%s AND generation=%s ORDER BY seq"""  # noqa: S608  # constants
_VECTORS_OF: Final = (
    f"SELECT {_VECTOR} FROM memoriter.vectors WHERE tenant=%s AND row=%s ORDER BY seq"  # noqa: S608  # constants
)
_DEBTS: Final = """
    SELECT row, generation, sum FROM memoriter.debts
    WHERE tenant=%s AND (row, generation)>(%s, %s) ORDER BY row, generation LIMIT %s"""
_SEQ_AT: Final = """
    SELECT seq, time, sum FROM memoriter.commits WHERE tenant=%s AND time<=%s
    ORDER BY time DESC, seq DESC LIMIT 1"""
_TABLES: Final = {
    "commits": _all_of("commits", "seq, time, sum", "seq"),
    "chain": _all_of("chain", "seq, kind, digest, link", "seq"),
    "records": _all_of("records", "row, position, id, committed, salt, body", "row", "row"),
    "vectors": _all_of("vectors", _VECTOR, "seq"),
    "mentions": _all_of("mentions", "seq, row, name, sum", "seq"),
    "edges": _all_of("edges", "seq, source, target, salt, body", "seq"),
    "agents": _all_of("agents", "seq, agent, salt, body", "seq"),
    "tombs": _all_of("tombs", "seq, salt, body", "seq"),
    "keys": _all_of("keys", "key, asked, seq, time, id, debt, sum", "key"),
    "debts": _all_of("debts", "row, generation, sum", "row, generation", "row"),
}
"""By table of a tenant: the statement that reads it, in the order of an export."""
_ALL_WORDS: Final = _all_of("words", "row, generation, body, sum", "row, generation", "row")
_COMMITS: Final = """
    SELECT seq, time FROM memoriter.commits WHERE tenant=%s AND seq>%s ORDER BY seq LIMIT %s"""
_MANIFESTS: Final = """
    SELECT fingerprint, segments, floor, sum FROM memoriter.manifests WHERE tenant=%s
    ORDER BY fingerprint"""
_STANDBY: Final = "SELECT pg_is_in_recovery()"
_SEQ: Final = "SELECT seq FROM memoriter.heads WHERE tenant=%s"
_ERASED: Final = "SELECT upto, sum FROM memoriter.erasures WHERE tenant=%s"
_SINCE: Final = "SELECT min(time) FROM memoriter.commits WHERE tenant=%s AND seq>=%s"


class PostgresReader:
    """The methods of `Log` that read; they are documented there."""

    def __init__(self, sessions: PgSessions) -> None:
        self._sessions = sessions
        self._seen: dict[str, Head] = {}
        """By tenant: the last head that this process wrote or read. A standby may be behind it; no
        later answer is, and every later log must continue it."""
        self._promised: dict[str, int] = {}
        """By tenant: how far the primary was when it was last asked; no later answer is behind."""
        self._known_spaces: tuple[str, ...] | None = None
        """As the last commit of this process found or left them."""

    def _rows(self, tenant: str, sql: str, *values: object) -> list[Any]:
        """The rows of one query about a tenant."""
        return self._read(tenant, (sql, (tenant, *values)))[0]

    def _read(self, tenant: str, *queries: Statement) -> list[list[Any]]:
        """The rows of several queries, from a standby that is as far as what was seen."""
        if self._sessions.address.reads == "primary":
            return self._sessions.read(tenant, *queries)
        seq, *answers = self._sessions.read(
            tenant,
            (_SEQ, (tenant,)),
            *queries,
            to="standby",
        )
        known = max(self._seen.get(tenant, Head()).seq, self._promised.get(tenant, 0))
        if (seq[0][0] if seq else 0) < known:
            return self._sessions.read(tenant, *queries)
        return answers

    def _saw(self, tenant: str, head: Head) -> None:
        """Note how far this process knows a tenant's log."""
        if head.seq > self._seen.get(tenant, Head()).seq:
            self._seen[tenant] = head

    def _require_continued(self, tenant: str, before: Head, head: Head, link: bytes | None) -> None:
        """Raise Corrupt if the log does not continue the one that this process knew.

        `link` is the one that the log has now where `before` ended. Then the server was set back,
        or one took over that lacks commits.
        """
        if head.seq < before.seq or (before.seq and link != before.link):
            raise Corrupt(
                f"log entry {before.seq} of tenant {tenant!r} is missing, or is not the one"
                " that this process read before",
                hint=f"{self._sessions.at} was restored to an earlier state, or another server took"
                " over without the last commits; check which memories are lost before you write,"
                " then open the store again",
            )

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        rows = self._sessions.every_head(
            ("SELECT tenant FROM memoriter.heads WHERE seq>0 OR published>0 ORDER BY tenant", ())
        )
        return [name for (name,) in rows]

    def head(self, tenant: str) -> Head:
        """The end of a tenant's log, checked against its last commit and link and what was seen."""
        before = self._seen.get(tenant, Head())
        rows = TURNS.beside(lambda: self._read(tenant, (_HEAD_SINCE, (before.seq, tenant))))[0]
        head = checked_head(tenant, *rows[0][:-1]) if rows else Head()
        if head.seq < before.seq and self._sessions.read(tenant, (_STANDBY, ()))[0][0][0]:
            raise self._not_there_yet(tenant, before.seq)
        self._require_continued(tenant, before, head, rows[0][-1] if rows else None)
        self._saw(tenant, head)
        return head

    def ends(self, tenants: Sequence[str]) -> dict[str, tuple[int, int]]:
        """How far some tenants are: the last entry, and how often segments were published."""
        sql = "SELECT tenant, seq, published FROM memoriter.heads WHERE tenant=ANY(%s)"
        rows = self._sessions.every_head((sql, (Texts(tenants),)), self._sessions.address.reads)
        return {tenant: (seq, published) for tenant, seq, published in rows}

    def catch_up(self, tenant: str) -> Head:
        """The same from the primary; if that cannot be reached, as the standby has it."""
        if self._sessions.address.reads == "standby":
            with contextlib.suppress(Unavailable):
                rows = self._sessions.read(tenant, (_SEQ, (tenant,)))[0]
                self._promised[tenant] = rows[0][0] if rows else 0
        return self.head(tenant)

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time."""
        rows = self._rows(tenant, _SEQ_AT, time)
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
        span = (tenant, after, upto)
        statements: list[Statement] = [
            ("SELECT seq FROM memoriter.heads WHERE tenant=%s", (tenant,)),
            (_RECORDS_IN, span),
            (_WORDS_IN, (*span, generations[0])),
            (_VECTORS_IN, (*span, generations[1])),
            (_EDGES_IN, span),
            (_TOMBS_IN, span),
        ]
        head, records, words, vectors, edges, tombs = self._read(tenant, *statements)
        # In the same snapshot as the entries: a server that is behind must not answer with less.
        if not head or head[0][0] < upto:
            raise self._not_there_yet(tenant, upto)
        return Delta(
            upto,
            [read_record(tenant, RecordRow(*row[:-1]), row[-1]) for row in records],
            words={row[0]: check_words(tenant, WordsRow(*row)) for row in words},
            vectors=[check_vector(tenant, VectorRow(*row)) for row in vectors],
            edges=[check_entry(tenant, EdgeRow(*row[:-1]), row[-1]) for row in edges],
            tombs=[check_entry(tenant, TombRow(*row[:-1]), row[-1]) for row in tombs],
        )

    def _not_there_yet(self, tenant: str, seq: int) -> Unavailable:
        return Unavailable(
            f"{self._sessions.at} does not have log entry {seq} of tenant {tenant!r} yet",
            hint="try again; a standby follows its primary within moments",
        )

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """The record versions of these rows; None where forgotten."""
        wanted = BigInts(dict.fromkeys(rows))
        kept = TURNS.beside(lambda: self._rows(tenant, _RECORDS_AT, wanted)) if rows else []
        records = {row[0]: read_record(tenant, RecordRow(*row[:-1]), row[-1]) for row in kept}
        return [records.get(row) for row in rows]

    def sizes(self, tenant: str, rows: Sequence[int]) -> list[int]:
        """How many bytes each of these record versions takes; 0 where forgotten."""
        known = dict(self._rows(tenant, _SIZES, BigInts(rows))) if rows else {}
        return [known.get(row, 0) for row in rows]

    def versions(self, tenant: str, record_id: str, upto: int) -> list[int]:
        """The rows of all versions of a record, oldest first."""
        return sorted(row for (row,) in self._rows(tenant, _VERSIONS, record_id, upto))

    def latest(self, tenant: str, record_id: str, upto: int) -> Record | None:
        """The latest version of a record, by one read of the index on ids."""
        rows = self._rows(tenant, _LATEST, record_id, upto)
        return next((read_record(tenant, RecordRow(*row[:-1]), row[-1]) for row in rows), None)

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version."""
        rows = self._rows(tenant, _VECTORS_OF, row)
        return [check_vector(tenant, VectorRow(*each)) for each in rows]

    def embedded(self, tenant: str) -> Iterator[dict[str, list[int]]]:
        """By generation the rows that have a vector in it, in parts of `DELTA_SPAN` rows."""
        sql = (
            "SELECT DISTINCT generation, row FROM memoriter.vectors "
            "WHERE tenant=%s AND row>%s AND row<=%s"
        )
        last = "SELECT coalesce(max(row), 0) FROM memoriter.vectors WHERE tenant=%s"
        for after in range(0, self._rows(tenant, last)[0][0], DELTA_SPAN):
            part: dict[str, list[int]] = {}
            for generation, row in self._rows(tenant, sql, after, after + DELTA_SPAN):
                part.setdefault(generation, []).append(row)
            yield part

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges that begin or end at a position, in sequence."""
        rows = self._rows(tenant, _EDGES_AT, position, position, upto)
        return [check_entry(tenant, EdgeRow(*row[:-1]), row[-1]) for row in rows]

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, sorted by name."""
        rows = self._rows(tenant, _AGENTS, upto)
        latest = {row[1]: check_entry(tenant, AgentRow(*row[:-1]), row[-1]) for row in rows}
        return [latest[name] for name in sorted(latest)]

    def debts(self, tenant: str, limit: int, after: tuple[int, str] = (0, "")) -> list[DebtRow]:
        """The oldest debts after a row and generation."""
        rows = self._rows(tenant, _DEBTS, *after, limit)
        return [check_bookkeeping(tenant, DebtRow(*row[:-1]), row[-1]) for row in rows]

    def keys(self, tenant: str, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        rows = self._rows(tenant, KEYS, Texts(names)) if names else []
        return {row[0]: check_bookkeeping(tenant, KeyRow(*row[:-1]), row[-1]) for row in rows}

    def words(self, tenant: str) -> Iterator[WordsRow]:
        """The analysed words of every record version; checksums are not checked."""
        last = "SELECT coalesce(max(row), 0) FROM memoriter.words WHERE tenant=%s"
        for after in range(0, self._rows(tenant, last)[0][0], DELTA_SPAN):
            rows = self._rows(tenant, _ALL_WORDS, after, after + DELTA_SPAN)
            yield from (WordsRow(*row) for row in rows)

    def spaces(self) -> list[str]:
        """The fingerprints of all generations."""
        rows = self._sessions.read("", ("SELECT fingerprint FROM memoriter.spaces ORDER BY 1", ()))
        return [name for (name,) in rows[0]]

    def known_spaces(self) -> tuple[str, ...]:
        """The same, as they were at the last commit of this process: no round trip."""
        if self._known_spaces is None:
            self._known_spaces = tuple(sorted(self.spaces()))
        return self._known_spaces

    def damage(self) -> list[str]:
        """Always empty: the server checks its own pages (`data_checksums`, `pg_amcheck`)."""
        self._sessions.check()
        return []

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of an index."""
        rows = self._rows(tenant, MANIFEST, index)
        return manifest_of(tenant, index, *rows[0]) if rows else Manifest()

    def manifests(self, tenant: str) -> dict[str, Manifest]:
        """The published segments of every index, by its fingerprint."""
        rows = self._rows(tenant, _MANIFESTS)
        return {index: manifest_of(tenant, index, *row) for index, *row in rows}

    def unerased(self, tenant: str) -> Unerased:
        """What was forgotten and not erased yet."""
        heads, marks = self._read(tenant, (HEAD, (tenant,)), (_ERASED, (tenant,)))
        head = checked_head(tenant, *heads[0]) if heads else Head()
        # A damaged mark counts as none: erasing twice does no harm.
        sound = [upto for upto, kept in marks if erasure_sum(tenant, upto) == kept]
        rows = self._rows(tenant, _TOMBS_IN, sound[0] if sound else 0, head.seq)
        tombs = [check_entry(tenant, TombRow(*row[:-1]), row[-1]) for row in rows]
        if not tombs:
            return Unerased(upto=head.seq)
        return Unerased.of(tombs, self._rows(tenant, _SINCE, tombs[0].seq)[0][0], head.seq)

    def unerased_tenants(self, tenant: str) -> list[str]:
        """The tenant, if it has something to erase; others are looked at when they are used."""
        return [tenant] if self.unerased(tenant).count else []

    @contextlib.contextmanager
    def snapshot(self, tenant: str) -> Generator[TenantRows]:
        """All rows of a tenant at one moment, in a transaction that lasts as long as the block."""
        with self._sessions.snapshot(tenant) as db:
            # The head unchecked, so that a damaged tenant can still be read and `verify_log` names
            # the damage.
            heads = execute(db, HEAD, (tenant,)).fetchall()
            head = Head(*heads[0][:5]) if heads else Head()
            span = (tenant, 0, 2**62)
            yield StoredRows(tenant, head, lambda table: each(db, _TABLES[table], span))

    def stretch(self, tenant: str, after: int, limit: int) -> Dump:
        """The rows of the commits after a number, read in one snapshot."""
        heads, rows = self._read(tenant, (HEAD, (tenant,)), (_COMMITS, (tenant, after, limit)))
        if not rows:
            return rest_of(checked_head(tenant, *heads[0]) if heads else Head())
        # The end is chosen before the snapshot that is read: commits do not change any more.
        span = (tenant, after, end_of([CommitRow(*row) for row in rows], after + limit))
        *tables, words = self._read(
            tenant, *((sql, span) for sql in (*_TABLES.values(), _ALL_WORDS))
        )
        named = dict(zip(_TABLES, tables, strict=True))
        part = require_undamaged(in_memory(StoredRows(tenant, Head(), named.__getitem__)))
        return replace(part, head=head_at(part), words=[WordsRow(*row) for row in words])
