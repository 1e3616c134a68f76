"""One of several writers whose order is replayed."""

from __future__ import annotations

from typing import TextIO

from tests.inside import engine_of
from tests.property.worlds import open_toy

from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock


def written(place: str, name: str, count: int, out: TextIO) -> None:
    """One of the writers: each write has an id, a time and salts of its own."""
    del out
    with open_toy(place, HandClock(), CountedEntropy(name), tenant="both") as memory:
        for n in range(count):
            one_write(memory, name, n)


def one_write(memory: Memory, name: str, n: int) -> None:
    clock = engine_of(memory).clock
    assert isinstance(clock, HandClock)
    clock.move(1)
    memory.remember(f"port {n} of {name}", id=f"{name}-{n}", entities=[name])
