"""Work leaves the loop: a bounded number of threads, a bounded queue, a deadline for questions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from recollect.core.errors import TooMany, Unavailable
from recollect.doors.http.limits import Limits

T = TypeVar("T")


class Work:
    """Threads for what blocks. What was begun always ends, also when nobody waits any more."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, "recollect-http")
        self._open = 0
        self._lock = threading.Lock()

    async def run(self, act: Callable[[], T], *, deadline: bool) -> T:
        """What the function gives; with a deadline its caller waits only so long."""
        with self._lock:
            if self._open >= self._limits.threads + self._limits.waiting:
                raise TooMany("the server is busy", hint="try again in a moment")
            self._open += 1
        try:
            running = self._threads.submit(act)
        except RuntimeError:  # the threads have gone
            self._done()
            raise Unavailable("the server stops", hint="try again later") from None
        running.add_done_callback(self._done)
        awaited = asyncio.wrap_future(running)
        awaited.add_done_callback(_seen)
        limit = self._limits.answer_s if deadline else None
        done, _ = await asyncio.wait({awaited}, timeout=limit)
        if not done:
            running.cancel()
            raise Unavailable(f"no answer within {limit:g} s", hint="ask for less, or later")
        return awaited.result()

    def _done(self, _: Future[T] | None = None) -> None:
        with self._lock:
            self._open -= 1

    def close(self) -> None:
        """Finish what was begun, and what waits."""
        self._threads.shutdown(wait=True)


def _seen(awaited: asyncio.Future[T]) -> None:
    """Look at the outcome, so that nobody complains of one that came too late."""
    if not awaited.cancelled():
        awaited.exception()
