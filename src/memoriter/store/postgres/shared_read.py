"""A read that threads share: one that began after they asked serves all who waited meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Calls a function once for many threads; no one gets a result from before it asked."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._reading = threading.Lock()
        """Held while the function runs."""
        self._begun = 0
        """How often the function was called."""
        self._last: tuple[int, T] | None = None
        """The number of the last call that succeeded, and its result."""

    def get(self) -> T:
        """A result of a call that began after this one; raises what the function raises."""
        fresh = self._begun + 1
        with self._reading:
            if self._last is None or self._last[0] < fresh:
                self._begun += 1  # before the call: who asks from now on needs the next one
                self._last = self._begun, self._read()
            return self._last[1]
