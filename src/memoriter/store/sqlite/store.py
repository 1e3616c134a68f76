"""The default store: one SQLite file per memory, shared by threads and processes.

`Sqlite.commit` queues a batch, `_commit_all` writes all that gathered in one transaction
(`transactions`), which makes it durable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

import apsw

from memoriter.core.batch import Batch, Commit, Forget
from memoriter.core.errors import Corrupt, Forbidden, MemoriterError
from memoriter.store.checks import require_empty
from memoriter.store.fsync import fsync_file
from memoriter.store.group_commit import GroupCommit, PendingBatch
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Delta, Dump, Head, Manifest, TenantRows
from memoriter.store.recent import RecentEntries
from memoriter.store.rows import DebtRow, VectorRow, WordsRow
from memoriter.store.sequence import SequencedBatch, sequence_batch
from memoriter.store.snapshots import LONG_READ_S
from memoriter.store.sqlite.connect import Durability
from memoriter.store.sqlite.ledger import (
    SqliteLedger,
    append,
    drop_space,
    generation_of,
    head_of,
    insert_tenant,
    mark_erased,
    mend,
    swap_debts,
    swap_manifest,
    write,
)
from memoriter.store.sqlite.scrub import zero_free_space
from memoriter.store.sqlite.thread_connection import wal_size
from memoriter.store.sqlite.transactions import SqliteTransactions, is_writable
from memoriter.store.sqlite.unfinished import remove_copy, restoring
from memoriter.store.sqlite.witness import LastCommit
from memoriter.store.stretches import require_end


class Sqlite(SqliteTransactions):
    """A `Log` in one SQLite file; the public methods are documented there."""

    def __init__(
        self, path: Path, *, read_only: bool = False, durability: Durability = "full"
    ) -> None:
        super().__init__(path, read_only=read_only, durability=durability)
        self._queue = GroupCommit(self._commit_all)
        self._recent = RecentEntries()

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> Commit:
        """Write a batch, durable when it returns; concurrent batches share one COMMIT and fsync.

        Raises Forbidden if the store is read-only, otherwise what `GroupCommit.commit` raises.
        """
        self._must_write()
        if all(isinstance(act, Forget) for act in batch.acts):
            return self._with_reserve(lambda: self._queue.commit(batch))
        return self._queue.commit(batch)

    def _must_write(self) -> None:
        """Raise if the store is closed, forked or read-only."""
        # Called before any lock is taken: in a forked child a lock may be held for ever.
        self.check()
        if self.read_only:
            if is_writable(self._path):  # so the caller asked for reading only
                raise Forbidden(
                    f"{self._path.name} was opened for reading only",
                    hint="open it without read_only",
                )
            raise Forbidden(
                f"{self._path} cannot be written: it or its folder is not writable",
                hint="check the permissions of both",
            )

    def _commit_all(self, batches: Sequence[PendingBatch]) -> None:
        """Write batches in one transaction and set the outcome of each."""
        written: list[tuple[str, int, SequencedBatch]] = []
        with self._write_transaction() as db:
            for pending in batches:
                # A savepoint each: one refused batch must not take the others' writes with it.
                db.execute("SAVEPOINT batch")
                try:
                    # Provisional: it counts only once the transaction has committed.
                    after, new = self._write_batch(db, pending.batch)
                    pending.done = new.commit
                    written.append((pending.batch.tenant, after, new))
                except MemoriterError as refused:
                    db.execute("ROLLBACK TO batch")
                    pending.refused = refused
                except (apsw.ConstraintError, UnicodeDecodeError) as damage:
                    db.execute("ROLLBACK TO batch")
                    pending.refused = self._damaged(pending.batch.tenant, damage)
                db.execute("RELEASE batch")
        for tenant, after, new in written:
            if new.advances:
                self._recent.note(tenant, after, new)

    def _damaged(self, tenant: str, damage: Exception) -> Corrupt:
        """The error for rows that contradict a sequenced batch; other tenants are not affected."""
        return Corrupt(
            f"{self._path.name} is damaged at tenant {tenant!r}: {damage}",
            hint="`memoriter verify-store` tells what is wrong; restore a backup",
        )

    def _write_batch(self, db: apsw.Connection, batch: Batch) -> tuple[int, SequencedBatch]:
        """(the end of the log before, what was written)."""
        number, head = head_of(db, batch.tenant)
        new: SequencedBatch = sequence_batch(batch, head, SqliteLedger(db, batch.tenant, number))
        if not new.is_empty:
            number = write(db, batch.tenant, new)
            self._last = LastCommit(number, new.head.seq, new.head.link)
        elif number is not None:
            # A retry may find a write that a killed process left in the page cache alone: make it
            # durable before saying so. SQLite holds no locks on its -wal, so opening it is safe.
            with os_errors(self._path):
                fsync_file(self._path.with_name(self._path.name + "-wal"))
        return head.seq, new

    def deltas(
        self, tenant: str, after: int, upto: int, generations: tuple[str, str]
    ) -> Iterator[Delta]:
        """The log in (after, upto]; what this process has just written is not read back."""
        known = self._recent.taken(tenant, after, upto, generations)
        return super().deltas(tenant, after, upto, generations) if known is None else iter((known,))

    def open_space(self, generation: str) -> None:
        """Register a generation."""
        self._in_own_transaction(lambda db: generation_of(db, generation))

    def close_space(self, generation: str) -> None:
        """Delete the words of a generation."""
        self._in_own_transaction(lambda db: drop_space(db, generation))

    def _in_own_transaction(self, change: Callable[[apsw.Connection], object]) -> None:
        self._must_write()
        with self._queue.exclusive(), self._write_transaction() as db:
            change(db)
            self._recent.drop()

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Replace words, and turn lost vectors into debts."""
        self._in_own_transaction(lambda db: mend(db, tenant, words, lost))

    # -- published segments --------------------------------------------------------------------

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the manifest if it still is `old`; returns whether it was."""
        self._must_write()
        return self._with_reserve(lambda: self._swap(tenant, index, old, new))

    def _swap(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        with self._queue.exclusive(), self._write_transaction() as db:
            return swap_manifest(db, tenant, index, old, new)

    # -- erasing -----------------------------------------------------------------------------------

    def scrub(self, tenant: str, upto: int) -> bool:
        """Empty the write-ahead log, zero the free space of all pages, mark what is erased.

        Pages that were cleaned must not come back from a cache, which would write them anew: the
        mark is written by a new connection, and its commit makes all others drop their caches. What
        a killed restore left may hold the same records, so it goes first.
        """
        self._must_write()
        return self._with_reserve(lambda: self._scrub(tenant, upto))

    def _scrub(self, tenant: str, upto: int) -> bool:
        with self._queue.exclusive(), self._lease.held(), self._driver_errors():
            remove_copy(restoring(self._path))
            if not self._wal_emptied():
                return False
            self._renew_writer()
            with self._transaction() as db:
                # Still empty now that the write lock is ours: so nobody copies into the file.
                if wal_size(self._path):
                    return False
                zero_free_space(self._path)
                mark_erased(db, tenant, upto)
        self._reserve.fill()
        return True

    # -- whole tenants -------------------------------------------------------------------------

    @contextlib.contextmanager
    def snapshot(self, tenant: str) -> Generator[TenantRows]:
        """All rows of a tenant at one moment; the write-ahead log grows while it is read."""
        with self._snapshot(LONG_READ_S):
            yield self._stored(tenant)

    def stretch(self, tenant: str, after: int, limit: int) -> Dump:
        """The rows of the commits after a number, read in one snapshot."""
        with self._snapshot():
            return self._stretch(tenant, after, limit)

    def append(self, tenant: str, part: Dump, before: Head) -> None:
        """Write a stretch after `before`."""
        self._must_write()
        with self._queue.exclusive(), self._write_transaction() as db:
            require_end(tenant, head_of(db, tenant)[1], before)
            append(db, tenant, part, before)

    def owe(self, tenant: str, after: int, upto: int, debts: Sequence[DebtRow]) -> None:
        """Replace the debts of the rows in (after, upto]."""
        self._in_own_transaction(lambda db: swap_debts(db, tenant, (after, upto), debts))

    def restore(self, tenant: str, rows: TenantRows) -> None:
        """Write all rows of a tenant into an empty one; Conflict if it has been written to."""
        self._must_write()
        with self._queue.exclusive(), self._write_transaction() as db:
            require_empty(tenant, head_of(db, tenant)[1])
            insert_tenant(db, tenant, rows)
