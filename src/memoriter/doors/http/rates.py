"""How often may a token ask? A bucket each, refilled steadily."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from memoriter.core.errors import TooMany
from memoriter.doors.http.limits import Limits


class Rates:
    """A bucket per token, for the one thread of the loop."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst = limits.rate, limits.burst
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """By token: what was left, and when."""

    def take(self, token: str, count: int = 1) -> None:
        """Let so many requests of a token pass, or say when to come again."""
        now = self._clock()
        left, then = self._left.get(token, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._rate)
        if left < count:
            self._left[token] = left, now
            wait = math.ceil((count - left) / self._rate)
            raise TooMany(
                "this token asks too often", hint=f"try again in {wait} s", after=max(1, wait)
            )
        self._left[token] = left - count, now
