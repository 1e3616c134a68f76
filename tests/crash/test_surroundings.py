"""Unsafe surroundings are refused, with what to do next; and a stuck reader is ended."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.crash.surroundings import (
    a_network_disk_is_refused,
    a_stuck_reader_is_ended,
    an_unsafe_sqlite_is_refused,
    another_opener_is_refused,
)

import memoriter


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


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.52.0"])
def test_a_sqlite_that_can_corrupt_a_file_is_refused(version: str, tmp_path: Path) -> None:
    an_unsafe_sqlite_is_refused(tmp_path / "m.db", version)


@pytest.mark.parametrize(
    "kind", ["nfs4", "fuse.glusterfs", "fuse.ceph-fuse", "beegfs", "virtiofs", "fuse.rclone"]
)
def test_a_network_disk_is_refused(kind: str, tmp_path: Path) -> None:
    a_network_disk_is_refused(tmp_path / "m.db", kind)


def test_a_stuck_reader_is_ended(tmp_path: Path) -> None:
    a_stuck_reader_is_ended(tmp_path / "m.db")
