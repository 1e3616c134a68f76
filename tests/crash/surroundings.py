"""Places and company in which a file is not safe, and that they are refused."""

from __future__ import annotations

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
        assert "close the file that sqlite3 or open() opened" in refused.value.hint
    memoriter.open(path, embedder=None).close()


def an_unsafe_sqlite_is_refused(path: Path, version: str = "3.51.2") -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apsw, "sqlite_lib_version", lambda: version)
        with pytest.raises(memoriter.Unsupported, match="not safe"):
            memoriter.open(path, embedder=None)
    assert not path.exists()


def a_network_disk_is_refused(path: Path, kind: str = "nfs4") -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect, "filesystem", lambda folder: kind)
        with pytest.raises(memoriter.Unsupported, match="network filesystem"):
            memoriter.open(path, embedder=None)
    assert not path.exists()


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
