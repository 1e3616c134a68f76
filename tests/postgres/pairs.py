"""A primary and the standby that follows it."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres.server import Server, new_server


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


def url_of(*servers: Server, more: str = "", name: str = "shared") -> str:
    hosts = ",".join(str(each.folder) for each in servers)
    return f"postgresql://keeper@/{name}?host={hosts}{more}"


@contextmanager
def behind(primary: Server, standby: Server) -> Iterator[None]:
    """While the block runs, the standby stays as far as the primary was when it began."""
    with primary.connect() as db:
        rows = db.execute("SELECT pg_current_wal_lsn()").fetchall()
    with standby.connect() as db:
        until = time.monotonic() + 60
        while not db.execute("SELECT pg_last_wal_replay_lsn() >= %s", rows[0]).fetchall()[0][0]:
            assert time.monotonic() < until
            time.sleep(0.01)
        db.execute("SELECT pg_wal_replay_pause()")
        while db.execute("SELECT pg_get_wal_replay_pause_state()").fetchall() != [("paused",)]:
            time.sleep(0.01)
        try:
            yield
        finally:
            db.execute("SELECT pg_wal_replay_resume()")
