"""Calls that nobody waits for any more: nobody can end a thread, but it can be counted."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from typing import Any


class Abandoned:
    """The calls that still run, with their process (a child of a fork has none) and model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[Future[Any], tuple[int, object]] = {}

    def behind(self, model: object) -> int:
        """How many calls of a model still run."""
        own = os.getpid()
        with self._lock:
            return sum(pid == own and whose is model for pid, whose in self._calls.values())

    def leave(self, asked: Future[Any], model: object) -> None:
        """Count a call until it ends."""
        with self._lock:
            self._calls[asked] = (os.getpid(), model)
        asked.add_done_callback(self._ended)

    def _ended(self, asked: Future[Any]) -> None:
        with self._lock:
            self._calls.pop(asked, None)
