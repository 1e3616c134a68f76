"""Calls of a model in a daemon thread, so that the caller can stop waiting for them.

Python cannot kill a thread. A call that takes too long is abandoned and counted; callers refuse to
start another one while too many abandoned calls of the same model still run. Used by `embed.call`,
`rerank.call` and `models.http_client`.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_Any = TypeVar("_Any")


def run_in_thread(act: Callable[[], _Any], name: str) -> Future[_Any]:
    """Start a function in a daemon thread and return the future of its result.

    >>> run_in_thread(lambda: 6 * 7, "example").result(timeout=5.0)
    42
    """
    outcome: Future[_Any] = Future()

    def run() -> None:
        # BaseException too: the caller waits for the future and must see any failure.
        try:
            value = act()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(value)

    # A new thread starts with an empty context; the model may read context variables (tracing).
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name=name, daemon=True).start()
    return outcome


class AbandonedCalls:
    """The abandoned calls that still run, with the model each belongs to. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[Future[Any], tuple[int, object]] = {}
        """Future → (process id, model)."""

    def count(self, model: object) -> int:
        """How many abandoned calls of a model still run in this process."""
        # A forked child inherits the entries but not the threads, so entries of another process
        # do not count.
        pid = os.getpid()
        with self._lock:
            return sum(owner == pid and other is model for owner, other in self._calls.values())

    def add(self, call: Future[Any], model: object) -> None:
        """Count a call until it ends."""
        with self._lock:
            self._calls[call] = (os.getpid(), model)
        # Registered outside the lock: if the call has ended already, the callback runs right here.
        call.add_done_callback(self._remove)

    def _remove(self, call: Future[Any]) -> None:
        with self._lock:
            self._calls.pop(call, None)
