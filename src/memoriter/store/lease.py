"""File locks between processes (`flock`), each on a lock file of its own.

The SQLite store queues its writers on `x.db.lock`, because SQLite's own busy wait is not fair;
index upkeep uses `try_lock` so that one process does it at a time. The database file itself is
never locked here: its locks belong to SQLite.
"""

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
"""How long a writer waits; a stopped process (SIGSTOP) would otherwise block it for ever."""

_POLL_S: Final = 0.05
"""How long a writer polls before it joins the kernel's queue, which costs a thread."""


class Lease:
    """A fair, exclusive lock on a file; the kernel releases it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        self._handle: int | None = None
        _LEASES.add(self)

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        """Hold the lock for a block; Unavailable after `WAIT_LIMIT_S` seconds of waiting."""
        # flock() is per open file: threads of one process share the handle, so a mutex parts them.
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
        """Hold the lock for a block if it is free; yields whether it was taken."""
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
        """Whether the lock was taken within `_POLL_S`: most writes are shorter than that."""
        until = time.monotonic() + _POLL_S
        while time.monotonic() < until:
            time.sleep(0.0005 + time.monotonic_ns() % 20 * 0.0001)  # with jitter
            if self._try_lock():
                return True
        return False

    def _queue(self) -> None:
        """Wait in the kernel's queue, which is fair; Unavailable after `WAIT_LIMIT_S` seconds."""
        # A blocking flock() has no timeout, so it runs on a thread of its own. Giving up closes the
        # handle: if the thread gets the lock later, the lock is released with the handle at once.
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
                hint="try again; if that does not help, look for a process that hangs",
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
        """Release the handle in a forked child."""
        # An inherited handle shares the parent's lock, which would then outlive the parent. The
        # mutex may have been held by a thread that does not exist here.
        self._mutex = threading.Lock()
        self.close()


@contextlib.contextmanager
def try_lock(path: Path) -> Generator[bool]:
    """Hold the lock on a file for a block if it is free; yields whether it was taken."""
    with Lease(path).try_held() as taken:
        yield taken


_LEASES: Final[weakref.WeakSet[Lease]] = weakref.WeakSet()


def _forked() -> None:
    for lease in list(_LEASES):
        lease.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
