"""A store in memory: plain lists, lost with the process.

Used for `memoriter.open(":memory:")`. It is written to be obviously right rather than fast, and is
the reference that the contract tests compare other stores with.
"""

from __future__ import annotations

import contextlib
import threading
from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import Unsupported
from memoriter.core.record import Record
from memoriter.store.checks import require_empty
from memoriter.store.port import Delta, Dump, Head, Manifest, TenantRows, Unerased
from memoriter.store.ram_tenant import RamTenant
from memoriter.store.rows import (
    AgentRow,
    DebtRow,
    EdgeRow,
    KeyRow,
    RecordRow,
    VectorRow,
    WordsRow,
    check_vector,
    check_words,
    read_record,
    read_tomb,
)
from memoriter.store.sequence import sequence_batch
from memoriter.store.stretches import cut, require_end, rows_to_append


class Ram:
    """A `Log` in memory; the methods are documented there."""

    def __init__(self) -> None:
        self._tenants: dict[str, RamTenant] = {}
        self._spaces: set[str] = set()
        self._guard = threading.RLock()
        self._closed = False

    @property
    def _lock(self) -> threading.RLock:
        """The lock; raises Unsupported once the store was closed."""
        if self._closed:
            raise Unsupported("the store is closed", hint="open it again")
        return self._guard

    def tenants(self) -> list[str]:
        """The names of all tenants that ever wrote, sorted."""
        with self._lock:
            return sorted(self._tenants)

    def _log_of(self, tenant: str) -> RamTenant:
        return self._tenants.get(tenant) or RamTenant()

    def head(self, tenant: str) -> Head:
        """The end of a tenant's log."""
        with self._lock:
            return self._log_of(tenant).head

    catch_up = head

    def seq_at(self, tenant: str, time: int) -> int:
        """The sequence number of the last commit at or before a time."""
        with self._lock:
            return max((c.seq for c in self._log_of(tenant).commits if c.time <= time), default=0)

    def commit(self, batch: Batch) -> Commit:
        """Write a batch: all or nothing, in memory only."""
        with self._lock:
            log = self._log_of(batch.tenant)
            new = sequence_batch(batch, log.head, log)  # raises before anything was changed
            if not new.is_empty:
                log.write(new)
                self._tenants[batch.tenant] = log
                rows = (*new.words, *new.vectors, *new.debts)
                self._spaces |= {row.generation for row in rows}
            return new.commit

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto], as one part."""
        with self._lock:
            log = self._log_of(tenant)
            spans = range(after + 1, upto + 1)
            digests = {c.seq: c.digest for c in log.chain}
            yield Delta(
                upto,
                [read_record(tenant, r, digests[r.row]) for r in log.records if r.row in spans],
                words={
                    w.row: check_words(tenant, w)
                    for w in log.words
                    if w.row in spans and w.generation == generations[0]
                },
                vectors=[
                    check_vector(tenant, v)
                    for v in log.vector_rows
                    if v.seq in spans and v.generation == generations[1]
                ],
                edges=[e for e in log.edge_rows if e.seq in spans],
                tombs=[t for t in log.tombs if t.seq in spans],
            )

    def records(self, tenant: str, rows: Sequence[int]) -> list[Record | None]:
        """The record versions of these rows; None where forgotten."""
        with self._lock:
            log = self._log_of(tenant)
            return [_version(tenant, log, row) for row in rows]

    def sizes(self, tenant: str, rows: Sequence[int]) -> list[int]:
        """How many bytes each of these record versions takes; 0 where forgotten."""
        with self._lock:
            log = self._log_of(tenant)
            kept = [_stored(log, row) for row in rows]
            return [0 if each is None else len(each.body) for each in kept]

    def versions(self, tenant: str, record_id: str, upto: int) -> list[int]:
        """The rows of all versions of a record, oldest first."""
        with self._lock:
            records = self._log_of(tenant).records
            return [r.row for r in records if r.id == record_id and r.row <= upto]

    def latest(self, tenant: str, record_id: str, upto: int) -> Record | None:
        """The latest version of a record."""
        with self._lock:
            rows = self.versions(tenant, record_id, upto)
            return next(iter(self.records(tenant, rows[-1:])), None)

    def vectors(self, tenant: str, row: int) -> list[VectorRow]:
        """All vectors of a record version."""
        with self._lock:
            vectors = [v for v in self._log_of(tenant).vector_rows if v.row == row]
            return [check_vector(tenant, v) for v in vectors]

    def edges(self, tenant: str, position: int, upto: int) -> list[EdgeRow]:
        """The edges that begin or end at a position, in sequence."""
        with self._lock:
            edges = self._log_of(tenant).edge_rows
            return [e for e in edges if position in (e.source, e.target) and e.seq <= upto]

    def agents(self, tenant: str, upto: int) -> list[AgentRow]:
        """The latest state of every registered agent, sorted by name."""
        with self._lock:
            latest = {a.agent: a for a in self._log_of(tenant).agent_rows if a.seq <= upto}
            return [latest[name] for name in sorted(latest)]

    def embedded(self, tenant: str) -> Iterator[dict[str, list[int]]]:
        """By generation the rows that have a vector in it, as one part."""
        rows: dict[str, list[int]] = {}
        with self._lock:
            vectors = self._log_of(tenant).vector_rows
            for generation, row in sorted({(v.generation, v.row) for v in vectors}):
                rows.setdefault(generation, []).append(row)
        yield rows

    def debts(self, tenant: str, limit: int, after: tuple[int, str] = (0, "")) -> list[DebtRow]:
        """The oldest debts after a row and generation."""
        with self._lock:
            return sorted(d for d in self._log_of(tenant).debt_rows if d > after)[:limit]

    def owe(self, tenant: str, after: int, upto: int, debts: Sequence[DebtRow]) -> None:
        """Replace the debts of the rows in (after, upto]."""
        with self._lock:
            log = self._log_of(tenant)
            log.debt_rows = [d for d in log.debt_rows if not after < d.row <= upto] + [*debts]

    def keys(self, tenant: str, names: Sequence[str]) -> dict[str, KeyRow]:
        """What was written under these idempotency keys."""
        with self._lock:
            return self._log_of(tenant).keys(names)

    def words(self, tenant: str) -> Iterator[WordsRow]:
        """The analysed words of every record version; checksums are not checked."""
        with self._lock:
            yield from list(self._log_of(tenant).words)

    def spaces(self) -> list[str]:
        """The fingerprints of all generations."""
        with self._lock:
            return sorted(self._spaces)

    def known_spaces(self) -> tuple[str, ...]:
        """The same."""
        return tuple(self.spaces())

    def open_space(self, generation: str) -> None:
        """Register a generation."""
        with self._lock:
            self._spaces.add(generation)

    def close_space(self, generation: str) -> None:
        """Delete the words of a generation."""
        with self._lock:
            self._spaces.discard(generation)
            for log in self._tenants.values():
                log.words = [row for row in log.words if row.generation != generation]

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Replace words, and turn lost vectors into debts."""
        with self._lock:
            log = self._log_of(tenant)
            alive = {record.row for record in log.records}
            kept = {(row.row, row.generation): row for row in log.words}
            kept |= {(row.row, row.generation): row for row in words if row.row in alive}
            log.words = [kept[key] for key in sorted(kept)]
            self._spaces |= {row.generation for row in words}
            log.vector_rows = [row for row in log.vector_rows if row not in set(lost)]
            owed = {DebtRow(row.row, row.generation) for row in lost}
            log.debt_rows = sorted({*log.debt_rows, *owed})

    def damage(self) -> list[str]:
        """Always empty: there are no files to check."""
        return []

    def manifest(self, tenant: str, index: str) -> Manifest:
        """The published segments of an index."""
        with self._lock:
            return self._log_of(tenant).manifests.get(index, Manifest())

    def manifests(self, tenant: str) -> dict[str, Manifest]:
        """The published segments of every index, by its fingerprint."""
        with self._lock:
            return dict(sorted(self._log_of(tenant).manifests.items()))

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the manifest if it still is `old`; returns whether it was."""
        with self._lock:
            log = self._log_of(tenant)
            if log.manifests.get(index, Manifest()) != old:
                return False
            log.manifests[index] = new
            log.head = replace(log.head, published=log.head.published + 1)
            self._tenants[tenant] = log
            return True

    def unerased(self, tenant: str) -> Unerased:
        """What was forgotten and not erased yet."""
        with self._lock:
            log = self._log_of(tenant)
            tombs = [tomb for tomb in log.tombs if tomb.seq > log.erased]
            first = min((tomb.seq for tomb in tombs), default=0)
            since = min((c.time for c in log.commits if c.seq >= first), default=0)
            return Unerased.of(tombs, since, log.head.seq)

    def unerased_tenants(self, tenant: str) -> list[str]:
        """The tenants with something to erase."""
        return [each for each in sorted({*self.tenants(), tenant}) if self.unerased(each).count]

    def scrub(self, tenant: str, upto: int) -> bool:
        """Mark as erased: there are no files."""
        with self._lock:
            self._log_of(tenant).erased = upto
            return True

    @contextlib.contextmanager
    def snapshot(self, tenant: str) -> Generator[TenantRows]:
        """All rows of a tenant, copied."""
        with self._lock:
            rows = self._log_of(tenant).dump()
        yield rows

    def restore(self, tenant: str, rows: TenantRows) -> None:
        """Write all rows of a tenant into an empty one; Conflict if it has been written to."""
        with self._lock:
            require_empty(tenant, self._log_of(tenant).head)
            self._tenants[tenant] = log = RamTenant.of(rows)
            self._spaces |= {row.generation for row in (*log.vector_rows, *log.debt_rows)}

    def stretch(self, tenant: str, after: int, limit: int) -> Dump:
        """The rows of the commits after a number."""
        with self._lock:
            log = self._log_of(tenant)
            return cut(log.dump(), log.words, after, limit)

    def append(self, tenant: str, part: Dump, before: Head) -> None:
        """Write a stretch after `before`."""
        with self._lock:
            log = self._log_of(tenant)
            require_end(tenant, log.head, before)
            gone = {row for tomb in part.tombs for row in read_tomb(tomb).rows}
            ids = [record.id for record in log.records if record.row in gone]
            known = len(log.commits)
            log.write(rows_to_append(tenant, part, before, ids))
            log.commits[known:] = part.commits
            self._tenants[tenant] = log
            rows = (*part.words, *part.vectors, *part.debts)
            self._spaces |= {row.generation for row in rows}

    def check(self) -> None:
        """Raise Unsupported if the store is closed."""
        with self._lock:
            pass

    def close(self) -> None:
        """Delete everything; later calls raise Unsupported. Idempotent."""
        with self._guard:  # waits for the holder
            self._closed = True
        self._tenants.clear()


def _stored(log: RamTenant, row: int) -> RecordRow | None:
    """A record version as it is stored; they are in sequence. None if it was forgotten."""
    at = bisect_left(log.records, row, key=lambda each: each.row)
    return log.records[at] if at < len(log.records) and log.records[at].row == row else None


def _version(tenant: str, log: RamTenant, row: int) -> Record | None:
    """A record version; None if it was forgotten."""
    stored = _stored(log, row)
    if stored is None:
        return None
    link = log.chain[bisect_left(log.chain, row, key=lambda each: each.seq)]
    return read_record(tenant, stored, link.digest)
