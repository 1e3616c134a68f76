"""Threads that search take turns with Python code; long kernel calls run beside it.

The interpreter's lock (GIL) lets one thread compute at a time anyway. But numpy releases it
hundreds of times in a search. If other threads wait for it, each release is a switch of threads,
and a search takes up to twice its CPU time. So a thread that searches first waits for its turn, by
a lock of our own, and numpy's releases find nobody waiting. It passes the turn on while it needs no
interpreter: in a long kernel call, while a database or a model answers. The native kernel has a
lock for this that also keeps the turns on one core (`turn_lock.py`).

Nobody waits long: a thread that does not get its turn in time goes on without one, as if there were
no turns. So a slow search does not stop others, and nothing can block for good.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from memoriter.kernel.turn_lock import NativeLock

if TYPE_CHECKING:
    from memoriter.kernel.library import Library

WAIT_S: Final = 0.05
"""How long a thread waits for its turn, at most."""
LOST_S: Final = 10.0
"""A turn that lasts longer is lost: an interrupt came just before the thread passed it on."""
T = TypeVar("T")


class TurnLock(Protocol):
    """What turns need of a lock: who does not have it cannot release it."""

    def acquire(self, *, timeout: float) -> bool:
        """Whether this thread has the lock, after so many seconds at most."""
        ...

    def release(self) -> None:
        """Release it; RuntimeError, or nothing, if another thread has it."""
        ...


def turn_lock(fast: Library | None) -> TurnLock:
    """A new lock: of the native kernel, or one of Python where there is none."""
    return (None if fast is None else fast.turn_lock()) or python_lock(fast)


def python_lock(fast: Library | None) -> TurnLock:
    """A new lock of Python."""
    del fast
    return threading.RLock()


class _Own(threading.local):
    """The state of a thread."""

    waits = False
    """Whether it waits for its turn: not any more, once it waited in vain in a search."""
    has_turn = False
    """Whether it is its turn; set before the lock is taken and cleared after it is released."""
    lock: TurnLock
    """The lock that it takes in this search."""


class ThreadTurns:
    """The turns of the threads of a process."""

    def __init__(
        self, wait_s: float = WAIT_S, new_lock: Callable[[Library | None], TurnLock] = turn_lock
    ) -> None:
        self._wait_s = wait_s
        self._new_lock = new_lock
        self._locks: dict[Library | None, TurnLock] = {}
        """By the library that works: tests and benchmarks change it."""
        self._began = 0.0
        self._own = _Own()

    @property
    def has_turn(self) -> bool:
        """Whether it is the turn of this thread."""
        return self._own.has_turn

    @contextmanager
    def turn(self) -> Generator[None]:
        """Compute in a turn; a search inside of another has the same one."""
        if self._own.has_turn:
            yield
            return
        try:
            self._begin()
            self._take()
            yield
        finally:
            self._pass_on()

    def beside(self, work: Callable[[], T]) -> T:
        """Do something while others have their turns."""
        if not self._own.has_turn:
            return work()
        try:
            self._pass_on()
            return work()
        finally:
            self._take()

    def leave_cores(self) -> None:
        """From now on, use no lock that keeps turns on one core.

        For several processes that search on as many cores: each does best on a core of its own.
        """
        self._new_lock = python_lock
        self._locks.clear()

    def run_jobs(self, run: Callable[[int, int], object], jobs: int, count: int) -> None:
        """Run jobs of the native kernel, `run(jobs, count)`, while others have their turns."""
        own = self._own
        if own.has_turn and isinstance(own.lock, NativeLock):
            own.has_turn = own.waits = own.lock.run_beside(jobs, count, self._wait_s)
            self._note()
        else:
            self.beside(lambda: run(jobs, count))

    def _begin(self) -> None:
        """Begin a search of this thread."""
        from memoriter.kernel.library import native_library  # noqa: PLC0415  # it imports this module

        fast = native_library()
        lock = self._locks.get(fast)
        if lock is None:
            lock = self._locks.setdefault(fast, self._new_lock(fast))
        self._own.lock, self._own.waits = lock, True

    def _take(self) -> None:
        own = self._own
        if not own.waits:
            return
        own.has_turn = True
        own.has_turn = own.waits = own.lock.acquire(timeout=self._wait_s)
        self._note()

    def _note(self) -> None:
        """What follows from whether this thread has the turn that it waited for."""
        now = time.monotonic()
        if self._own.has_turn:
            self._began = now
        elif now - self._began > LOST_S:
            self._locks.clear()

    def _pass_on(self) -> None:
        own = self._own
        if own.has_turn:
            with contextlib.suppress(RuntimeError):  # an interrupt came before it was taken
                own.lock.release()
            own.has_turn = False


class NoTurns(ThreadTurns):
    """For an interpreter without a lock, whose threads compute at the same time."""

    def _take(self) -> None:
        pass


def _has_lock() -> bool:
    """Whether the interpreter has a lock; before Python 3.13 it always has."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


TURNS: Final = ThreadTurns() if _has_lock() else NoTurns()
"""The turns of this process."""
if hasattr(os, "register_at_fork"):
    # In the child nobody else runs, whoever had the turn in the parent.
    os.register_at_fork(after_in_child=TURNS.__init__)
