"""Analyzers that a store keeps words of: adding one, going on, taking one away."""

from __future__ import annotations

from pathlib import Path

import memoriter


def test_an_analyzer_that_is_removed_leaves_no_file_behind(tmp_path: Path) -> None:
    with memoriter.open(
        tmp_path / "m.db", embedder=None, flush_rows=10, maintenance="manual"
    ) as memory:
        memory.remember_many(f"topsecret {n}" for n in range(30))
        memory.maintain()
        ours = set((tmp_path / "m.db.idx").glob("*.seg"))
        memory.analyzers.add("fts5-porter")
        assert set((tmp_path / "m.db.idx").glob("*.seg")) > ours
        memory.analyzers.remove("fts5-porter")
        assert set((tmp_path / "m.db.idx").glob("*.seg")) == ours


def test_a_resumed_reading_tells_all_of_its_progress(tmp_path: Path) -> None:
    progress: list[int] = []
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember_many(f"note {n}" for n in range(50))
        memory.analyzers.add("simple")
        memory.remember_many(f"more {n}" for n in range(50))
        memory.analyzers.add("porter2", progress=progress.append)
    assert progress[-1] == 100
