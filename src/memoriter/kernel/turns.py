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

import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar

WAIT_S: Final = 0.05
"""How long a thread waits for its turn, at most."""
T = TypeVar("T")


class _Own(threading.local):
    """The state of a thread."""

    searching = False
    """Whether it searches."""
    waits = False
    """Whether it waits for its turn: not any more, once it waited in vain."""
    has_turn = False
    """Whether it is its turn."""


class ThreadTurns:
    """The turns of the threads of a process."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._own = _Own()

    @property
    def has_turn(self) -> bool:
        """Whether it is the turn of this thread."""
        return self._own.has_turn

    @contextmanager
    def turn(self) -> Generator[None]:
        """Compute in a turn; a search inside of another has the same one."""
        if self._own.searching:
            yield
            return
        self._own.searching = self._own.waits = True
        self._take()
        try:
            yield
        finally:
            self._pass_on()
            self._own.searching = False

    def beside(self, work: Callable[[], T]) -> T:
        """Do something while others have their turns."""
        if not self._own.has_turn:
            return work()
        self._pass_on()
        try:
            return work()
        finally:
            self._take()

    def _take(self) -> None:
        own = self._own
        if own.waits:
            own.has_turn = own.waits = self._lock.acquire(timeout=self._wait_s)

    def _pass_on(self) -> None:
        if self._own.has_turn:
            self._own.has_turn = False
            self._lock.release()


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
