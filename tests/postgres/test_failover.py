"""A standby takes over, or answers beside its primary: nothing acknowledged is lost or unseen."""

from __future__ import annotations

import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from tests.http.live import live
from tests.inside import log_of
from tests.night import NIGHT
from tests.postgres.forked import Child, opened
from tests.postgres.server import Server, new_server
from tests.postgres.writers import writer, written_ids

import memoriter
from memoriter.core.errors import Unavailable


def standby_of(primary: Server) -> Server:
    made = Server(Path(tempfile.mkdtemp(prefix="memoriter-pg-")))
    made.copy_of(primary)
    made.start()
    return made


def wait_until_synchronous(primary: Server) -> None:
    """From now on COMMIT waits until the standby has it on disk."""
    with primary.connect() as db:
        db.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
        db.execute("SELECT pg_reload_conf()")
        sql = "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('quorum', 'sync')"
        until = time.monotonic() + 60
        while not db.execute(sql).fetchall():
            assert time.monotonic() < until
            time.sleep(0.02)


@contextmanager
def pair() -> Iterator[tuple[Server, Server]]:
    primary = new_server()
    primary.database("shared")
    standby = standby_of(primary)
    try:
        yield primary, standby
    finally:
        for each in (primary, standby):
            each.stop(signal.SIGQUIT)
            shutil.rmtree(each.folder, ignore_errors=True)


def url_of(*servers: Server, more: str = "") -> str:
    hosts = ",".join(str(each.folder) for each in servers)
    return f"postgresql://keeper@/shared?host={hosts}{more}"


@pytest.mark.parametrize("seed", range(20 if NIGHT else 2))
def test_a_promoted_standby_has_everything_that_was_acknowledged(seed: int) -> None:
    dice = random.Random(seed)
    with pair() as (primary, standby):
        wait_until_synchronous(primary)
        url = url_of(primary, standby)
        children = [Child(partial(writer, url, name, 0, 10_000)) for name in ("ann", "bob")]
        for child in children:
            child.wait_for(dice.randint(3, 20))
        time.sleep(dice.random() / 50)
        primary.kill()
        standby.promote()
        for child in children:  # they go on at the other host of their address
            child.wait_for(len(child.lines) + 3)
            child.kill()
        with opened(url) as memory:
            ids = written_ids(log_of(memory))
            assert len(ids) == len(set(ids))
            for child in children:
                assert set(child.lines) <= set(ids)


def test_who_reads_from_a_standby_still_reads_its_own_writes() -> None:
    with pair() as (primary, standby):
        url = url_of(primary, standby, more="&reads=standby")
        with opened(url) as memory, standby.connect() as db:
            for n in range(10):
                memory.remember(f"port {n}", id=f"r{n}")
                assert memory.browse(limit=1).total == n + 1
            db.execute("SELECT pg_wal_replay_pause()")
            memory.remember("cache", id="late")
            assert [hit.id for hit in memory.recall("cache")] == ["late"]
            # Another process knows nothing of it, until somebody brings the number along.
            with memoriter.open(
                url_of(standby), embedder=None, read_only=True, maintenance="manual"
            ) as other:
                assert other.browse(limit=1).total == 10
                other.wait_for(10)
                with pytest.raises(Unavailable, match="entry 11"):
                    other.wait_for(11, timeout=0.2)
                db.execute("SELECT pg_wal_replay_resume()")
                other.wait_for(11)
                assert [hit.id for hit in other.recall("cache")] == ["late"]


def test_who_asks_for_a_later_entry_or_its_receipt_is_answered_by_the_primary() -> None:
    with pair() as (primary, standby):
        url = url_of(primary, standby, more="&reads=standby")
        with opened(url) as memory, opened(url) as other, opened(url) as third, opened(url) as bare:
            memory.remember("cache", id="early")
            with standby.connect("shared") as db:
                while not db.execute("SELECT 1 FROM memoriter.heads WHERE seq=1").fetchall():
                    time.sleep(0.01)
                db.execute("SELECT pg_wal_replay_pause()")
                memory.remember("cache", id="late")
                assert [each.count() for each in (other, third, bare)] == [1, 1, 1]
                other.wait_for(2, timeout=0)
                assert [each.count() for each in (memory, other)] == [2, 2]
                assert third.replay(memory.recall("cache").receipt).same
                with pytest.raises(Unavailable, match="entry 3"):
                    other.wait_for(3, timeout=0)
                assert bare.count() == 1


def test_a_server_that_reads_from_a_standby_takes_the_entry_of_a_write() -> None:
    with pair() as (primary, standby):
        url = url_of(primary, standby, more="&reads=standby")
        with opened(url) as memory, standby.connect("shared") as db:
            memory.remember("cache", id="early")
            while not db.execute("SELECT 1 FROM memoriter.heads WHERE seq=1").fetchall():
                time.sleep(0.01)
            with live(place=url, opening={"embedder": None}) as site:
                db.execute("SELECT pg_wal_replay_pause()")
                seq = memory.remember("cache", id="late").seq
                client = site.client("read", "default")

                def total(headers: dict[str, str]) -> int:
                    return client.post("/v1/browse", json={}, headers=headers).json()["total"]

                assert (total({}), total({"Memoriter-After": str(seq)}), total({})) == (1, 2, 2)


def test_a_standby_refuses_writes_and_a_fork_is_seen_by_the_chain() -> None:
    with pair() as (primary, standby):
        with pytest.raises(memoriter.Unavailable, match=r"takes writes: .* is a standby"):
            opened(url_of(standby))
        with opened(url_of(primary, standby)) as memory:
            memory.remember("on both", id="a")
            with standby.connect("shared") as db:
                while not db.execute("SELECT 1 FROM memoriter.heads WHERE seq=1").fetchall():
                    time.sleep(0.01)
            standby.stop()
            memory.remember("only here", id="b")
            primary.kill()
            standby.start()
            standby.promote()
            for work in (
                lambda: memory.remember_many(["one", "two"]),
                lambda: memory.recall("here"),
            ):
                with pytest.raises(memoriter.Corrupt, match="is missing, or is not the one"):
                    work()
            with opened(url_of(standby)) as other:
                assert other.remember("another second entry", id="c").seq == 2
                for work in (lambda: memory.remember("fork"), lambda: memory.recall("here")):
                    with pytest.raises(memoriter.Corrupt, match="is missing, or is not the one"):
                        work()
                assert [record.id for record in other.browse()] == ["c", "a"]
