"""Connections and transactions of a store file: one writer, a reader per thread.

`SqliteTransactions._transaction` is where a write becomes durable, with `COMMIT`; writers enter it
by `_write_transaction`, which holds the lease. Reads use one connection per thread and never wait
for the writer. `Sqlite` adds the verbs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from memoriter.core.errors import (
    Corrupt,
    Forbidden,
    MemoriterError,
    NotFound,
    StorageFull,
    Unavailable,
    Unsupported,
)
from memoriter.store.fsync import fsync_folder
from memoriter.store.io_errors import os_errors
from memoriter.store.lease import Lease
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
from memoriter.store.sqlite.openers import OPENERS, file_replaced
from memoriter.store.sqlite.reader import SqliteReader
from memoriter.store.sqlite.reserve import Reserve
from memoriter.store.sqlite.thread_connection import (
    ThreadConnection,
    close_interrupting,
    file_state,
    wal_size,
)
from memoriter.store.sqlite.witness import LastCommit, Witness

_log: Final = logging.getLogger(__name__)
READ_LIMIT_S: Final = 60.0
"""How long a read may stay open: the write-ahead log cannot be truncated meanwhile."""

WAL_LIMIT: Final = 64 * 1024**2
"""Size in bytes from which a commit tries to truncate the write-ahead log."""
CHECKPOINT_WAIT_S: Final = 0.5
"""How long that waits for readers; it is tried again after another quarter of `WAL_LIMIT`."""
T = TypeVar("T")
_CLOSED_MEANWHILE: Final = (
    apsw.InterruptError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.ThreadingViolationError,
)
"""Errors that a thread gets when another one closes the store."""


class SqliteTransactions(SqliteReader):
    """The connections to one store file, and its transactions.

    Locks are taken in this order: the leader lock of `Sqlite._queue` (threads), the lease
    (processes), then SQLite's own write lock. `_mutex` guards only the set of open connections.
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
        self.read_only = read_only or not is_writable(path)
        if self.read_only and not path.exists():
            raise _no_store(path)
        self._lease = Lease(path.with_name(path.name + ".lock"))
        if not self.read_only and (setup := needed_setup(path)) is not None:
            with contextlib.closing(self._lease), self._lease.held():
                setup(path)
        self._local = threading.local()
        self._mutex = threading.Lock()
        self._open: weakref.WeakSet[apsw.Connection] | None = weakref.WeakSet()
        self._writer: apsw.Connection | None = None
        self._folder_synced = False
        """Whether the folder was synced since the write connection was opened."""
        self._checkpoint_at = WAL_LIMIT
        self._reserve = Reserve(path)
        self._witness = Witness(path.with_name(path.name + ".lock"))
        self._last: LastCommit | None = None
        """What the running transaction commits last; kept for the witness."""
        self._closed_because: MemoriterError | None = None
        """Set when the store closed itself: what later calls raise."""
        self._reader()
        with contextlib.suppress(Corrupt):  # told to whoever reads what is damaged
            for message in self._lost_commits():
                _log.warning("%s", message)

    def _lost_commits(self) -> list[str]:
        """A message if the file lacks the commit that was acknowledged last."""
        last = self._witness.read()  # first: a commit of another process may come in between
        if last is None:
            return []
        heads = self._rows("SELECT seq, link FROM tenants WHERE tenant=?", last.tenant)
        seq, link = heads[0] if heads else (0, b"")
        if seq > last.seq or (seq, link) == (last.seq, last.link):
            return []
        return [
            f"{self._path.name} lacks its last acknowledged commit (entry {last.seq}): its "
            "write-ahead log was removed, or an older copy was put in its place"
        ]

    def damage(self) -> list[str]:
        """What the file itself shows, and commits that it lacks."""
        return super().damage() + self._lost_commits()

    # -- connections ---------------------------------------------------------------------------

    def check(self) -> None:
        """Raise Unsupported if the store is closed, or belongs to the parent of a fork."""
        self._check()

    def _check(self) -> weakref.WeakSet[apsw.Connection]:
        if self._pid != os.getpid():
            raise Unsupported(
                "a store cannot be used after fork: this process did not open it",
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

        The lease makes writers of all processes queue fairly; SQLite's busy handler alone would let
        some starve.
        """
        with self._lease.held(), self._driver_errors(), self._transaction() as writer:
            yield writer

    @contextlib.contextmanager
    def _transaction(self) -> Generator[apsw.Connection]:
        """A write transaction; the caller holds the lease.

        After `COMMIT` an error is raised only if the files were replaced meanwhile (the write is
        lost) or the thread is interrupted (it is durable: retry with the same key). Nothing else
        commits.
        """
        writer, self._last = self._write_connection(), None
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
        # Somebody moved or replaced the files during the commit: it went into a lost file, so the
        # caller must not take it for durable.
        if not OPENERS.intact(self._path):
            self._check()
            raise self._closed_by(file_replaced(self._path))
        if self._last is not None and self._durability == "full":
            self._witness.write(self._last)
        self._checkpoint_if_large(writer)
        self._reserve.fill()

    def _write_connection(self) -> apsw.Connection:
        self._check()
        if self._writer is None:
            self._writer, self._folder_synced = self._connect(), False
        return self._writer

    def _renew_writer(self) -> None:
        """Use a new write connection, with an empty cache; the caller holds the lease."""
        old, self._writer = self._writer, self._connect()
        if old is not None:  # after the new one is open: the last to close deletes the log
            close(self._path, old)

    def _wal_emptied(self) -> bool:
        """Copy the write-ahead log into the file and empty it; False if a reader prevents it."""
        writer = self._write_connection()
        self._require_exclusive()
        try:
            return truncate_wal(writer, CHECKPOINT_WAIT_S)
        except apsw.Error as error:
            full = disk_full_error(self._path, writer, error)
            self._roll_back(writer, error)
            if full is not None:
                raise full from error
            raise

    def _with_reserve(self, work: Callable[[], T]) -> T:
        """Do some work; if the disk is full, once more with the space that is set aside."""
        try:
            return work()
        except StorageFull:
            self._reserve.release()
        try:
            return work()
        finally:
            self._reserve.fill()

    def _require_exclusive(self) -> None:
        """Raise, before anything is written, if other code in this process opened the file."""
        try:
            OPENERS.check(self._path)
        except Unavailable as lost:
            self._check()  # after our own close the WAL is gone too: say "closed" instead
            raise self._closed_by(lost) from None

    def _checkpoint_if_large(self, writer: apsw.Connection) -> None:
        """Truncate the write-ahead log when it has grown large; failing to is no error.

        SQLite restarts the WAL only when no reader uses it, which never happens if reads overlap
        all the time. After a checkpoint new readers no longer need the WAL, so waiting a short time
        for the last old ones is enough.
        """
        size = wal_size(self._path)
        if size < self._checkpoint_at:
            return
        try:
            done = truncate_wal(writer, CHECKPOINT_WAIT_S)
        except apsw.Error as error:
            _log.warning("the WAL of %s could not be truncated: %s", self._path.name, error)
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
    def _snapshot(self, seconds: float = READ_LIMIT_S) -> Generator[apsw.Connection]:
        """This thread's connection, inside one read transaction (a snapshot)."""
        with self._driver_errors():
            db = self._thread_connection().within(seconds)
            try:
                db.execute("BEGIN")
                yield db
            finally:
                # Also after a KeyboardInterrupt: a transaction left open sees no new commits.
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _rows(self, sql: str, *values: apsw.SQLiteValue) -> list[Any]:
        """All rows of a query, on this thread's connection."""
        try:
            connection = self._thread_connection()
            try:
                return connection.within(READ_LIMIT_S).execute(sql, values).fetchall()
            finally:
                connection.check(self._path)
        except (apsw.Error, UnicodeDecodeError):
            with self._driver_errors():  # entered only then: a search reads twice
                raise

    def _each(self, sql: str, *values: apsw.SQLiteValue) -> Iterator[Any]:
        """The rows of a query one by one, within `_snapshot`."""
        with self._driver_errors():
            connection = self._thread_connection()
            yield from connection.connection.execute(sql, values)
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
            self._witness.close()


def _no_store(path: Path) -> MemoriterError:
    """There is no file, and none can be made."""
    if is_writable(path):  # so the caller asked for reading only
        return NotFound(
            f"there is no store at {path}", hint="open it without read_only to make one"
        )
    return Forbidden(
        f"{path} cannot be created: the folder {path.parent} is not writable",
        hint="check the permissions of the folder, or name another file",
    )


def is_writable(path: Path) -> bool:
    """Whether the file can be written, or created."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
