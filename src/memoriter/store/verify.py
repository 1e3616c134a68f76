"""Checks a whole tenant: every digest, chain link, number and checksum.

Called by the doctor, by load and by the contract tests, on the rows of any store.
"""

from __future__ import annotations

import heapq
import json
import struct
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from memoriter.core.errors import Corrupt
from memoriter.store import rows as kinds
from memoriter.store.port import TenantRows

Damageable = TypeVar("Damageable", bound=TenantRows)


def verify_log(tenant: str, rows: TenantRows) -> None:
    """Check a whole tenant; raises Corrupt with the first bad sequence number.

    The rows are read twice and not kept: what is held are the ids, and the numbers of what was
    forgotten.
    """
    try:
        _chain(tenant, rows)
        _records(tenant, rows)
        for vector in rows.rows("vectors"):
            kinds.check_vector(tenant, vector)
        for table in ("keys", "debts"):  # read for their checksums
            deque(rows.rows(table), maxlen=0)
        require_undamaged(rows)
    except (TypeError, ValueError, AttributeError, LookupError, struct.error) as error:
        raise Corrupt(
            f"stored data of tenant {tenant!r} cannot be read: {error}", hint="restore a backup"
        ) from error


def require_undamaged(rows: Damageable) -> Damageable:
    """The rows themselves; Corrupt if a commit, key or debt does not match its checksum."""
    if rows.damaged:
        raise Corrupt(rows.damaged[0], hint="restore a backup")
    return rows


def entry_digests(tenant: str, rows: TenantRows) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """(kind, digest) of every sequenced entry with its number, in the order of the numbers."""
    record = kinds.RecordRow(0, 0, id="", committed=0, salt=b"", body=b"")
    for seq, table, row in heapq.merge(*(_numbered(rows, table) for table in _ENTRIES)):
        match _ENTRIES[table]:
            case "records":
                record = row
                yield seq, (kinds.RECORD, kinds.record_digest(tenant, row))
            case "edges":
                yield seq, (kinds.EDGE, kinds.edge_digest(tenant, row))
            case "agents":
                yield seq, (kinds.AGENT, kinds.agent_digest(tenant, row))
            case "tombs":
                yield seq, (kinds.TOMBSTONE, kinds.tomb_digest(tenant, row))
            case _:
                # A vector of a caller follows its record, whose salt it has.
                if row.form != "unit" and row.row == record.row:
                    yield seq, (kinds.VECTOR, kinds.vector_digest(tenant, row, record.salt))


_ENTRIES: Final = {0: "records", 1: "edges", 2: "agents", 3: "tombs", 4: "vectors"}


def _numbered(rows: TenantRows, table: int) -> Iterator[tuple[int, int, Any]]:
    return ((row[0], table, row) for row in rows.rows(_ENTRIES[table]))


def _chain(tenant: str, rows: TenantRows) -> None:
    """Every entry is in the chain, and every link has its entry or a tombstone that erased it."""
    made = _Ahead(entry_digests(tenant, rows))
    erasures = map(kinds.read_tomb, rows.rows("tombs"))
    numbers = {seq for tomb in erasures for seq in (*tomb.rows, *tomb.edges, *tomb.vectors)}
    gone = _Ahead((seq, None) for seq in sorted(numbers))
    link, linked = kinds.genesis(tenant), False
    for entry in rows.rows("chain"):
        # The link of a stray was deleted, so the next one cannot match: report the stray instead.
        if min(made.seq, gone.seq) < entry.seq:
            break
        link, linked = kinds.next_link(link, entry.seq, entry.kind, entry.digest), True
        if link != entry.link:
            raise _broken(tenant, entry.seq, "the chain is broken")
        erased, here = gone.seq == entry.seq, made.take(entry.seq)
        gone.take(entry.seq)
        if here is None and not erased:
            raise _broken(tenant, entry.seq, "an entry is missing")
        if here is not None and here != (entry.kind, entry.digest):
            raise _broken(tenant, entry.seq, "an entry does not match its digest")
    stray = min(made.seq, gone.seq)
    if stray != _END:
        raise _broken(tenant, stray, "an entry is not in the chain")
    if linked and link != rows.head.link:
        raise _broken(tenant, rows.head.seq, "the chain does not end where the log says")


_END: Final = 2**63


class _Ahead:
    """Numbered values in order, the next of them known."""

    def __init__(self, values: Iterator[tuple[int, Any]]) -> None:
        self._values = values
        self.seq, self._value = next(values, (_END, None))

    def take(self, seq: int) -> Any:
        """The last value of a number, None if there is none; the next one is then known."""
        value = None
        while self.seq == seq:
            value = self._value
            self.seq, self._value = next(self._values, (_END, None))
        return value


def _records(tenant: str, rows: TenantRows) -> None:
    """Check what goes by the records: commits, positions, entities."""
    commits, positions = _Commits(tenant, rows), _Positions(tenant, rows)
    mentions = _Mentions(tenant, rows)
    for record in rows.rows("records"):
        content = json.loads(record.body)
        commits.check(record)
        positions.check(record, content)
        mentions.check(record, content)
    commits.end()
    positions.end()
    mentions.end()


class _Commits:
    """The last commit is the head, times never run backwards, records have their commit's."""

    def __init__(self, tenant: str, rows: TenantRows) -> None:
        self._tenant, self._head = tenant, rows.head
        self._rest = rows.rows("commits")
        self._last = kinds.CommitRow(0, 0)

    def _next(self) -> bool:
        commit, last = next(self._rest, None), self._last
        if commit is None:
            return False
        if commit.seq <= last.seq or (last.seq and commit.time < last.time):
            raise _broken(self._tenant, commit.seq, "commits are out of order")
        self._last = commit
        return True

    def check(self, record: kinds.RecordRow) -> None:
        while self._last.seq < record.row:
            if not self._next():
                raise _broken(self._tenant, record.row, "a record has no commit")
        if self._last.time != record.committed:
            raise _broken(self._tenant, record.row, "a record has another time than its commit")

    def end(self) -> None:
        while self._next():
            pass
        if self._last != (self._head.seq, self._head.time):
            raise _broken(self._tenant, self._head.seq, "the last commit is not where the log says")


class _Positions:
    """Each position has one id, and the head counts one more than the last position."""

    def __init__(self, tenant: str, rows: TenantRows) -> None:
        self._tenant, self._rows = tenant, rows
        self._owner: dict[int, str] = {}

    def check(self, record: kinds.RecordRow, content: dict[str, Any]) -> None:
        if content["id"] != record.id:
            raise _broken(self._tenant, record.row, "a record is filed under a wrong id")
        if self._owner.setdefault(record.position, record.id) != record.id:
            raise _broken(self._tenant, record.row, "a position has two records")

    def end(self) -> None:
        for agent in self._rows.rows("agents"):
            if json.loads(agent.body)["agent"] != agent.agent:
                raise _broken(self._tenant, agent.seq, "an agent is filed under a wrong name")
        tombs = (kinds.read_tomb(tomb).position for tomb in self._rows.rows("tombs"))
        last = max(max(self._owner, default=-1), max(tombs, default=-1))
        if self._rows.head.positions != last + 1:
            raise _broken(self._tenant, self._rows.head.seq, "the count of positions is wrong")


class _Mentions:
    """The mentions of each record are its entities, in order; no other mentions exist."""

    def __init__(self, tenant: str, rows: TenantRows) -> None:
        self._tenant = tenant
        self._rest = rows.rows("mentions")
        self._next: kinds.MentionRow | None = None
        self._step()

    def _step(self) -> None:
        self._next = row = next(self._rest, None)
        if row and kinds.mention_sum(self._tenant, row.seq, row.row, row.name) != row.sum:
            raise _broken(self._tenant, row.seq, "an indexed entity is damaged")

    def check(self, record: kinds.RecordRow, content: dict[str, Any]) -> None:
        named: list[str] = []
        while self._next is not None and self._next.row <= record.row:
            if self._next.row < record.row:
                raise self._stray(self._next.row)
            named.append(self._next.name)
            self._step()
        if named != content.get("entities", []):
            raise _broken(
                self._tenant,
                record.row,
                "the entities indexed for this record differ from those stored in it",
            )

    def end(self) -> None:
        if self._next is not None:
            raise self._stray(self._next.row)

    def _stray(self, row: int) -> Corrupt:
        return _broken(self._tenant, row, "an entity is indexed for a record that does not exist")


def _broken(tenant: str, seq: int, what: str) -> Corrupt:
    return Corrupt(
        f"tenant {tenant!r}, entry {seq}: {what}",
        hint="restore a backup that was made before the damage",
    )
