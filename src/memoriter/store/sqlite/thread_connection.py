"""The place of a thread that reads: its connection, how long a read may last, and what it saw."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from memoriter.core.errors import Unavailable
from memoriter.store.sqlite.connect import is_immutable

_STEPS: Final = 10_000
"""How many steps of a statement pass between two looks at the clock."""

FileState = tuple[int, int, int, int]
"""Inode, size and time of change of a file, and the size of its write-ahead log."""


@dataclass(slots=True)
class _Limit:
    """When a read must end; SQLite asks through its progress handler.

    It holds no reference to the connection, so that the connection goes with its thread.
    """

    until: float = 0.0

    def is_over(self) -> bool:
        """Whether what is being read takes too long."""
        return time.monotonic() > self.until


@dataclass(slots=True)
class ThreadConnection:
    """A connection that one thread reads with."""

    connection: apsw.Connection
    seen: FileState | None
    """What an immutable file looked like; None where SQLite's locks see to changes."""
    limit: _Limit

    @classmethod
    def of(cls, connection: apsw.Connection, seen: FileState | None) -> ThreadConnection:
        """A connection of one thread; `seen` is from before the connection was opened."""
        limit = _Limit()
        connection.set_progress_handler(limit.is_over, _STEPS)
        return cls(connection, seen if is_immutable(connection) else None, limit)

    def within(self, seconds: float) -> apsw.Connection:
        """The connection, for a read of so many seconds; inside a snapshot, its limit holds."""
        if not self.connection.in_transaction:
            self.limit.until = time.monotonic() + seconds
        return self.connection

    def has_changed(self, path: Path) -> bool:
        """Whether somebody wrote to a file that was opened as one that nobody changes."""
        return self.seen is not None and self.seen != file_state(path)

    def check(self, path: Path) -> None:
        """Refuse what was read while somebody wrote: without locks it may be torn."""
        if self.has_changed(path):
            raise Unavailable(f"{path.name} was written to while it was read", hint="try again")


def file_state(path: Path) -> FileState | None:
    """What a file looks like from outside; None when it is gone."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_size, told.st_mtime_ns, wal_size(path)


def wal_size(path: Path) -> int:
    """How large the write-ahead log beside a file is; 0 when there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0
