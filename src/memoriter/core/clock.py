"""The only sources of wall-clock time and randomness, so that tests can replace both."""

from __future__ import annotations

import os
import threading
import time
from typing import Final, Protocol


class Clock(Protocol):
    """A source of time; `open(…, clock=…)` takes one."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000


class Stamps:
    """Monotonic timestamps for ids.

    UUIDv7 ids sort by time, so the ids of one process must not go backwards when the clock is set
    back. The times stored in a record are not changed.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def after(self, now: int) -> int:
        """This time, or the latest time returned so far if that is later."""
        with self._lock:
            self._last = max(self._last, now)
            return self._last


STAMPS: Final = Stamps()
"""Shared by all memories of this process that use the system clock."""


class Entropy(Protocol):
    """A source of random bytes for ids and salts; `open(…, entropy=…)` takes one."""

    def draw(self, count: int) -> bytes:
        """Return this many unpredictable bytes."""
        ...


class SystemEntropy:
    """The machine's own source of randomness."""

    def draw(self, count: int) -> bytes:
        """Return this many unpredictable bytes."""
        return os.urandom(count)


_VARIANT: Final = {f"{n:x}": f"{0b1000 | n & 0b0011:x}" for n in range(16)}
"""Four random bits → the same, of which the first two are those of the variant."""


def uuid7(now: int, random: bytes) -> str:
    """A UUIDv7 (RFC 9562) for this time in microseconds and these ten random bytes.

    >>> uuid7(1_700_000_000_000_000, bytes(10))
    '018bcfe5-6800-7000-8000-000000000000'
    """
    # RFC 9562 layout: 48 bits of milliseconds, version 7, 12 random bits, variant 0b10, 62 random
    # bits; the other 6 of the 80 random bits are unused.
    stamp, noise = f"{now // 1000 & 0xFFFF_FFFF_FFFF:012x}", random.hex()
    variant = _VARIANT[noise[4]]
    return f"{stamp[:8]}-{stamp[8:]}-7{noise[1:4]}-{variant}{noise[5:8]}-{noise[8:]}"
