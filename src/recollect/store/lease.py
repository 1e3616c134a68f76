"""Locks between processes, on files of their own: the database's locks belong to SQLite."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator
from pathlib import Path

from recollect.store.trouble import plainly

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None


class Lease:
    """A fair, exclusive lock on a file; the system lets it go when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._handle: int | None = None

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """Wait for the lock and hold it."""
        with self._mutex:
            handle = self._open()
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                yield
            finally:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_UN)

    def _open(self) -> int:
        if self._handle is None:
            with plainly(self._path):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._handle

    def close(self) -> None:
        """Close the file; a held lock goes with it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def attempt(path: Path) -> Generator[bool]:
    """Take a lock if nobody holds it; yields whether it was taken."""
    with plainly(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
        yield True
    finally:
        os.close(handle)
