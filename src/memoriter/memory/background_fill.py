"""A migration to another embedder in a background thread: progress, result, stop.

`Embedding.begin` returns it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from memoriter.core.errors import Unavailable
from memoriter.core.shown import counted, shown
from memoriter.write.progress import ProgressCallback

Done = TypeVar("Done")


class _Stopped(Exception):
    """The caller called `stop`."""


class BackgroundFill(Generic[Done]):
    """Runs work in a thread; the work reports how many rows are done."""

    def __init__(self, work: Callable[[ProgressCallback], Done]) -> None:
        self.rows = 0
        """How many rows are done so far."""
        self._stop = threading.Event()
        self._done: Done | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name="memoriter-filling")
        # A daemon thread may die at exit: finished portions are committed, the rest is resumable.
        self._thread.daemon = True
        self._thread.start()

    def __repr__(self) -> str:
        state = "running" if self.running else "ended"
        return shown("BackgroundFill", f"{counted(self.rows, 'row')}, {state}")

    def _run(self, work: Callable[[ProgressCallback], Done]) -> None:
        try:
            self._done = work(self._report)
        except BaseException as error:  # raised again in `wait`
            self._error = error

    def _report(self, rows: int) -> None:
        self.rows = rows
        if self._stop.is_set():
            raise _Stopped

    @property
    def running(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> Done:
        """Wait for the result; raises the error of the work.

        Raises Unavailable if it was stopped, or still runs after `timeout` seconds.
        """
        self._thread.join(timeout)
        if self.running or isinstance(self._error, _Stopped):
            why = "still runs" if self.running else "was stopped"
            raise Unavailable(f"the filling {why} at {self.rows} rows", hint="what is done is kept")
        if self._error is not None:
            raise self._error
        assert self._done is not None  # noqa: S101  # it ended, and not by an error
        return self._done

    def stop(self) -> int:
        """Stop after the current portion; returns how many rows are done."""
        self._stop.set()
        self._thread.join()
        return self.rows
