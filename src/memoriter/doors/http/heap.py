"""Gives memory back to the system after large requests.

The C library keeps what Python frees for later use, once for every thread. After a burst of large
bodies that would stay with the server for as long as it runs. Elsewhere than on Linux with glibc
nothing is done.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
from collections.abc import Callable
from typing import Any, Final

LARGE: Final = 256 * 1024
"""From this many bytes on, a body counts as large."""
EVERY_S: Final = 1.0
"""How often memory is given back at most."""
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

    def saw(self, size: int) -> None:
        """A body of this many bytes was read."""
        self._large = self._large or size >= LARGE

    async def keep_trimmed(self) -> None:
        """Give memory back while the server runs, whenever large bodies were read."""
        while True:
            await asyncio.sleep(EVERY_S)
            if self._large:
                self._large = False
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
