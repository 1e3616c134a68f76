"""The default store: one SQLite file per memory, shared by threads and processes.

Durability happens here: `Sqlite.commit` queues a batch, `_commit_all` writes all that gathered, and
`_write_transaction` makes it durable with `COMMIT`. Reads use one connection per thread and never
wait for the writer.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import (
    Conflict,
    Corrupt,
    Forbidden,
    MemoriterError,
    NotFound,
    Unavailable,
    Unsupported,
)
from memoriter.store.fsync import fsync_file, fsync_folder
from memoriter.store.io_errors import os_errors
from memoriter.store.lease import Lease
from memoriter.store.port import Dump, Manifest
from memoriter.store.rows import VectorRow, WordsRow
from memoriter.store.sequence import Sequenced, settle
from memoriter.store.sqlite.connect import (
    Durability,
    check_location,
    check_wal_not_orphaned,
    close,
    connect,
    needed_setup,
    truncate_wal,
)
from memoriter.store.sqlite.errors import disk_full_error, sqlite_errors
from memoriter.store.sqlite.group_commit import GroupCommit, PendingBatch
from memoriter.store.sqlite.ledger import (
    SqliteLedger,
    drop_space,
    generation_of,
    head_of,
    mend,
    rewrite_commits,
    rows_to_restore,
    swap_manifest,
    write,
)
from memoriter.store.sqlite.openers import OPENERS, file_replaced
from memoriter.store.sqlite.reader import SqliteReader
from memoriter.store.sqlite.thread_connection import (
    ThreadConnection,
    close_interrupting,
    file_state,
    wal_size,
)

_log: Final = logging.getLogger(__name__)
READ_LIMIT_S: Final = 60.0
"""How long a read may stay open: the write-ahead log cannot be truncated meanwhile."""

WAL_LIMIT: Final = 64 * 1024**2
"""Size in bytes from which a commit tries to truncate the write-ahead log."""
CHECKPOINT_WAIT_S: Final = 0.5
"""How long that waits for readers; it is tried again after another quarter of `WAL_LIMIT`."""
_CLOSED_MEANWHILE: Final = (
    apsw.InterruptError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.ThreadingViolationError,
)
"""Errors that a thread gets when another one closes the store."""


class Sqlite(SqliteReader):
    """A `Log` in one SQLite file; the public methods are documented there.

    Locks are taken in this order: the leader lock of `_queue` (threads), the lease (processes),
    then SQLite's own write lock. `_mutex` guards only the set of open connections.
    """

    def __init__(
        self, path: Path, *, read_only: bool = False, durability: Durability = "full"
    ) -> None:
        path = Path(os.path.realpath(path))
        check_location(path)
        check_wal_not_orphaned(path)
        self.path = self._path = path
        self._pid = os.getpid()
        self._durability: Durability = durability
        self.read_only = read_only or not _writable(path)
        if self.read_only and not path.exists():
            raise NotFound(
                f"there is no store at {path}", hint="open it without read_only to make one"
            )
        self._lease = Lease(path.with_name(path.name + ".lock"))
        if not self.read_only and (setup := needed_setup(path)) is not None:
            with contextlib.closing(self._lease), self._lease.held():
                setup(path)
        self._local = threading.local()
        self._mutex = threading.Lock()
        self._open: weakref.WeakSet[apsw.Connection] | None = weakref.WeakSet()
        self._queue = GroupCommit(self._commit_all)
        self._writer: apsw.Connection | None = None
        self._folder_synced = False
        """Whether the folder was synced since the write connection was opened."""
        self._checkpoint_at = WAL_LIMIT
        self._closed_because: MemoriterError | None = None
        """Set when the store closed itself: what later calls raise."""
        self._reader()

    # -- connections ---------------------------------------------------------------------------

    def check(self) -> None:
        """Raise Unsupported if the store is closed, or belongs to the parent of a fork."""
        self._check()

    def _check(self) -> weakref.WeakSet[apsw.Connection]:
        if self._pid != os.getpid():
            raise Unsupported(
                "a store cannot be used after fork",
                hint="close it before forking, or start processes by spawn or forkserver; "
                "then open it in each of them",
            )
        if self._open is None:
            raise self._closed_because or Unsupported("the store is closed", hint="open it again")
        return self._open

    def _connect(self) -> apsw.Connection:
        with self._mutex:
            opened = self._check()
            connection = connect(self._path, read_only=self.read_only, durability=self._durability)
            opened.add(connection)
        return connection

    def _thread_connection(self) -> ThreadConnection:
        """This thread's read connection, opened on first use and dropped with the thread.

        One connection per thread is what makes `_snapshot` work: every query inside it runs on the
        connection that holds the read transaction.
        """
        opened = self._check()
        own: ThreadConnection | None = getattr(self._local, "own", None)
        if own is not None and own.has_changed(self._path):
            if own.connection.in_transaction:
                own.check(self._path)
            self._local.own = None
            opened.discard(own.connection)
            close(self._path, own.connection)
            own = None
        if own is None:
            # Before opening, or a write in between would go unnoticed.
            seen = file_state(self._path)
            own = self._local.own = ThreadConnection.of(self._connect(), seen)
        return own

    def _reader(self) -> apsw.Connection:
        """This thread's connection, as SQLite's object."""
        return self._thread_connection().connection

    @contextlib.contextmanager
    def _driver_errors(self) -> Generator[None]:
        """Translate SQLite's errors; one that `close` caused says that the store is closed."""
        with sqlite_errors(self._path):
            try:
                yield
            except _CLOSED_MEANWHILE:
                self._check()
                raise

    @contextlib.contextmanager
    def _write_transaction(self) -> Generator[apsw.Connection]:
        """The write connection, inside a transaction: durable after the block, or rolled back.

        Only if the files were replaced during the commit does an error follow a commit. This is the
        only place that commits records. The lease makes writers of all processes queue fairly;
        SQLite's busy handler alone would let some starve.
        """
        with self._lease.held(), self._driver_errors():
            self._check()
            if self._writer is None:
                self._writer, self._folder_synced = self._connect(), False
            writer = self._writer
            self._require_exclusive()
            try:
                writer.execute("BEGIN IMMEDIATE")
                if not self._folder_synced:
                    # The -wal file may be new, made by us or by a process that was killed before it
                    # synced the folder: without this, a power cut could lose the file's name.
                    with os_errors(self._path):
                        fsync_folder(self._path.parent)
                    self._folder_synced = True
                yield writer
                # Durable once this returns: with synchronous=FULL, COMMIT fsyncs the WAL.
                writer.execute("COMMIT")
            except apsw.IOError as error:
                full = disk_full_error(self._path, writer, error)
                self._roll_back(writer, error)
                if full is not None:
                    raise full from error
                raise
            except BaseException as error:
                self._roll_back(writer, error)
                raise
            # Somebody moved or replaced the files during the commit: it went into a lost file, so
            # the caller must not take it for durable.
            if not OPENERS.intact(self._path):
                self._check()
                raise self._closed_by(file_replaced(self._path))
            self._checkpoint_if_large(writer)

    def _require_exclusive(self) -> None:
        """Raise, before anything is written, if other code in this process opened the file."""
        try:
            OPENERS.check(self._path)
        except Unavailable as lost:
            self._check()  # after our own close the WAL is gone too: say "closed" instead
            raise self._closed_by(lost) from None

    def _checkpoint_if_large(self, writer: apsw.Connection) -> None:
        """Truncate the write-ahead log when it has grown large; failing to is no error.

        SQLite restarts the log only when no reader uses it, which never happens if reads overlap
        all the time. After a checkpoint new readers no longer need the log, so waiting a short time
        for the last old ones is enough.
        """
        size = wal_size(self._path)
        if size < self._checkpoint_at:
            return
        try:
            done = truncate_wal(writer, CHECKPOINT_WAIT_S)
        except apsw.Error as error:
            _log.warning("the log of %s could not be truncated: %s", self._path.name, error)
            self._roll_back(writer, error)
            done = False
        self._checkpoint_at = WAL_LIMIT if done else size + WAL_LIMIT // 4

    def _roll_back(self, writer: apsw.Connection, error: BaseException) -> None:
        """End a failed transaction without a trace."""
        # After an I/O error the connection's page cache may differ from the file: drop it all.
        if isinstance(error, apsw.Error):
            self._writer = None
            close(self._path, writer)
        elif writer.in_transaction:
            writer.execute("ROLLBACK")

    def _closed_by(self, error: MemoriterError) -> MemoriterError:
        """Close the store because its files were replaced; returns the error to raise."""
        self._closed_because = error
        self.close()
        return error

    @contextlib.contextmanager
    def _snapshot(self) -> Generator[apsw.Connection]:
        """This thread's connection, inside one read transaction (a snapshot)."""
        with self._driver_errors():
            db = self._thread_connection().within(READ_LIMIT_S)
            try:
                db.execute("BEGIN")
                yield db
            finally:
                # Also after a KeyboardInterrupt: a transaction left open sees no new commits.
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _rows(self, sql: str, *values: apsw.SQLiteValue) -> list[Any]:
        """All rows of a query, on this thread's connection."""
        with self._driver_errors():
            connection = self._thread_connection()
            try:
                return connection.within(READ_LIMIT_S).execute(sql, values).fetchall()
            finally:
                connection.check(self._path)

    def close(self) -> None:
        """Close every connection. Idempotent; does nothing in a forked child, which has none."""
        if self._pid != os.getpid():
            return
        with self._mutex:
            connections, self._open = list(self._open or ()), None
        try:
            for connection in connections:
                close_interrupting(self._path, connection)
        finally:
            self._lease.close()

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> Commit:
        """Write a batch, durable when it returns; concurrent batches share one COMMIT and fsync.

        Raises Forbidden if the store is read-only, otherwise what `GroupCommit.commit` raises.
        """
        self._must_write()
        return self._queue.commit(batch)

    def _must_write(self) -> None:
        """Raise if the store is closed, forked or read-only."""
        # Called before any lock is taken: in a forked child a lock may be held for ever.
        self.check()
        if self.read_only:
            raise Forbidden(
                f"{self._path.name} was opened to read only", hint="open it for writing"
            )

    def _commit_all(self, batches: Sequence[PendingBatch]) -> None:
        """Write batches in one transaction and set the outcome of each."""
        with self._write_transaction() as db:
            for pending in batches:
                # A savepoint each: one refused batch must not take the others' writes with it.
                db.execute("SAVEPOINT batch")
                try:
                    # Provisional: it counts only once the transaction has committed.
                    pending.done = self._write_batch(db, pending.batch)
                except MemoriterError as refused:
                    db.execute("ROLLBACK TO batch")
                    pending.refused = refused
                except (apsw.ConstraintError, UnicodeDecodeError) as damage:
                    db.execute("ROLLBACK TO batch")
                    pending.refused = self._damaged(pending.batch.tenant, damage)
                db.execute("RELEASE batch")

    def _damaged(self, tenant: str, damage: Exception) -> Corrupt:
        """The error for rows that contradict a settled batch; other tenants are not affected."""
        return Corrupt(
            f"{self._path.name} is damaged at tenant {tenant!r}: {damage}",
            hint="verify tells what is wrong; restore a backup",
        )

    def _write_batch(self, db: apsw.Connection, batch: Batch) -> Commit:
        number, head = head_of(db, batch.tenant)
        new: Sequenced = settle(batch, head, SqliteLedger(db, batch.tenant, number))
        if not new.is_empty:
            write(db, batch.tenant, new)
        elif number is not None:
            # A retry may find a write that a killed process left in the page cache alone: make it
            # durable before saying so. SQLite holds no locks on its -wal, so opening it is safe.
            with os_errors(self._path):
                fsync_file(self._path.with_name(self._path.name + "-wal"))
        return new.commit

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

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Replace words, and turn lost vectors into debts."""
        self._in_own_transaction(lambda db: mend(db, tenant, words, lost))

    # -- published segments --------------------------------------------------------------------

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the manifest if it still is `old`; returns whether it was."""
        self._must_write()
        with self._queue.exclusive(), self._write_transaction() as db:
            return swap_manifest(db, tenant, index, old, new)

    # -- whole tenants -------------------------------------------------------------------------

    def dump(self, tenant: str) -> Dump:
        """All rows of a tenant, read in one snapshot."""
        with self._snapshot():
            return self._dump(tenant)

    def restore(self, tenant: str, dump: Dump) -> None:
        """Write a dump into an empty tenant; Conflict if it has been written to."""
        self._must_write()
        with self._queue.exclusive(), self._write_transaction() as db:
            if head_of(db, tenant)[1].seq:
                raise Conflict(
                    f"tenant {tenant!r} holds records already",
                    hint="load into a new tenant or a new store",
                )
            write(db, tenant, rows_to_restore(tenant, dump))
            rewrite_commits(db, tenant, dump.commits)


def _writable(path: Path) -> bool:
    """Whether the file can be written, or created."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
