"""The read connection of one thread, with a time limit for reads.

`Sqlite` keeps one per thread. On a read-only medium the file is opened without locks, so this
class also detects that somebody wrote to it meanwhile.
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from memoriter.core.errors import Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.store.sqlite.connect import close, is_immutable

_log: Final = logging.getLogger(__name__)
CLOSE_LIMIT_S: Final = 5.0
"""How long closing a store waits for reads of other threads to end."""
_STEPS: Final = 10_000
"""SQLite virtual machine steps between two checks of the clock."""


class FileState(NamedTuple):
    """What changes when somebody writes to a store file."""

    inode: int
    size: int
    modified_ns: int
    wal_size: int


@dataclass(slots=True)
class _Limit:
    """When a read must end; SQLite asks through its progress handler.

    It holds no reference to the connection, so that the connection goes with its thread.
    """

    until: float = 0.0

    def is_over(self) -> bool:
        """Whether the limit has passed; SQLite then interrupts the statement."""
        return time.monotonic() > self.until


@dataclass(slots=True)
class ThreadConnection:
    """A connection that only one thread reads with."""

    connection: apsw.Connection
    seen: FileState | None
    """State of an immutable file when it was opened; None where SQLite's locks protect reads."""
    limit: _Limit

    @classmethod
    def of(cls, connection: apsw.Connection, seen: FileState | None) -> ThreadConnection:
        """Wrap a connection; `seen` is the file's state from before it was opened."""
        limit = _Limit()
        connection.set_progress_handler(limit.is_over, _STEPS)
        return cls(connection, seen if is_immutable(connection) else None, limit)

    def within(self, seconds: float) -> apsw.Connection:
        """The connection, for a read of at most so many seconds.

        Inside a snapshot the limit of the whole snapshot stays in force.
        """
        if not self.connection.in_transaction:
            self.limit.until = time.monotonic() + seconds
        return self.connection

    def has_changed(self, path: Path) -> bool:
        """Whether somebody wrote to a file that was opened as immutable."""
        return self.seen is not None and self.seen != file_state(path)

    def check(self, path: Path) -> None:
        """Raise Unavailable if the file was written to: a read without locks may be torn."""
        if self.has_changed(path):
            raise Unavailable(f"{path.name} was written to while it was read", hint="try again")


def file_state(path: Path) -> FileState | None:
    """The state of a file; None if it does not exist."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return FileState(stat.st_ino, stat.st_size, stat.st_mtime_ns, wal_size(path))


def wal_size(path: Path) -> int:
    """The size in bytes of a file's write-ahead log; 0 if there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0


def close_interrupting(path: Path, connection: apsw.Connection) -> None:
    """Close a connection, interrupting the thread that still reads with it.

    After `CLOSE_LIMIT_S` seconds it is left open, with a warning: it closes with its thread.
    """
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
