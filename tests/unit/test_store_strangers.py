"""Other programs on the file of a store: they are noticed before a write is acknowledged."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from tests.unit.processes import OTHER, python

import memoriter
from memoriter import Unavailable, Unsupported
from memoriter.store.sqlite import store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def test_a_stranger_that_comes_later_stops_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        for _ in range(5):  # threads come and go, and leave handles to SQLite
            thread = threading.Thread(target=memory.browse)
            thread.start()
            thread.join()
        memory.remember("first")
        with path.open("rb"), pytest.raises(Unsupported, match="without memoriter"):
            memory.remember("second")
        memory.remember("third")
        assert memory.browse().total == 2


def test_a_write_into_a_log_that_was_thrown_away_is_not_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    memory = memoriter.open(path, embedder=None)
    memory.remember("first", id="first")
    stranger = sqlite3.connect(path)
    stranger.execute("SELECT count(*) FROM records").fetchone()
    stranger.close()  # and with it go our locks
    python(OTHER, path)  # which throws the log away when it closes
    assert not path.with_name("m.db-wal").exists()
    for _ in range(2):
        with pytest.raises(Unavailable, match="moved, replaced or removed") as caught:
            memory.remember("second", key="k")
        assert "open it again" in caught.value.hint
    memory.close()
    with memoriter.open(path, embedder=None) as again:
        again.remember("second", key="k")
        assert {record.text for record in again.browse().records} == {"first", "other", "second"}
        assert again.verify_store().sound


def test_a_log_that_vanishes_during_a_write_is_noticed_before_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    memory = memoriter.open(path, embedder=None)
    memory.remember("first")
    read = store.head_of

    def removed(*given: object) -> object:
        path.with_name("m.db-wal").unlink()
        return read(*given)  # type: ignore[arg-type]  # passed on

    with monkeypatch.context() as patched:
        patched.setattr(store, "head_of", removed)
        with pytest.raises(Unavailable, match="moved, replaced or removed"):
            memory.remember("second")
    memory.close()
    memory.close()


def test_what_other_memories_of_this_process_do_is_no_stranger(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    failed: list[BaseException] = []
    memoriter.open(path, embedder=None).close()

    def come_and_go(*, close: bool) -> None:
        try:
            for _ in range(25):
                memory = memoriter.open(path, embedder=None)
                memory.remember("x")
                if close:
                    memory.close()
                del memory
        except BaseException as error:
            failed.append(error)

    running = [
        threading.Thread(target=come_and_go, kwargs={"close": bool(n % 2)}) for n in range(4)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed, failed
    with memoriter.open(path, embedder=None) as memory:
        assert memory.browse().total == 100
