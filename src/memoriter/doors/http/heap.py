"""Gives memory back to the system after large requests; keeps collections of garbage short.

The C library keeps what Python frees for later use, once for every thread. After a burst of large
bodies that would stay with the server for as long as it runs. Elsewhere than on Linux with glibc
nothing is done.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any, Final

LARGE: Final = 256 * 1024
"""From this many bytes on, a body counts as large."""
EVERY_S: Final = 1.0
"""How often memory is given back at most."""
_THRESHOLDS: Final = (20_000, 10, 10)
"""When the three generations of objects are collected; the usual first number is 700.

An answer makes more objects than that and its session keeps it, so each request would pay for a
collection that finds nothing. Objects that have gone by then cost nothing.
"""
_BURST: Final = 10
"""After so many seconds with large bodies garbage is collected though more of them come."""
_ARENAS: Final = 2
_M_ARENA_MAX: Final = -8
"""The number of the option of `mallopt`, from malloc.h."""


class Heap:
    """The heap of the process; only the thread of the event loop uses it."""

    def __init__(self) -> None:
        self._library: Any = _libc()
        self._large = False

    def limit_arenas(self) -> None:
        """Let threads share few pools of memory; what one has freed, others can use."""
        if self._library is not None:
            self._library.mallopt(_M_ARENA_MAX, _ARENAS)

    def freeze(self) -> None:
        """Keep the garbage collector away from what the server has loaded; call it before serving.

        A full collection stops all threads while it looks at every object, for up to a second on
        a busy machine. What is loaded stays, and little garbage is circular, so it comes rarely.
        """
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)

    def saw(self, size: int) -> None:
        """A body of this many bytes was read."""
        self._large = self._large or size >= LARGE

    async def keep_trimmed(self) -> None:
        """Give memory back while the server runs, whenever large bodies were read."""
        burst = 0
        while True:
            await asyncio.sleep(EVERY_S)
            if self._large:
                self._large, burst = False, burst + 1
                await asyncio.to_thread(self.trim)
            elif burst:
                burst = _BURST
            if burst >= _BURST:
                burst = 0
                gc.collect()  # what is circular may hold what large requests made
                await asyncio.to_thread(self.trim)

    def trim(self) -> None:
        """Give back what is free; ctypes lets other threads run meanwhile."""
        if self._library is not None:
            self._library.malloc_trim(0)


def _libc() -> Any:
    """The C library, if it has these functions."""
    if not sys.platform.startswith("linux"):
        return None
    library: Any = ctypes.CDLL(None)
    needed: list[Callable[..., int] | None] = [
        getattr(library, name, None) for name in ("malloc_trim", "mallopt")
    ]
    return library if all(needed) else None
