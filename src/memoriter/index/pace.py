"""Lets long work of upkeep yield to other threads, and end when its store is closed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from memoriter.core.errors import Unavailable

SLICE_S: Final = 0.002
"""CPU seconds of work between two rests."""
REST: Final = 1.0
"""How long a rest is, as a multiple of the work before it."""


class Pace:
    """Called every few milliseconds of work.

    Threads share one interpreter: without rests, a search would get it back only every few
    milliseconds, at each of its many steps.
    """

    def __init__(
        self, is_over: Callable[[], bool], is_awaited: Callable[[], bool] = lambda: False
    ) -> None:
        self._is_over = is_over
        self._is_awaited = is_awaited
        self._since = time.thread_time()

    def __call__(self) -> None:
        """Rest if it is time to and nobody waits; Unavailable if the work shall end."""
        if self._is_over():
            raise Unavailable(
                "upkeep ended early, because the store was closed",
                hint="open the store again: upkeep then continues",
            )
        worked = time.thread_time() - self._since
        if worked >= SLICE_S:
            time.sleep(0.0 if self._is_awaited() else worked * REST)
            self._since = time.thread_time()


def unpaced() -> None:
    """Work that nobody waits for, or that is short."""
