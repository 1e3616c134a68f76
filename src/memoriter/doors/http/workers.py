"""The worker threads of the HTTP server: a bounded pool with a bounded queue and a deadline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from memoriter.core.errors import TooMany, Unavailable
from memoriter.doors.http.limits import Limits

T = TypeVar("T")


class WorkerPool:
    """Runs blocking functions in threads; one that has started is never interrupted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, "memoriter-http")
        self._open = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], T], *, deadline: bool) -> T:
        """The result of `work`, run in a thread.

        With a deadline, both the time in the queue and the run are limited to `answer_s` seconds.
        Raises TooMany if the queue is full or the work never started, Unavailable if the deadline
        has passed or the server stops.
        """
        with self._lock:
            if self._open >= self._limits.threads + self._limits.waiting:
                raise _busy()
            self._open += 1
        started: list[float] = []

        def timed() -> T:
            started.append(time.monotonic())
            return work()

        try:
            running = self._threads.submit(timed)
        except RuntimeError:  # the pool was shut down
            self._done()
            raise Unavailable("the server stops", hint="try again later") from None
        running.add_done_callback(self._done)
        awaited = asyncio.wrap_future(running)
        awaited.add_done_callback(_retrieve)
        limit = self._limits.answer_s if deadline else None
        done, _ = await asyncio.wait({awaited}, timeout=limit)
        if limit is not None and not done:
            # Cancelling succeeds only if the work is still in the queue: then nothing was done,
            # and the caller may try again. Else it gets the rest of its time from its own start.
            if running.cancel():
                raise _busy()
            now = time.monotonic()
            left = (started[0] if started else now) + limit - now
            done, _ = await asyncio.wait({awaited}, timeout=max(0.0, left))
            if not done:
                raise Unavailable(
                    f"no answer within {limit:g} s", hint="ask for less, or try again later"
                )
        return awaited.result()

    def _done(self, _: Future[T] | None = None) -> None:
        with self._lock:
            self._open -= 1

    def close(self) -> None:
        """Wait until all work has ended, that in the queue too."""
        self._threads.shutdown(wait=True)


def _busy() -> TooMany:
    return TooMany("the server is busy", hint="try again in a moment")


def _retrieve(awaited: asyncio.Future[T]) -> None:
    """Read the exception: asyncio logs one that nobody reads, as after a deadline."""
    if not awaited.cancelled():
        awaited.exception()
