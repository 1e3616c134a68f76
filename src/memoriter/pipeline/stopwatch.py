"""Milliseconds by step of a search: for people who look at one, never for the answer."""

from __future__ import annotations

import time
from typing import Final

_MS: Final = 1000.0


class Stopwatch:
    """Notes the time since the last lap under a name."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        """Milliseconds by name, in the order of the first lap of each."""
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Add the time since the last lap to this name."""
        now = time.perf_counter()
        self.laps[name] = self.laps.get(name, 0.0) + _MS * (now - self._last)
        self._last = now
