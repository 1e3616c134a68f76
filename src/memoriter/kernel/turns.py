"""Threads that search take turns with Python code; long kernel calls run beside it.

The interpreter's lock (GIL) lets one thread compute at a time anyway. But numpy releases it
hundreds of times in a search. If other threads wait for it, each release is a switch of threads,
and a search takes up to twice its CPU time. So a thread that searches first waits for its turn, by
a lock of our own, and numpy's releases find nobody waiting. It passes the turn on while it needs no
interpreter: in a long kernel call, while a database or a model answers.

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
from typing import Final, TypeVar

WAIT_S: Final = 0.05
"""How long a thread waits for its turn, at most."""
LOST_S: Final = 10.0
"""A turn that lasts longer is lost: an interrupt came just before the thread passed it on."""
T = TypeVar("T")


class _Own(threading.local):
    """The state of a thread."""

    waits = False
    """Whether it waits for its turn: not any more, once it waited in vain in a search."""
    has_turn = False
    """Whether it is its turn; set before the lock is taken and cleared after it is released."""


class ThreadTurns:
    """The turns of the threads of a process."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._lock = threading.RLock()  # who does not have it cannot release it
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
            self._own.waits = True
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

    def _take(self) -> None:
        own = self._own
        if not own.waits:
            return
        own.has_turn = True
        own.has_turn = own.waits = self._lock.acquire(timeout=self._wait_s)
        now = time.monotonic()
        if own.has_turn:
            self._began = now
        elif now - self._began > LOST_S:
            self._lock = threading.RLock()

    def _pass_on(self) -> None:
        if self._own.has_turn:
            with contextlib.suppress(RuntimeError):  # an interrupt came before it was taken
                self._lock.release()
            self._own.has_turn = False


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
