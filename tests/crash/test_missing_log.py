"""A write-ahead log that is gone is noticed where it can be; an index that is gone is no damage."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash import lab

import memoriter
from memoriter.memory.facade import Memory

_WRITER = """
import os, signal, sys
import memoriter
memory = memoriter.open(sys.argv[1], embedder=None, durability=sys.argv[2], maintenance="manual")
for n in range(50):
    memory.remember(f"acknowledged {n}")
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_writer(path: Path, durability: str = "full") -> None:
    run = [sys.executable, "-c", _WRITER, str(path), durability]
    done = subprocess.run(run, check=False, env=lab.environment())  # noqa: S603  # ours
    assert done.returncode == -signal.SIGKILL


def opened(path: Path, **more: object) -> Memory:
    return memoriter.open(path, embedder=None, maintenance="manual", **more)  # type: ignore[arg-type]


def test_a_log_that_was_removed_after_a_kill_is_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("before")
    killed_writer(path)
    path.with_name("m.db-wal").unlink()
    with caplog.at_level(logging.WARNING), opened(path) as memory:
        assert memory.count() == 1
        assert "lacks its last acknowledged commit" in caplog.text
        checkup = memory.verify_store()
        assert not checkup.sound
        assert "write-ahead log was removed" in checkup.problems[-1]
        assert not memory.doctor().sound, "there is nothing to mend it from"
        memory.remember("from here on")
        assert memory.verify_store().sound, "the next commit is the last one"


def test_the_command_line_prints_the_warning_on_stderr(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("before")
    killed_writer(path)
    path.with_name("m.db-wal").unlink()
    run = [sys.executable, "-m", "memoriter", "status", "--json", "--store", str(path)]
    done = subprocess.run(run, check=True, capture_output=True, text=True, env=lab.environment())  # noqa: S603  # ours
    assert json.loads(done.stdout)["records"] == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: m.db lacks its last acknowledged commit")


def test_a_killed_writer_and_a_closed_store_raise_no_alarm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for durability in ("full", "fast"):
        path = tmp_path / f"{durability}.db"
        killed_writer(path, durability)
        for _ in range(2):
            with caplog.at_level(logging.WARNING), opened(path) as memory:
                assert memory.count() == 50
                assert memory.verify_store().sound
        with opened(path, read_only=True) as memory:
            assert memory.verify_store().sound
    assert caplog.text == ""


def test_a_damaged_note_of_the_last_commit_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("before")
    lock = path.with_name("m.db.lock")
    for content in (b"", b"1 2", b"1 1 00 0000000000000000", os.urandom(128)):
        lock.write_bytes(content)
        with opened(path) as memory:
            assert memory.verify_store().sound


@pytest.mark.parametrize("flush_rows", [2, 100])
def test_upkeep_mends_a_deleted_index_and_the_check_agrees(tmp_path: Path, flush_rows: int) -> None:
    path = tmp_path / "m.db"
    with opened(path, flush_rows=2) as memory:
        memory.remember_many([f"port {n}" for n in range(20)])
        memory.maintain()
        before = [hit.id for hit in memory.recall("port 7", 20)]
    shutil.rmtree(path.with_name("m.db.idx"))
    with opened(path, flush_rows=flush_rows) as memory:
        assert not memory.verify_store().sound
        assert [hit.id for hit in memory.recall("port 7", 20)] == before
        assert memory.maintain().published, "however few rows there are"
        assert memory.verify_store().sound
        assert not memory.maintain().published
        assert [hit.id for hit in memory.recall("port 7", 20)] == before


def test_upkeep_drops_a_deleted_index_of_another_analyzer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path, flush_rows=2) as memory:
        memory.remember_many([f"port {n}" for n in range(20)])
        memory.analyzers.add("simple")
    shutil.rmtree(path.with_name("m.db.idx"))
    with opened(path, flush_rows=2) as memory:
        memory.maintain()
        checkup = memory.verify_store()
        assert checkup.sound, json.dumps(checkup.to_dict())
