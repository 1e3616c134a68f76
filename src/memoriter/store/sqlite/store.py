"""The default store: one SQLite file per memory, any number of processes."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict
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
    create,
    disk_full_error,
    needs_creation,
    sqlite_errors,
    truncate_wal,
)
from memoriter.store.sqlite.group_commit import GroupCommit, PendingBatch
from memoriter.store.sqlite.ledger import (
    SqliteLedger,
    drop_space,
    generation_of,
    head_of,
    mend,
    number_of,
    rewrite_commits,
    rows_to_restore,
    write,
)
from memoriter.store.sqlite.openers import OPENERS, file_replaced
from memoriter.store.sqlite.reader import MANIFEST, SqliteReader, manifest_of, manifest_sum
from memoriter.store.sqlite.thread_connection import ThreadConnection, file_state, wal_size

_log: Final = logging.getLogger(__name__)
READ_LIMIT_S: Final = 60.0
"""How long a read may stay open; while it is, the write-ahead log cannot shrink."""

WAL_LIMIT: Final = 64 * 1024**2
"""Bytes from which on a commit tries to begin the write-ahead log anew."""
CHECKPOINT_WAIT_S: Final = 0.5
"""How long it waits for readers; tried again when the log has grown by another quarter."""
CLOSE_LIMIT_S: Final = 5.0
"""How long `close` tries to end what other threads do."""
_CLOSED_MEANWHILE: Final = (
    apsw.InterruptError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.ThreadingViolationError,
)
"""What a thread meets when another one closes the store."""


class Sqlite(SqliteReader):
    """A log in one SQLite file."""

    def __init__(
        self, path: Path, *, read_only: bool = False, durability: Durability = "full"
    ) -> None:
        path = Path(os.path.realpath(path))
        check_location(path)
        check_wal_not_orphaned(path)
        self._path = path
        self._pid = os.getpid()
        self._durability: Durability = durability
        self.read_only = read_only or not _writable(path)
        if self.read_only and not path.exists():
            raise NotFound(
                f"there is no store at {path}", hint="open it without read_only to make one"
            )
        self._lease = Lease(path.with_name(path.name + ".lock"))
        if not self.read_only and needs_creation(path):
            with contextlib.closing(self._lease), self._lease.held():
                create(path)
        self._local = threading.local()
        self._mutex = threading.Lock()
        self._open: weakref.WeakSet[apsw.Connection] | None = weakref.WeakSet()
        self._queue = GroupCommit(self._commit_all)
        self._writer: apsw.Connection | None = None
        self._checkpoint_at = WAL_LIMIT
        self._closed_because: MemoriterError | None = None
        """Why the store closed itself."""
        self._reader()

    # -- connections ---------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse a store that is closed, or belongs to another process."""
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

    def _own(self) -> ThreadConnection:
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
        """The connection of this thread."""
        return self._own().connection

    @contextlib.contextmanager
    def _driver_errors(self) -> Generator[None]:
        """Turn the driver's errors into ours; what `close` cut short says that it is closed."""
        with sqlite_errors(self._path):
            try:
                yield
            except _CLOSED_MEANWHILE:
                self._check()
                raise

    @contextlib.contextmanager
    def _write_transaction(self) -> Generator[apsw.Connection]:
        """The one writing connection, inside a transaction that commits or leaves no trace."""
        with self._lease.held(), self._driver_errors():
            self._check()
            fresh = self._writer is None
            writer = self._writer = self._writer or self._connect()
            self._require_exclusive()
            try:
                writer.execute("BEGIN IMMEDIATE")
                if fresh:  # a killed process may have made the log, and never kept its name safe
                    with os_errors(self._path):
                        fsync_folder(self._path.parent)
                yield writer
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
            if not OPENERS.intact(self._path):
                self._check()
                raise self._closed_by(file_replaced(self._path))
            self._checkpoint_if_large(writer)

    def _require_exclusive(self) -> None:
        """Nobody else of this process holds the file; otherwise nothing is written."""
        try:
            OPENERS.check(self._path)
        except Unavailable as lost:
            self._check()  # our own close takes the log away too
            raise self._closed_by(lost) from None

    def _checkpoint_if_large(self, writer: apsw.Connection) -> None:
        """Begin the log anew when it has grown large; a log that stays large fails no write.

        Reads that overlap without a pause keep it from beginning anew by itself. Here new ones
        need it no more, and the last ones that do are waited for, though not long.
        """
        size = wal_size(self._path)
        if size < self._checkpoint_at:
            return
        try:
            done = truncate_wal(writer, CHECKPOINT_WAIT_S)
        except apsw.Error as error:
            _log.warning("the log of %s could not be copied back: %s", self._path.name, error)
            self._roll_back(writer, error)
            done = False
        self._checkpoint_at = WAL_LIMIT if done else size + WAL_LIMIT // 4

    def _roll_back(self, writer: apsw.Connection, error: BaseException) -> None:
        """Leave no trace; after trouble with the disk, trust nothing that the connection cached."""
        if isinstance(error, apsw.Error):
            self._writer = None
            close(self._path, writer)
        elif writer.in_transaction:
            writer.execute("ROLLBACK")

    def _closed_by(self, lost: MemoriterError) -> MemoriterError:
        """Close the store when its log lost its name: what goes there now, nobody will find."""
        self._closed_because = lost
        self.close()
        return lost

    @contextlib.contextmanager
    def _snapshot(self) -> Generator[apsw.Connection]:
        """This thread's connection, inside one read transaction."""
        with self._driver_errors():
            db = self._own().within(READ_LIMIT_S)
            try:
                db.execute("BEGIN")
                yield db
            finally:  # whatever came, a signal too: a transaction that stays open sees nothing new
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _rows(self, sql: str, *values: apsw.SQLiteValue) -> list[Any]:
        """All rows of a query, on this thread's connection."""
        with self._driver_errors():
            connection = self._own()
            try:
                return connection.within(READ_LIMIT_S).execute(sql, values).fetchall()
            finally:
                connection.check(self._path)

    def close(self) -> None:
        """Close every connection; closing twice is fine. A forked child has none of its own."""
        if self._pid != os.getpid():
            return
        with self._mutex:
            connections, self._open = list(self._open or ()), None
        try:
            for connection in connections:
                _close_interrupting(self._path, connection)
        finally:
            self._lease.close()

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> Commit:
        """Write a batch, durable when it returns; batches that wait for the disk share a commit."""
        self._must_write()
        return self._queue.commit(batch)

    def _must_write(self) -> None:
        """Refuse before any lock is taken: in a forked child some may be held for ever."""
        self.check()
        if self.read_only:
            raise Forbidden(
                f"{self._path.name} was opened to read only", hint="open it for writing"
            )

    def _commit_all(self, jobs: Sequence[PendingBatch]) -> None:
        """Write what gathered in one transaction; a batch that is refused leaves no trace in it."""
        with self._write_transaction() as db:
            for job in jobs:
                db.execute("SAVEPOINT batch")
                try:
                    job.done = self._commit_one(db, job.batch)
                except MemoriterError as refused:
                    db.execute("ROLLBACK TO batch")
                    job.refused = refused
                except (apsw.ConstraintError, UnicodeDecodeError) as damage:
                    db.execute("ROLLBACK TO batch")
                    job.refused = self._damaged(job.batch.tenant, damage)
                db.execute("RELEASE batch")

    def _damaged(self, tenant: str, damage: Exception) -> Corrupt:
        """The error for rows that no settled batch can meet: those of other tenants are sound."""
        return Corrupt(
            f"{self._path.name} is damaged at tenant {tenant!r}: {damage}",
            hint="verify tells what is wrong; restore a backup",
        )

    def _commit_one(self, db: apsw.Connection, batch: Batch) -> Commit:
        number, head = head_of(db, batch.tenant)
        new: Sequenced = settle(batch, head, SqliteLedger(db, batch.tenant, number))
        if not new.is_empty:
            write(db, batch.tenant, new)
        elif number is not None:
            # A retry may find a write that a killed process left in the page cache alone. SQLite
            # holds no locks on its log, so another handle on it does no harm.
            with os_errors(self._path):
                fsync_file(self._path.with_name(self._path.name + "-wal"))
        return new.commit

    def open_space(self, generation: str) -> None:
        """Make a generation known."""
        self._in_own_transaction(lambda db: generation_of(db, generation))

    def close_space(self, generation: str) -> None:
        """Drop the words of a generation."""
        self._in_own_transaction(lambda db: drop_space(db, generation))

    def _in_own_transaction(self, what: Callable[[apsw.Connection], object]) -> None:
        self._must_write()
        with self._queue.alone(), self._write_transaction() as db:
            what(db)

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Write derived rows anew: words as given, vectors as debts."""
        self._in_own_transaction(lambda db: mend(db, tenant, words, lost))

    # -- published segments --------------------------------------------------------------------

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the list of segments if it still is `old`."""
        self._must_write()
        with self._queue.alone(), self._write_transaction() as db:
            number = number_of(db, tenant)
            found = db.execute(MANIFEST, (number, index)).fetchone()
            if (manifest_of(tenant, index, *found) if found else Manifest()) != old:
                return False
            segments = json.dumps([asdict(segment) for segment in new.segments])
            told = (
                number,
                index,
                new.floor,
                segments,
                manifest_sum(tenant, index, segments, new.floor),
            )
            db.execute("INSERT OR REPLACE INTO manifests VALUES (?,?,?,?,?)", told)
            db.execute("UPDATE tenants SET published=published+1 WHERE tenant=?", (number,))
            return True

    # -- whole tenants -------------------------------------------------------------------------

    def dump(self, tenant: str) -> Dump:
        """The whole tenant as of one moment."""
        with self._snapshot():
            return self._dump(tenant)

    def restore(self, tenant: str, dump: Dump) -> None:
        """Fill a tenant that has never been written to."""
        self._must_write()
        with self._queue.alone(), self._write_transaction() as db:
            if head_of(db, tenant)[1].seq:
                raise Conflict(
                    f"tenant {tenant!r} holds records already",
                    hint="load into a new tenant or a new store",
                )
            write(db, tenant, rows_to_restore(tenant, dump))
            rewrite_commits(db, tenant, dump.commits)


def _close_interrupting(path: Path, connection: apsw.Connection) -> None:
    """Close a connection, ending what another thread still does on it."""
    until = time.monotonic() + CLOSE_LIMIT_S
    while True:
        try:
            return close(path, connection)
        except (apsw.ThreadingViolationError, apsw.BusyError):
            if time.monotonic() > until:
                _log.warning("a thread still reads %s; its connection goes with it", path.name)
                return None
        with contextlib.suppress(apsw.ConnectionClosedError):
            connection.interrupt()
        time.sleep(0.001)


def _writable(path: Path) -> bool:
    """Whether the file, or its future place, can be written."""
    return os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
