"""Locks between processes, on files of their own: the database's locks belong to SQLite."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Generator
from pathlib import Path
from typing import Final

from memoriter.core.errors import Unavailable
from memoriter.store.io_errors import os_errors

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock is all there is
    fcntl = None

WAIT_LIMIT_S: Final = 30.0
"""How long a writer waits for another process: one that was stopped would hold it for ever."""

_POLL_S: Final = 0.05
"""How long it looks again and again, before it stands in the system's queue."""


class Lease:
    """A fair, exclusive lock on a file; the system lets it go when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._handle: int | None = None
        _LEASES.add(self)

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """Wait for the lock, though not for ever, and hold it."""
        with self._mutex:
            try:
                if not (self._try_lock() or self._poll()):
                    self._queue()
                yield
            finally:
                if fcntl is not None and self._handle is not None:
                    fcntl.flock(self._handle, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def try_held(self) -> Generator[bool]:
        """Hold the lock if nobody else does; yields whether it was taken."""
        try:
            yield self._try_lock()
        finally:
            self.close()

    def _try_lock(self) -> bool:
        handle = self._open()
        with os_errors(self._path):
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def _poll(self) -> bool:
        """Whether the lock comes free in a moment, as most do: a look costs less than a thread."""
        until = time.monotonic() + _POLL_S
        while time.monotonic() < until:
            time.sleep(0.0005 + time.monotonic_ns() % 20 * 0.0001)  # spreads those who wait
            if self._try_lock():
                return True
        return False

    def _queue(self) -> None:
        """Queue for the lock on a thread of its own: nothing else can end a wait that is too long.

        Giving up is closing the handle. The thread's wait goes on, and what it then gets goes with
        the handle at once.
        """
        handle, granted = self._open(), threading.Event()

        def queue() -> None:
            with contextlib.suppress(OSError):
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX)
                granted.set()

        try:
            threading.Thread(target=queue, name="memoriter-lease", daemon=True).start()
            in_time = granted.wait(WAIT_LIMIT_S)
        except BaseException:
            self.close()
            raise
        if not in_time:
            self.close()
            raise Unavailable(
                f"another process holds the write lock {self._path.name}",
                hint="try again; if it stays so, look for a process that was stopped",
            )

    def _open(self) -> int:
        if self._handle is None:
            with os_errors(self._path):
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._handle

    def close(self) -> None:
        """Close the file; a held lock goes with it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def forked(self) -> None:
        """In a new child: let go, or the lock outlives the parent that holds it."""
        self._mutex = threading.Lock()
        self.close()


@contextlib.contextmanager
def try_lock(path: Path) -> Generator[bool]:
    """Take a lock if nobody holds it; yields whether it was taken."""
    with Lease(path).try_held() as taken:
        yield taken


_LEASES: Final[weakref.WeakSet[Lease]] = weakref.WeakSet()


def _forked() -> None:
    for lease in list(_LEASES):
        lease.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
