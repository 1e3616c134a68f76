"""What another process wrote is read in advance; answers never depend on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.inside import engine_of

import memoriter
from memoriter.core.errors import Unavailable
from memoriter.index import following
from memoriter.memory.facade import Memory
from memoriter.memory.tenants import Tenants
from memoriter.store.postgres.store import Postgres


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "EVERY_S", 0.01)
    monkeypatch.setattr(following, "AGAIN_S", 0.01)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def seen(memory: Memory, tenant: str = "default") -> int:
    """How far the index of a tenant has read, without asking for anything."""
    return engine_of(memory).index_cache.index(tenant).end[0]


def followers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "memoriter-follow"]


def test_what_another_process_wrote_is_read_before_it_is_asked_for(url: str) -> None:
    with (
        memoriter.open(url, embedder=None, maintenance="manual") as writer,
        memoriter.open(url, embedder=None, read_only=True) as reader,
    ):
        writer.remember("port 1")
        assert followers() == [], "nothing is cached yet"
        assert reader.count() == 1
        assert len(followers()) == 1
        writer.remember_many(f"port {n}" for n in range(2, 20))
        until(lambda: seen(reader) == writer.seq())
        # What it has not come to yet is seen all the same.
        for n in range(20, 30):
            writer.remember(f"port {n}")
            assert reader.count() == n
    until(lambda: followers() == [])


def test_what_is_read_in_advance_counts_for_the_memory_limit(url: str) -> None:
    with (
        Tenants(url, embedder=None, maintenance="manual") as writers,
        Tenants(url, embedder=None, read_only=True, memory_limit=100_000) as readers,
    ):
        names = ("ann", "bob", "cid")
        for name in names:
            writers.memory(name).remember("port 1")
            assert readers.memory(name).count() == 1
        cache = engine_of(readers.memory("ann")).index_cache
        last = cache.index("cid")
        for name in names:
            writers.memory(name).remember_many(f"port {n} of word{n}" for n in range(500))
        until(lambda: last.end[0] == writers.memory("cid").seq())
        assert last.nbytes > 100_000
        until(lambda: cache.held == last.nbytes)  # the least recently used were dropped


def test_all_tenants_are_looked_at_in_one_query_and_old_ones_in_none(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    ends = Postgres.ends

    def noted(self: Postgres, tenants: Any) -> Any:
        asked.append(list(tenants))
        return ends(self, tenants)

    monkeypatch.setattr(Postgres, "ends", noted)
    with Tenants(url, embedder=None) as tenants:
        for name in ("ann", "bob", "cid"):
            tenants.memory(name).remember("port 1")
            tenants.memory(name).count()
        until(lambda: ["ann", "bob", "cid"] in asked)
        monkeypatch.setattr(following, "LATELY_S", -1.0)
        until(lambda: followers() == [])
        monkeypatch.setattr(following, "LATELY_S", 60.0)
        monkeypatch.setattr(following, "MOST", 1)
        for name in ("ann", "bob"):
            tenants.memory(name).count()
        until(lambda: asked[-1] == ["bob"])
        assert len(followers()) == 1


def test_manual_maintenance_follows_nothing(url: str) -> None:
    with memoriter.open(url, embedder=None, maintenance="manual") as memory:
        memory.remember("port 1")
        assert memory.count() == 1
        assert followers() == []


def test_a_server_that_is_away_costs_a_look_and_no_answer(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends, failed, back = Postgres.ends, threading.Event(), threading.Event()

    def away(self: Postgres, tenants: Any) -> Any:
        if back.is_set():
            return ends(self, tenants)
        failed.set()
        raise Unavailable("away", hint="wait")

    monkeypatch.setattr(Postgres, "ends", away)
    with (
        memoriter.open(url, embedder=None) as memory,
        memoriter.open(url, embedder=None, maintenance="manual") as writer,
    ):
        memory.remember("port 1")
        assert memory.count() == 1
        assert failed.wait(60)
        writer.remember("port 2")
        assert memory.count() == 2
        back.set()
        writer.remember("port 3")
        until(lambda: seen(memory) == 3)
