"""The background thread of upkeep: runs jobs by name, one at a time, each after its delay."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Final

from memoriter.core.errors import MemoriterError, message_of

_log: Final = logging.getLogger(__name__)
ENDS_S: Final = 0.1
"""How much of its time `close` leaves a running job to notice that it shall end."""


class Background:
    """Jobs that one thread works off; the thread lives only while there are any.

    It is a daemon: a process that ends does not wait for it, and upkeep may be cut off anywhere.
    """

    def __init__(self, work: Callable[[str], None]) -> None:
        self._work = work
        self._state = threading.Condition()
        self._due: dict[str, float] = {}
        """When each job is due."""
        self._running: str | None = None
        self._waiting = 0
        self._thread: threading.Thread | None = None
        self.closed = False
        self.over = False
        """Whether running jobs shall end: the store is about to be closed under them."""

    def ask(self, job: str, delay: float = 0.0) -> None:
        """Have a job done in so many seconds, or sooner if it is due sooner already."""
        with self._state:
            if self.closed:
                return
            when = time.monotonic() + delay
            self._due[job] = min(when, self._due.get(job, when))
            if self._thread is None:
                self._begin()
            self._state.notify_all()

    def _begin(self) -> None:
        """Start the thread; the caller holds the lock."""
        self._thread = threading.Thread(target=self._run, name="memoriter-upkeep", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while (job := self._next()) is not None:
                self._work(job)
                with self._state:
                    self._running = None
                    self._state.notify_all()
        finally:
            with self._state:  # after an error that nobody expects another thread does the rest
                self._running = None
                if self._thread is threading.current_thread():
                    self._thread = None
                    if self._due:
                        self._begin()
                    self._state.notify_all()

    def _next(self) -> str | None:
        """Wait for the next job that is due; None, and the thread ends, if there is none at all."""
        with self._state:
            while self._due:
                job = min(self._due, key=self._due.__getitem__)
                left = 0.0 if self.closed else self._due[job] - time.monotonic()
                if left <= 0:
                    del self._due[job]
                    self._running = job
                    return job
                self._state.wait(left)
            self._thread = None
            self._state.notify_all()
            return None

    def attempt(self, work: Callable[[], bool]) -> bool:
        """The outcome of a part of a job; False, and a line in the log, if it fails."""
        try:
            return work()
        except (MemoriterError, OSError) as error:
            if not self.closed:
                _log.warning("upkeep failed and will be tried again: %s", message_of(error))
            return False

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a job: then it need not leave time to others."""
        return self._waiting > 0

    def finish(self, job: str) -> None:
        """Wait until a job is not running, and not due now either."""
        with self._state:
            self._waiting += 1
            try:
                self._state.wait_for(lambda: self._thread is None or not self._is_near(job))
            finally:
                self._waiting -= 1

    def _is_near(self, job: str) -> bool:
        """Whether a job runs, or is due; the caller holds the lock."""
        return self._running == job or self._due.get(job, math.inf) <= time.monotonic()

    def close(self, seconds: float) -> None:
        """Do at once what is due later, for at most so many seconds; the rest is dropped.

        Once closed, nothing is waited for any more.
        """
        with self._state:
            if self.over:
                return
            self.closed = True
            self._waiting += 1
            self._state.notify_all()
            grace = min(ENDS_S, max(seconds, 0.0))
            self._state.wait_for(lambda: self._thread is None, max(seconds - grace, 0.0))
            self._due.clear()
            self.over = True
            self._state.wait_for(lambda: self._thread is None, grace)
