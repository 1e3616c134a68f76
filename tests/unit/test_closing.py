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
from memoriter.index.background import Background
from memoriter.index.pace import Pace
from memoriter.memory import engine
from memoriter.memory.tenants import Tenants

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


class FakeTime:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += max(seconds, 0.0)


def of_two_embedders(path: Path) -> Tenants:
    """A store with two tenants, each with an engine of its own and something to publish."""
    with memoriter.open(path, tenant="y", embedder="hash") as memory:
        memory.embedding.migrate("hash")
        memory.embedding.promote("hash")
    tenants = Tenants(path, flush_rows=2)
    for tenant in ("x", "y"):
        tenants.memory(tenant).remember("one note")
    return tenants


def test_upkeep_of_all_engines_together_gets_less_than_a_second_of_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants, fake = of_two_embedders(tmp_path / "m.db"), FakeTime()
    with monkeypatch.context() as patch:
        patch.setattr(engine, "time", fake)
        patch.setattr("memoriter.index.cache.time", fake)
        patch.setattr(Background, "close", fake.wait)
        tenants.close()
    assert (fake.waited[0], sum(fake.waited)) == (0.75, 0.75)


def test_every_engine_is_given_its_turn_before_their_store_is_closed(tmp_path: Path) -> None:
    tenants = of_two_embedders(tmp_path / "m.db")
    for tenant in ("x", "y"):
        memory = tenants.memory(tenant)
        memory.forget(memory.browse().records[0].id)
    tenants.close()
    for tenant in ("x", "y"):
        with memoriter.open(tmp_path / "m.db", tenant, read_only=True) as memory:
            assert memory.status().unerased == 0, tenant


class Slices:
    """Thread time of which every look takes a slice, and the rests between."""

    def __init__(self) -> None:
        self.taken = 0.0
        self.rests: list[float] = []

    def thread_time(self) -> float:
        self.taken += 1.0
        return self.taken

    def sleep(self, seconds: float) -> None:
        self.rests.append(seconds)


def test_upkeep_does_not_rest_while_close_waits_and_ends_at_its_next_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slices, steps, ended = Slices(), list[str](), threading.Event()
    begun = threading.Event()
    monkeypatch.setattr("memoriter.index.pace.time", slices)

    def work(job: str) -> None:
        pace = Pace(lambda: background.over, lambda: background.awaited)
        pace()
        begun.set()
        while not background.awaited:
            time.sleep(0.001)
        try:
            while True:
                steps.append("over" if background.over else job)
                pace()
        except Unavailable:
            ended.set()

    background = Background(work)
    background.ask("a")
    begun.wait(30)
    background.close(0.01)
    assert ended.wait(30)
    assert slices.rests[0] == 1.0, "as long as it had worked"
    assert not any(slices.rests[1:])
    assert steps.count("over") <= 1


def test_closing_once_more_waits_for_nothing() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), list[str]()

    def work(job: str) -> None:
        begun.set()
        go_on.wait(5)
        done.append(job)

    background = Background(work)
    background.ask("a")
    begun.wait(30)
    background.close(0.01)
    background.close(3600)
    assert not done, "it came back while the job was still running"
    go_on.set()
