"""Whole tenants are exported, loaded, checked and copied without being held in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.inside import log_of
from tests.postgres.server import store_url

import memoriter
from memoriter.memory import copying
from memoriter.store import snapshots
from memoriter.store.postgres import sessions
from memoriter.store.sqlite import scrub

COUNT, EACH = 80, 40_000
SIZE = COUNT * EACH
"""About how many bytes the records of the tenant have."""


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that some work holds at a time."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def file_place(folder: Path) -> str:
    return str(folder / "m.db")


@pytest.mark.parametrize("place_in", [file_place, store_url], ids=["sqlite", "postgres"])
def test_no_more_than_a_few_portions_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place_in: Callable[[Path], str]
) -> None:
    """What is counted is bytes at a time, of a tenant of three megabytes."""
    monkeypatch.setenv("MEMORITER_CACHE", str(tmp_path / "cache"))
    for module in (snapshots, sessions):
        monkeypatch.setattr(module, "PORTION", 4)
    monkeypatch.setattr(copying, "STRETCH", 4)
    monkeypatch.setattr(scrub, "CHUNK_BYTES", 2**16)  # how much of a file is cleaned at a time
    (tmp_path / "two").mkdir()
    place, other, out = place_in(tmp_path), place_in(tmp_path / "two"), tmp_path / "out.jsonl"
    with memoriter.open(place, embedder=None, maintenance="manual") as memory:
        rows: list[Any] = [
            {"text": f"port {n}", "metadata": {"long": "x" * EACH}} for n in range(COUNT)
        ]
        for n in range(0, COUNT, 4):
            memory.remember_many(rows[n : n + 4])
        del rows
        memory.export(out)  # once before it is counted: modules are loaded on first use
        with memoriter.open(":memory:", embedder=None) as loaded:
            loaded.load(out)
        held = {
            "export": peak_of(lambda: memory.export(out)),
            "verify": peak_of(memory.verify_store),
            "copy": peak_of(lambda: memoriter.copy(place, other)),
        }
        head = log_of(memory).head("default")
    with memoriter.open(tmp_path / "three.db", embedder=None, maintenance="manual") as loaded:
        held["load"] = peak_of(lambda: loaded.load(out))
        assert (loaded.count(), log_of(loaded).head("default").link) == (COUNT, head.link)
    assert out.stat().st_size > SIZE
    assert {name: size for name, size in held.items() if size > SIZE // 3} == {}
