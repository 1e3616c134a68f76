"""`connections=` of an address is a limit: of what is in use and idle, upkeep included."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.postgres.server import server

import memoriter
from memoriter.memory.tenants import Tenants
from memoriter.store.postgres.address import Address
from memoriter.store.postgres.segments import PostgresSegments
from memoriter.store.postgres.sessions import PgSessions


def sessions_of(url: str) -> int:
    """How many sessions the server has for a store."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE datname=%s AND usename='keeper'"
    with server().connect() as db:
        row = db.execute(sql, (url.partition("?")[0].rpartition("/")[2],)).fetchone()
    assert row is not None
    return row[0]


def test_turns_leave_connections_to_work_with(url: str, cache: Path) -> None:
    sessions = PgSessions(Address.of(f"{url}&connections=5"), read_only=False)
    home = PostgresSegments(sessions, cache)
    with ExitStack() as stack:
        turns = [stack.enter_context(home.turn(f"t{n}", wait=False)) for n in range(6)]
        assert turns == [True, True, False, False, False, False]
        assert home.list("t0") == []
        assert sessions_of(url) == 3
    with home.turn("t5", wait=False) as taken:
        assert taken
    assert sessions_of(url) == 3, "those of turns are used again"
    sessions.close()


def test_many_tenants_are_kept_up_within_the_limit(url: str) -> None:
    failed: list[Any] = []
    most = 0
    with Tenants(
        f"{url}&connections=2", embedder=None, maintenance="manual", flush_rows=1
    ) as tenants:
        memories = [tenants.memory(f"t{n}") for n in range(8)]

        def work(memory: memoriter.Memory) -> None:
            nonlocal most
            try:
                memory.remember("port")
                memory.maintain()
                most = max(most, sessions_of(url))
            except memoriter.MemoriterError as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(each,)) for each in memories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (failed, most) == ([], 2)
        assert [len(each.recall("port")) for each in memories] == [1] * 8


def test_idle_connections_for_reading_make_room_for_others(url: str) -> None:
    sessions = PgSessions(Address.of(f"{url}&connections=2&reads=standby"), read_only=False)
    for to in ("primary", "standby", "primary"):
        with sessions.held(to), sessions.held(to):
            pass
        until = time.monotonic() + 120
        while sessions_of(url) > 2:  # a session that was closed is listed for a moment longer
            assert time.monotonic() < until
            time.sleep(0.01)
    sessions.close()
