"""Who has a store file open in this process? Only our own connections may.

POSIX locks belong to the process: closing any other handle on the file, a stray `open()` or a
second SQLite library, drops the locks of our connections, and another process may then throw the
write-ahead log away. So a file that somebody else holds open here is refused, when it is opened
and before each write; and after each write the log must still have its name.

A forked child inherits SQLite's table of locks, but not the locks. What was open at the fork can
never be opened there.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw

from memoriter.core.errors import Unavailable, Unsupported

_HANDLES: Final = "/proc/self/fd"
_DROPPED_S: Final = 1.0
"""How long a connection that was dropped, not closed, may take to go."""

FileId = tuple[int, int]
"""What a name stands for: device and inode."""


@dataclass(eq=False)
class _OpenFile:
    """A file that connections of ours are open on."""

    file: FileId
    wal: Path
    """Where its write-ahead log is."""
    handles: set[int]
    """Numbers of our handles; SQLite keeps those of closed connections while others are open."""
    alive: weakref.WeakSet[apsw.Connection] = field(
        default_factory=weakref.WeakSet[apsw.Connection]
    )
    view: weakref.WeakSet[apsw.Connection] = field(default_factory=weakref.WeakSet[apsw.Connection])
    """Those that have read: from then on each holds a lock, and the log must stay."""
    log: FileId | None = None
    """What they found there."""


class Openers:
    """Our connections, by file."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while a connection is opened or closed, so that a check counts whole ones."""
        self._held: dict[Path, _OpenFile] = {}
        self._inherited: dict[FileId, list[apsw.Connection]] = {}
        """What was open at the fork that made this process; the connections are never closed."""

    def open(self, path: Path, opener: Callable[[], apsw.Connection]) -> apsw.Connection:
        """Open a connection of ours, on a file that nothing else holds open."""
        with self.lock:
            self.check(path)
            connection = opener()
            file = _file_id(path) or (0, 0)
            held = self._held.get(path)
            if held is None or not held.alive:
                held = self._held[path] = _OpenFile(file, path.with_name(path.name + "-wal"), set())
            held.handles = handles(file)
            held.alive.add(connection)
            return connection

    def ready(self, path: Path, connection: apsw.Connection) -> None:
        """Remember the write-ahead log of a connection that has read."""
        with self.lock:
            held = self._held[path]
            if not held.view:
                held.log = _file_id(held.wal)
            held.view.add(connection)

    def close(self, path: Path, connection: apsw.Connection) -> None:
        """Close a connection of ours."""
        with self.lock:
            held = self._held.get(path)
            if held is not None and connection in held.alive and not self.intact(path):
                # What the lost log holds must not be copied over what others wrote since.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
            if held is not None:
                held.alive.discard(connection)
                held.view.discard(connection)
                if not held.alive:
                    del self._held[path]

    def holds(self, path: Path) -> bool:
        """Whether a path leads to a file that connections of ours are open on, or to its log."""
        with self.lock:
            told = _file_id(path)
            wal = (p.with_name(p.name + end) for p in self._held for end in ("-wal", "-shm"))
            return told is not None and told in {_file_id(each) for each in (*self._held, *wal)}

    def intact(self, path: Path) -> bool:
        """Whether the file and its log still have the names under which we opened them."""
        held = self._held.get(path)
        if held is None or not held.view:
            return True
        return held.file == _file_id(path) and held.log in (None, _file_id(held.wal))

    def check(self, path: Path) -> None:
        """Refuse a file that is not ours alone in this process, or not the one we opened."""
        file = _file_id(path)
        if file in self._inherited:
            raise Unsupported(
                f"{path.name} was open when this process was forked, and its locks stayed behind",
                hint="close it before forking, or start processes by spawn or forkserver",
            )
        if not self.intact(path):
            raise file_replaced(path)
        if file is not None and self._foreign_handles(path, file):
            with self.lock:  # a connection of ours may have been on its way
                if self._foreign_handles(path, file):
                    raise Unsupported(
                        f"{path.name} is open in this process through something else",
                        hint="close it there first: sqlite3 or open() on the file drop its locks",
                    )

    def _foreign_handles(self, path: Path, file: FileId) -> set[int]:
        held, now = self._held.get(path), handles(file)
        if held is None:
            return now
        until = time.monotonic() + _DROPPED_S
        while not held.alive and now & held.handles and time.monotonic() < until:
            time.sleep(0.005)  # dropped without close, and on their way out
            now = handles(file)
        return now - held.handles if held.alive else now

    def forked(self) -> None:
        """In a new child: what is open now belongs to the parent."""
        for held in self._held.values():
            if held.alive:
                self._inherited.setdefault(held.file, []).extend(held.alive)
        self._held.clear()
        self.lock.release()


def file_replaced(path: Path) -> Unavailable:
    """The error for a file, or a log, that lost its name while we had it open."""
    return Unavailable(
        f"{path.name} or its write-ahead log was moved, replaced or removed while it was open",
        hint="close every memory on it in this process, let nothing else open the file here "
        "(sqlite3 and open() drop its locks), and open it again; retry with the same key",
    )


def handles(file: FileId) -> set[int]:
    """The handles of this process on a file; none where the system does not tell."""
    found: set[int] = set()
    try:
        names = os.listdir(_HANDLES)  # noqa: PTH208  # on the path of every commit
    except OSError:
        return found
    for name in names:
        try:
            told = os.fstat(int(name))
        except OSError:  # closed meanwhile
            continue
        if told.st_ino == file[1] and told.st_dev == file[0]:
            found.add(int(name))
    return found


def _file_id(path: Path) -> FileId | None:
    try:
        told = path.stat()
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return told.st_dev, told.st_ino


OPENERS: Final = Openers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=OPENERS.lock.acquire,
        after_in_parent=OPENERS.lock.release,
        after_in_child=OPENERS.forked,
    )
