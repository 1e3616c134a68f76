"""The lock of threads that take turns, where the native kernel has one (`native/c/turns.c`).

`kernel/turns.py` could do with `threading.RLock`. This lock does two things more: turns stay on one
core, whose cache has what all of them read, and a long kernel call passes the turn on and takes it
again without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Final

TURN_CALLS: Final = {
    "turn_begin": (ctypes.c_void_p,),
    "turn_take": (ctypes.c_void_p, ctypes.c_int64),
    "turn_pass": (ctypes.c_void_p,),
    "run_beside": (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64),
}
"""Further functions of the library, as in `library.py`."""
_TURN_BYTES: Final = 128
"""As in `native/c/kernel.h`."""
Functions = Mapping[str, Callable[..., int]]


class NativeLock:
    """Only the thread that has it can release it."""

    def __init__(self, releasing: Functions, keeping: Functions) -> None:
        """The functions, as they release the interpreter's lock and as they keep it."""
        self._held = (ctypes.c_int64 * (_TURN_BYTES // 8))()
        self._turn = ctypes.addressof(self._held)
        self._try, self._pass_on = keeping["turn_take"], keeping["turn_pass"]
        self._take, self._run = releasing["turn_take"], releasing["run_beside"]
        if not keeping["turn_begin"](self._turn):
            raise MemoryError("the native kernel could not make a lock for threads that search")

    def acquire(self, timeout: float) -> bool:
        """Whether this thread has the lock, after so many seconds at most."""
        return bool(self._try(self._turn, 0) or self._take(self._turn, _ns(timeout)))

    def release(self) -> None:
        """Nothing happens if another thread has the lock."""
        self._pass_on(self._turn)

    def run_beside(self, jobs: int, count: int, timeout: float) -> bool:
        """Release the lock, run jobs (their address), take it again; whether this thread has it."""
        return bool(self._run(jobs, count, self._turn, _ns(timeout)))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
