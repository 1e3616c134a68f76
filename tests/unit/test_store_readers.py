"""Readers of a store: their transactions and connections end, and the log stays small."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.inside import connection_of, connections, snapshot_of
from tests.unit.processes import OTHER, python

import memoriter
from memoriter.store.sqlite import transactions as store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def test_a_signal_at_any_step_of_a_snapshot_leaves_no_transaction_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("first", id="first")
    plain: Any = apsw.Connection
    doomed = ""

    class Interrupted(plain):
        def execute(self, statements: str, *given: Any, **more: Any) -> Any:
            done = super().execute(statements, *given, **more)
            if statements == doomed:
                raise KeyboardInterrupt
            return done

    monkeypatch.setattr(apsw, "Connection", Interrupted)
    with memoriter.open(path, embedder=None) as memory:
        for doomed in ("BEGIN", "ROLLBACK"):
            with contextlib.suppress(KeyboardInterrupt):
                memory.export(path.with_name("out.jsonl"))
            assert not connection_of(memory).in_transaction, doomed
        doomed = ""
        python(OTHER, path)
        assert memory.get("other").text == "other"


def test_a_thread_reads_by_one_connection_inside_and_outside_a_snapshot(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("first")
        first = connection_of(memory)
        memory.recall("first")
        assert connection_of(memory) is first
        with snapshot_of(memory) as connection:
            assert connection is first
            assert connection_of(memory) is first


_BARRED = """
import time
with memoriter.open(":memory:", embedder=None) as warm:  # loads everything before rights are gone
    warm.remember("x"); warm.recall("x")
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
memory = memoriter.open(sys.argv[1], embedder=None)
print("ready", flush=True)
for line in sys.stdin:
    try:
        total = memory.browse().total
        hits = memory.recall("note", 1000, overrides={"lanes.words.pool": 1000}).hits
        print(total, len(hits), memory.verify_store().sound, flush=True)
    except memoriter.MemoriterError as error:
        print(type(error).__name__, error, flush=True)
"""


_LOADED = "import importlib.metadata, os, sys\nimport memoriter\n"
"""What a reader loads while it may still read the folders of Python."""


@contextlib.contextmanager
def barred(path: Path) -> Iterator[Callable[[], str]]:
    """A reader who may not write to the folder; yields how to ask it."""
    with subprocess.Popen(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", _LOADED + _BARRED, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stdin is not None
        assert reader.stdout is not None
        answers, asked = reader.stdout, reader.stdin
        assert answers.readline() == "ready\n"

        def ask() -> str:
            asked.write("ask\n")
            asked.flush()
            return answers.readline().strip()

        yield ask


def test_a_reader_beside_no_writer_sees_what_a_later_writer_wrote() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder, path = Path(name), Path(name) / "m.db"
        with memoriter.open(path, embedder=None, maintenance="manual") as memory:
            memory.remember_many({"text": f"note {n} " * 30, "id": f"n{n}"} for n in range(300))
        folder.chmod(0o555)
        path.chmod(0o444)
        with barred(path) as ask:
            assert ask() == "300 300 True"
            folder.chmod(0o755)
            path.chmod(0o644)
            with memoriter.open(path, embedder=None, maintenance="manual") as memory:
                memory.forget([f"n{n}" for n in range(0, 300, 2)])
                memory.remember_many([f"note again {n} " * 30 for n in range(400)])
                folder.chmod(0o555)
                beside = ask()
                assert beside == "550 550 True" or beside.startswith("Unavailable")
                folder.chmod(0o755)
            folder.chmod(0o555)
            assert ask() == "550 550 True"
        folder.chmod(0o755)


def test_the_connection_of_a_thread_goes_with_the_thread(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        gc.disable()
        try:
            for _ in range(5):
                thread = threading.Thread(target=memory.browse)
                thread.start()
                thread.join()
            assert connections(memory) == 1
        finally:
            gc.enable()


def test_reads_that_overlap_without_a_pause_do_not_let_the_log_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "WAL_LIMIT", 6_000_000)
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, durability="fast", maintenance="manual") as memory:
        memory.remember("first")
        done = threading.Event()
        turn = threading.Barrier(2)

        def read(me: int) -> None:
            """Begin to read, and end only after the other one has begun."""
            for n in range(10**9):
                if n or me:
                    turn.wait()
                with snapshot_of(memory) as db:
                    db.execute("SELECT count(*) FROM records").fetchall()
                    turn.wait()
                    time.sleep(0.005)
                if done.is_set():
                    turn.abort()
                    return

        def reader(me: int) -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                read(me)

        running = [threading.Thread(target=reader, args=(me,)) for me in (0, 1)]
        for thread in running:
            thread.start()
        largest = 0
        for _ in range(120):
            memory.remember("x" * 60_000)
            largest = max(largest, path.with_name("m.db-wal").stat().st_size)
        done.set()
        for thread in running:
            thread.join()
        assert 3_000_000 < largest < 14_000_000  # a try that meets a reader waits for the next


def test_a_log_that_a_reader_holds_back_fails_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "WAL_LIMIT", 100_000)
    monkeypatch.setattr(store, "CHECKPOINT_WAIT_S", 0.01)
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("first")
        with snapshot_of(memory) as db:
            db.execute("SELECT count(*) FROM records").fetchall()
            for _ in range(20):
                memory.remember("x" * 20_000)
        assert path.with_name("m.db-wal").stat().st_size > 400_000
        memory.remember("x" * 50_000)
        assert path.with_name("m.db-wal").stat().st_size == 0
        assert memory.verify_store().sound


def test_a_folder_that_could_not_be_synced_is_synced_by_the_next_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memoriter.open(tmp_path / "m.db", embedder=None).close()
    outcomes: list[bool] = []

    def fsync_folder(folder: Path) -> None:
        outcomes.append(bool(outcomes))
        if not outcomes[-1]:
            raise OSError(5, "Input/output error", str(folder))

    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        monkeypatch.setattr(store, "fsync_folder", fsync_folder)
        with pytest.raises(memoriter.MemoriterError):
            memory.remember("refused")
        memory.remember("kept")
        memory.remember("kept too")
        assert outcomes == [False, True]
        assert memory.browse().total == 2
