"""Work that nobody has to wait for: a thread of its own, which ends with the process."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Any = TypeVar("_Any")


def apart(act: Callable[[], _Any], name: str) -> Future[_Any]:
    """The outcome of an act that runs in a daemon thread; whoever waits for it may leave.

    >>> apart(lambda: 6 * 7, "example").result(timeout=5.0)
    42
    """
    outcome: Future[_Any] = Future()

    def run() -> None:
        try:
            made = act()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(made)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name=name, daemon=True).start()
    return outcome
