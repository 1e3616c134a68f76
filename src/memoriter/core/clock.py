"""The one place where wall-clock time and randomness enter, so that tests can replace both."""

from __future__ import annotations

import os
import threading
import time
from typing import Final, Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000


class Stamps:
    """Times for ids: as a clock says, but never earlier than the last one.

    Ids sort by their time, so those of one process go on where they stood when the clock is set
    back. The times that a record carries stay the clock's own.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def after(self, now: int) -> int:
        """This time, or the latest that was given before."""
        with self._lock:
            self._last = max(self._last, now)
            return self._last


STAMPS: Final = Stamps()
"""Of the machine's clock, for the whole process."""


class Entropy(Protocol):
    """Gives random bytes, for ids and salts."""

    def draw(self, count: int) -> bytes:
        """That many bytes nobody can guess."""
        ...


class SystemEntropy:
    """The machine's own source of randomness."""

    def draw(self, count: int) -> bytes:
        """That many bytes nobody can guess."""
        return os.urandom(count)


def uuid7(now: int, random: bytes) -> str:
    """A UUIDv7 (RFC 9562) for this time in microseconds and these ten random bytes.

    >>> uuid7(1_700_000_000_000_000, bytes(10))
    '018bcfe5-6800-7000-8000-000000000000'
    """
    stamp = (now // 1000) & 0xFFFF_FFFF_FFFF
    noise = int.from_bytes(random, "big")
    value = (
        stamp << 80 | 0x7 << 76 | (noise >> 64 & 0xFFF) << 64 | 0b10 << 62 | noise & (1 << 62) - 1
    )
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
