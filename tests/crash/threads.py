"""Threads on one memory, and that none gets in the way of another."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.inside import counted_groups, log_of, no_writer, waiting_writers, write_transaction

import memoriter

HELD_S = 60.0
"""How long a writer holds its transaction, if nobody is done with reading before."""


def commits_are_shared(path: Path) -> None:
    """Those who come while nobody can write share the next transaction."""
    with memoriter.open(path, embedder=None) as memory:
        sizes = counted_groups(memory)
        with ThreadPoolExecutor(8) as threads:
            with no_writer(memory):
                writes = [threads.submit(memory.remember, f"note {n}") for n in range(8)]
                until = time.monotonic() + 60
                while waiting_writers(memory) < 8 and time.monotonic() < until:
                    time.sleep(0.001)
            assert len({each.result().seq for each in writes}) == 8
        assert sizes == [8]


def a_lone_write_does_not_linger(path: Path) -> None:
    """Nobody waits for company: a lone commit neither sleeps nor waits for a sign."""
    here, waits = threading.get_ident(), list[object]()
    sleep, wait = time.sleep, threading.Condition.wait

    def slept(seconds: float) -> None:
        if threading.get_ident() == here:
            waits.append(seconds)
        sleep(seconds)

    def waited(self: threading.Condition, timeout: float | None = None) -> bool:
        if threading.get_ident() == here:
            waits.append(timeout)
        return wait(self, timeout)

    with (
        memoriter.open(path, embedder=None, durability="fast", maintenance="manual") as memory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(time, "sleep", slept)
        patch.setattr(threading.Condition, "wait", waited)
        for n in range(20):
            memory.remember(f"note {n}")
        assert not waits


def readers_do_not_wait_for_a_writer(path: Path) -> None:
    """While a write transaction stands open, everything can be read, as it was before."""
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("a port", id="a")
        memory.keywords("port")
        held, read, ended = threading.Event(), threading.Event(), list[bool]()

        def hold() -> None:
            with write_transaction(memory) as db:
                db.execute("UPDATE tenants SET published=published")
                held.set()
                ended.append(read.wait(HELD_S))

        writer = threading.Thread(target=hold)
        writer.start()
        assert held.wait(60)
        try:
            assert memory.get("a").text == "a port"
            assert len(memory.keywords("port")) == memory.browse().total == 1
            assert memory.history("a")
            assert not ended  # all was read while the transaction stood open
        finally:
            read.set()
            writer.join()


def a_cancelled_call_still_commits(path: Path) -> None:
    """Cancelling lets go of the caller, never of a commit that is on its way."""
    begun, go_on = threading.Event(), threading.Event()

    async def story() -> None:
        memory = await memoriter.aopen(path, embedder=None)
        log: Any = log_of(memory.memory)
        commit = log.commit

        def slowly(batch: Any) -> Any:
            begun.set()
            go_on.wait(60)
            return commit(batch)

        log.commit = slowly
        task = asyncio.ensure_future(memory.remember("a port", id="a"))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        closing = asyncio.ensure_future(memory.close())
        done, _ = await asyncio.wait({closing}, timeout=1.0)  # one that does not wait is done soon
        go_on.set()
        await closing
        assert not done

    asyncio.run(story())
    with memoriter.open(path, embedder=None) as memory:
        assert memory.get("a").text == "a port"
        assert memory.verify_store().sound
