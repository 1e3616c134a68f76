"""A space that fills in the background: how far it is, how it ended, how to stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from memoriter.core.errors import Unavailable
from memoriter.core.shown import counted, shown
from memoriter.write.progress import Told

Done = TypeVar("Done")


class _Stopped(Exception):
    """Somebody said stop."""


class BackgroundFill(Generic[Done]):
    """Work that tells how many rows are done, in a thread of its own."""

    def __init__(self, work: Callable[[Told], Done]) -> None:
        self.rows = 0
        """How many rows are done by now."""
        self._stop = threading.Event()
        self._done: Done | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name="memoriter-filling")
        self._thread.daemon = True  # what is done is committed; the rest can be begun again
        self._thread.start()

    def __repr__(self) -> str:
        state = "running" if self.running else "ended"
        return shown("BackgroundFill", f"{counted(self.rows, 'row')}, {state}")

    def _run(self, work: Callable[[Told], Done]) -> None:
        try:
            self._done = work(self._told)
        except BaseException as error:  # told to whoever waits
            self._error = error

    def _told(self, rows: int) -> None:
        self.rows = rows
        if self._stop.is_set():
            raise _Stopped

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> Done:
        """What it came to; what went wrong is raised here."""
        self._thread.join(timeout)
        if self.running or isinstance(self._error, _Stopped):
            why = "still runs" if self.running else "was stopped"
            raise Unavailable(f"the filling {why} at {self.rows} rows", hint="what is done is kept")
        if self._error is not None:
            raise self._error
        assert self._done is not None  # noqa: S101  # it ended, and not by an error
        return self._done

    def stop(self) -> int:
        """End it after the portion at hand; how many rows are done."""
        self._stop.set()
        self._thread.join()
        return self.rows
