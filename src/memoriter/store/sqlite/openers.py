"""Makes sure that only our own connections have a store file open in this process.

POSIX locks belong to the process: closing any other handle on the file (a stray `open()`, a second
SQLite library) drops the locks of our connections, and another process may then delete the
write-ahead log under us. So `check` refuses a file that something else has open here, on opening
and before each write, and `intact` tells after each write whether the files are still those we
opened.

A forked child inherits SQLite's table of locks, but not the locks themselves, so what was open at
the fork can never be opened in the child.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from dataclasses import field
from pathlib import Path
from typing import Final

import apsw

from memoriter.core.errors import Unavailable, Unsupported
from memoriter.core.lazy_dataclass import dataclass

_HANDLES: Final = "/proc/self/fd"
_DROPPED_S: Final = 1.0
"""How long a connection that was dropped without close() may take to be collected."""

HEADER: Final = 100
"""Bytes of the header of a database file."""
FileId = tuple[int, int]
"""Identity of a file, whatever its name: device and inode."""


@dataclass(eq=False)
class _OpenFile:
    """A file that our connections have open."""

    file: FileId
    wal: Path
    """The path of its write-ahead log."""
    handles: set[int]
    """Our file descriptors. SQLite keeps those of closed connections while others are open."""
    alive: weakref.WeakSet[apsw.Connection] = field(
        default_factory=weakref.WeakSet[apsw.Connection]
    )
    ready: weakref.WeakSet[apsw.Connection] = field(
        default_factory=weakref.WeakSet[apsw.Connection]
    )
    """Those that have read: from then on each holds a lock, and the log must stay."""
    wal_id: FileId | None = None
    """Identity of the write-ahead log when the first of them had read."""


class Openers:
    """Our connections, by file. `OPENERS` is the only instance."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while a connection is opened or closed, so that a check never sees half of one."""
        self._held: dict[Path, _OpenFile] = {}
        self._inherited: dict[FileId, list[apsw.Connection]] = {}
        """What was open at the fork. Kept referenced: closing them here would harm the parent."""

    def open(self, path: Path, opener: Callable[[], apsw.Connection]) -> apsw.Connection:
        """Open a connection and register it; raises as `check` does."""
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
        """Register that a connection has read, and which write-ahead log it uses."""
        with self.lock:
            held = self._held[path]
            if not held.ready:
                held.wal_id = _file_id(held.wal)
            held.ready.add(connection)

    def close(self, path: Path, connection: apsw.Connection) -> None:
        """Close a connection that `open` returned; the last one removes an empty log."""
        with self.lock:
            held = self._held.get(path)
            if held is not None and connection in held.alive and not self.intact(path):
                # Closing checkpoints; the lost log must not overwrite what others wrote since.
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
            if held is not None:
                held.alive.discard(connection)
                held.ready.discard(connection)
                if not held.alive:
                    del self._held[path]
                    _remove_empty_log(path)

    @contextlib.contextmanager
    def beside(self, path: Path) -> Generator[apsw.VFSFile]:
        """The file itself, to read and write bytes beside our connections.

        SQLite opens and closes it, so that no lock of ours is dropped.
        """
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        with self.lock:
            held = self._held[path]
            before = handles(held.file)
            file = apsw.VFSFile("", str(path), [flags, 0])
            # Also after xClose: SQLite may keep the handle for as long as it holds locks.
            held.handles |= handles(held.file) - before
        try:
            yield file
        finally:
            with self.lock:
                file.xClose()

    def header(self, path: Path) -> bytes:
        """The first bytes of a file that we do not have open; empty if we have.

        Closing a handle drops every lock that this process has on the file, so ours must not exist.
        """
        with self.lock:
            if self.holds(path):
                return b""
            with path.open("rb") as file:
                return file.read(HEADER)

    def holds(self, path: Path) -> bool:
        """Whether a path leads to a file that we have open, or to its -wal or -shm."""
        with self.lock:
            file = _file_id(path)
            logs = (p.with_name(p.name + end) for p in self._held for end in ("-wal", "-shm"))
            return file is not None and file in {_file_id(each) for each in (*self._held, *logs)}

    def intact(self, path: Path) -> bool:
        """Whether path and -wal still name the files that we opened."""
        held = self._held.get(path)
        if held is None or not held.ready:
            return True
        return held.file == _file_id(path) and held.wal_id in (None, _file_id(held.wal))

    def check(self, path: Path) -> None:
        """Raise unless the file is the one that we opened, and only we have it open here.

        Unsupported if something else has it open, or it was open at a fork; Unavailable if the file
        or its log was replaced.
        """
        file = _file_id(path)
        if file in self._inherited:
            raise Unsupported(
                f"{path.name} was open when this process was forked, and a child does not"
                " inherit its locks",
                hint="close it before forking, or start processes by spawn or forkserver",
            )
        if not self.intact(path):
            raise file_replaced(path)
        if file is not None and self._foreign_handles(path, file):
            with self.lock:  # look again: it may have been a connection of ours, being opened
                if self._foreign_handles(path, file):
                    raise Unsupported(
                        f"this process also opened {path.name} without memoriter",
                        hint="close the file that sqlite3 or open() opened, then open the"
                        " store again: closing any file drops all locks of this process"
                        " on it",
                    )

    def _foreign_handles(self, path: Path, file: FileId) -> set[int]:
        held, now = self._held.get(path), handles(file)
        if held is None:
            return now
        until = time.monotonic() + _DROPPED_S
        while not held.alive and now & held.handles and time.monotonic() < until:
            time.sleep(0.005)  # dropped without close: the collector is about to close them
            now = handles(file)
        return now - held.handles if held.alive else now

    def forked(self) -> None:
        """In a forked child: mark what is open as the parent's, and release the lock."""
        for held in self._held.values():
            if held.alive:
                self._inherited.setdefault(held.file, []).extend(held.alive)
        self._held.clear()
        self.lock.release()


def _remove_empty_log(path: Path) -> None:
    """Have SQLite remove an empty write-ahead log, and its shared memory, unless others use them.

    It does so when the last connection to a file closes, but not if that one may only read.
    """
    wal = path.with_name(path.name + "-wal")
    with contextlib.suppress(apsw.Error, OSError):
        if wal.stat().st_size or not os.access(path, os.W_OK):
            return
        writer = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        with contextlib.closing(writer):  # which removes them, under an exclusive lock
            writer.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  # opens the log


def file_replaced(path: Path) -> Unavailable:
    """The error for a store file or log that was replaced while we had it open."""
    return Unavailable(
        f"{path.name} or its write-ahead log was moved, replaced or removed while it was open",
        hint="close every memory on it in this process, let nothing else open the file here "
        "(sqlite3 and open() drop its locks), and open it again; retry with the same key",
    )


def handles(file: FileId) -> set[int]:
    """This process's descriptors of a file; empty on systems without /proc."""
    numbers: set[int] = set()
    try:
        names = os.listdir(_HANDLES)  # noqa: PTH208  # on the path of every commit
    except OSError:
        return numbers
    for name in names:
        try:
            stat = os.fstat(int(name))
        except OSError:  # closed meanwhile
            continue
        if stat.st_ino == file[1] and stat.st_dev == file[0]:
            numbers.add(int(name))
    return numbers


def _file_id(path: Path) -> FileId | None:
    try:
        stat = path.stat()
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return stat.st_dev, stat.st_ino


OPENERS: Final = Openers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=OPENERS.lock.acquire,
        after_in_parent=OPENERS.lock.release,
        after_in_child=OPENERS.forked,
    )
