"""Unsafe surroundings are refused, with what to do next; and a stuck reader is ended."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import apsw
import pytest
from tests.inside import log_of

import memoriter
from memoriter.store.sqlite import connect, store, transactions


def another_opener_is_refused(path: Path) -> None:
    memoriter.open(path, embedder=None).close()
    with path.open("rb"):
        with pytest.raises(memoriter.Unsupported, match="without memoriter") as refused:
            memoriter.open(path, embedder=None)
        assert "close what sqlite3 or open() opened" in refused.value.hint
    memoriter.open(path, embedder=None).close()


def test_another_opener_is_refused(tmp_path: Path) -> None:
    another_opener_is_refused(tmp_path / "m.db")


def test_another_sqlite_on_the_file_is_refused_and_importing_one_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    memoriter.open(path, embedder=None).close()
    other = sqlite3.connect(path)
    other.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    with pytest.raises(memoriter.Unsupported, match="without memoriter"):
        memoriter.open(path, embedder=None)
    other.close()
    memoriter.open(path, embedder=None).close()


def test_two_memories_of_one_process_share_a_file(tmp_path: Path) -> None:
    one = memoriter.open(tmp_path / "m.db", embedder=None)
    for n in range(5):
        with memoriter.open(tmp_path / "m.db", embedder=None) as two:
            two.remember(f"note {n}")
        assert one.browse().total == n + 1
    one.close()


def an_unsafe_sqlite_is_refused(path: Path, version: str = "3.51.2") -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apsw, "sqlite_lib_version", lambda: version)
        with pytest.raises(memoriter.Unsupported, match="not safe"):
            memoriter.open(path, embedder=None)
    assert not path.exists()


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.52.0"])
def test_a_sqlite_that_can_corrupt_a_file_is_refused(version: str, tmp_path: Path) -> None:
    an_unsafe_sqlite_is_refused(tmp_path / "m.db", version)


def a_network_disk_is_refused(path: Path, kind: str = "nfs4") -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "filesystem", lambda folder: kind)
        with pytest.raises(memoriter.Unsupported, match="network filesystem"):
            memoriter.open(path, embedder=None)
    assert not path.exists()


@pytest.mark.parametrize(
    "kind", ["nfs4", "fuse.glusterfs", "fuse.ceph-fuse", "beegfs", "virtiofs", "fuse.rclone"]
)
def test_a_network_disk_is_refused(kind: str, tmp_path: Path) -> None:
    a_network_disk_is_refused(tmp_path / "m.db", kind)


def a_stuck_reader_is_ended(path: Path) -> None:
    with memoriter.open(path, embedder=None) as memory, pytest.MonkeyPatch.context() as patch:
        memory.remember_many(f"note {n} about a port" for n in range(2000))
        patch.setattr(transactions, "READ_LIMIT_S", 0.0)
        patch.setattr(store, "LONG_READ_S", 0.0)
        with pytest.raises(memoriter.Unavailable, match="too long"):
            memory.export(path.with_name("out.jsonl"))
        assert memory.remember("and writing goes on").seq
        with pytest.raises(memoriter.Unavailable, match="too long"):
            log_of(memory).damage()
        patch.setattr(transactions, "READ_LIMIT_S", 60.0)
        patch.setattr(store, "LONG_READ_S", 60.0)
        assert memory.export(path.with_name("out.jsonl")) > 2000


def test_a_stuck_reader_is_ended(tmp_path: Path) -> None:
    a_stuck_reader_is_ended(tmp_path / "m.db")
