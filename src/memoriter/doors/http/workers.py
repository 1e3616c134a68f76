"""Work leaves the loop: a bounded number of threads, a bounded queue, a deadline for questions."""

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


class Work:
    """Threads for what blocks. What was begun always ends, also when nobody waits any more."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, "memoriter-http")
        self._open = 0
        self._lock = threading.Lock()

    async def run(self, act: Callable[[], T], *, deadline: bool) -> T:
        """What the function gives; with a deadline its caller waits so long, for it and before."""
        with self._lock:
            if self._open >= self._limits.threads + self._limits.waiting:
                raise _busy()
            self._open += 1
        began: list[float] = []

        def timed() -> T:
            began.append(time.monotonic())
            return act()

        try:
            running = self._threads.submit(timed)
        except RuntimeError:  # the threads have gone
            self._done()
            raise Unavailable("the server stops", hint="try again later") from None
        running.add_done_callback(self._done)
        awaited = asyncio.wrap_future(running)
        awaited.add_done_callback(_seen)
        limit = self._limits.answer_s if deadline else None
        done, _ = await asyncio.wait({awaited}, timeout=limit)
        if limit is not None and not done:
            if running.cancel():
                raise _busy()
            now = time.monotonic()
            left = (began[0] if began else now) + limit - now
            done, _ = await asyncio.wait({awaited}, timeout=max(0.0, left))
            if not done:
                raise Unavailable(f"no answer within {limit:g} s", hint="ask for less, or later")
        return awaited.result()

    def _done(self, _: Future[T] | None = None) -> None:
        with self._lock:
            self._open -= 1

    def close(self) -> None:
        """Finish what was begun, and what waits."""
        self._threads.shutdown(wait=True)


def _busy() -> TooMany:
    return TooMany("the server is busy", hint="try again in a moment")


def _seen(awaited: asyncio.Future[T]) -> None:
    """Look at the outcome, so that nobody complains of one that came too late."""
    if not awaited.cancelled():
        awaited.exception()
