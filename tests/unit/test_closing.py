"""A closed memory: what runs is ended, and whatever comes later says why it is refused."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.inside import log_of
from tests.unit.processes import is_free

import memoriter
from memoriter import Unavailable, Unsupported
from memoriter.aio import aopen

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = memoriter.open(tmp_path / "m.db")
    memory.remember("x")
    memory.close()
    memory.close()
    for act in (lambda: memory.recall("x"), lambda: memory.remember("y"), memory.browse):
        with pytest.raises(Unsupported, match="closed"):
            act()


def test_close_ends_what_other_threads_do_and_they_are_told(tmp_path: Path) -> None:
    path, raised, acked = tmp_path / "m.db", list[BaseException](), list[str]()
    memory = memoriter.open(path, embedder=None)
    memory.remember_many([f"note {n} " * 20 for n in range(1000)])

    def until_closed(act: Callable[[], object]) -> None:
        try:
            while True:
                act()
        except BaseException as error:
            raised.append(error)

    acts = (
        lambda: acked.append(memory.remember("one more").id),
        memory.verify_store,
        lambda: memory.recall("note"),
        lambda: list(log_of(memory).words("default")),
    )
    running = [threading.Thread(target=until_closed, args=(act,)) for act in acts]
    for thread in running:
        thread.start()
    time.sleep(0.3)
    memory.close()
    memory.close()
    for thread in running:
        thread.join(60)
    assert [type(error) for error in raised] == [Unsupported] * len(acts), raised
    assert all("closed" in str(error) for error in raised)
    assert is_free(path)
    with memoriter.open(path, embedder=None) as again:
        assert again.browse().total >= 1000 + len(acked)
        assert again.verify_store().sound


def test_an_awaited_verb_after_close_says_that_the_memory_is_closed(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await aopen(tmp_path / "m.db", embedder=None)
        view = memory.scoped(agent="bot")
        await memory.close()
        await memory.close()
        for each in (memory, view):
            with pytest.raises(Unavailable, match="this memory is closed"):
                await each.remember("late")

    asyncio.run(use())


def test_what_one_command_after_another_writes_is_published_in_the_end(tmp_path: Path) -> None:
    """A process that writes one record leaves it in the log; the next to find many publishes."""
    path = tmp_path / "m.db"
    for n in range(4):
        with memoriter.open(path, embedder=None) as memory:
            memory.remember_many([f"note {n} {k}" for k in range(140)])
        segments = list((tmp_path / "m.db.idx").glob("*.seg"))
        assert len(segments) == (n + 1) // 4  # 256 records at least, two entries of the log each
    with memoriter.open(path, embedder=None) as memory:
        assert memory.count() == 560
