"""The copies of segments on a machine: what a killed process left, and what the disk changed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest
from tests.postgres.forked import Child

import memoriter
from memoriter.core.errors import Unavailable
from memoriter.index import file as segment_file
from memoriter.memory.facade import Memory
from memoriter.store.postgres.segments import PostgresSegments
from memoriter.store.postgres.sessions import CommitLost
from memoriter.store.postgres.store import Postgres
from memoriter.store.segments import owned_prefix

NAME = f"{owned_prefix('t')}-0-9-aa.seg"


def published(url: str) -> Memory:
    return memoriter.open(url, embedder=None, maintenance="manual", flush_rows=1)


def parts_in(cache: Path) -> list[Path]:
    return sorted(cache.glob("part-*"))


def test_deleting_segments_whose_commit_is_lost_again_and_again_can_be_repeated(
    url: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Postgres(url)
    home = PostgresSegments(log.sessions, cache)
    home.put("t", NAME, [b"quokka"])

    @contextmanager
    def lost(tenant: str) -> Iterator[Any]:
        raise CommitLost(tenant)
        yield

    with monkeypatch.context() as patch:
        patch.setattr(log.sessions, "write", lost)
        with pytest.raises(Unavailable, match="was lost while"):
            home.drop("t", [NAME])
    assert home.list("t") == [NAME]
    home.drop("t", [NAME])
    assert home.list("t") == []
    log.close()


def test_what_a_killed_download_left_is_removed(
    url: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Postgres(url)
    home = PostgresSegments(log.sessions, cache)
    home.put("t", NAME, [b"quokka"])

    def dies(out: TextIO) -> None:
        del out

        own = Postgres(url)
        read = own.sessions.read

        def killed(tenant: str, *queries: Any) -> Any:
            if parts_in(cache):
                os.kill(os.getpid(), signal.SIGKILL)
            return read(tenant, *queries)

        monkeypatch.setattr(own.sessions, "read", killed)
        PostgresSegments(own.sessions, cache).open("t", NAME)

    for look in (lambda: home.list("another"), lambda: home.open("t", NAME)):
        assert Child(dies).join() == -signal.SIGKILL
        assert len(parts_in(cache)) == 1
        look()
        assert parts_in(cache) == []
        home.discard_copy("t", NAME)
    log.close()


def test_a_download_that_goes_on_is_left_alone(
    url: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, another = Postgres(url), Postgres(url)
    home = PostgresSegments(log.sessions, cache)
    home.put("t", NAME, [b"quokka"])
    read, parts = log.sessions.read, list[int]()

    def watched(tenant: str, *queries: Any) -> Any:
        PostgresSegments(another.sessions, cache).list("t")
        parts.append(len(parts_in(cache)))
        return read(tenant, *queries)

    monkeypatch.setattr(log.sessions, "read", watched)
    assert bytes(home.open("t", NAME)) == b"quokka"
    assert (parts[0], parts[-1], parts_in(cache)) == (0, 1, [])
    log.close()
    another.close()


@pytest.mark.parametrize("checked_at_once", [True, False])
def test_a_damaged_copy_is_fetched_again(
    url: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    checked_at_once: bool,
) -> None:
    if not checked_at_once:  # as large segments are: an array is checked on first use
        monkeypatch.setattr(segment_file, "CHECKED_AT_ONCE", 0)
    with published(url) as memory:
        memory.remember_many([f"port {n}" for n in range(20)])
        memory.maintain()
        memory.recall("port")
    (copy,) = cache.glob("*.seg")
    sound = copy.read_bytes()
    copy.unlink()
    copy.write_bytes(sound[:-4000] + bytes(each ^ 255 for each in sound[-4000:]))
    with published(url) as memory:
        if checked_at_once:
            assert len(memory.recall("port", 20)) == 20
        assert memory.verify_store().sound
        assert len(memory.recall("port", 20)) == 20
        assert memory.status().segments == 1
    assert copy.read_bytes() == sound
    assert caplog.messages == []


def test_a_segment_that_is_damaged_in_the_database_is_still_named(url: str, cache: Path) -> None:
    with published(url) as memory:
        memory.remember("port", id="a")
        memory.maintain()
    (copy,) = cache.glob("*.seg")
    size = copy.stat().st_size
    copy.unlink()
    log = Postgres(url)
    with log.sessions.write("default") as db:
        db.execute("UPDATE memoriter.chunks SET body=%s WHERE number=0", (bytes(size),))
    log.close()
    with published(url) as memory:
        assert not memory.verify_store().sound
        assert [hit.id for hit in memory.recall("port")] == ["a"], "from the log"
        memory.maintain()
        assert memory.verify_store().sound
