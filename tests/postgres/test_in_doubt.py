"""A write whose answer is lost is found out: never a false success, never written twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.inside import log_of
from tests.postgres.proxy import Proxy
from tests.postgres.server import server

import memoriter
from memoriter.core.errors import Unavailable, Unknown
from memoriter.memory.facade import Memory
from memoriter.store.postgres import in_doubt
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole


def opened(url: str) -> Memory:
    return memoriter.open(url, embedder=None, maintenance="manual")


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy(server())
    yield made
    made.close()


def ids(memory: Memory) -> list[str]:
    dump = whole(log_of(memory), "default")
    verify_log("default", dump)
    return [record.id for record in dump.records]


def test_a_connection_lost_after_commit_is_a_success_once_it_is_known(
    url: str, proxy: Proxy
) -> None:
    with opened(proxy.url(url)) as memory:
        memory.remember("before", id="a")
        for n in range(3):
            proxy.cut = "after"
            assert memory.remember(f"port {n}", id=f"b{n}").seq == 2 + n
        proxy.cut = "after"
        memory.forget("a")
        assert (ids(memory), proxy.cuts) == (["b0", "b1", "b2"], 4)


def test_a_connection_lost_before_commit_is_a_failure_and_can_be_repeated(
    url: str, proxy: Proxy
) -> None:
    with opened(proxy.url(url)) as memory:
        memory.remember("before", id="a")
        proxy.cut = "before"
        with pytest.raises(Unavailable, match="nothing was written") as raised:
            memory.remember("port", id="b", key="k")
        assert not isinstance(raised.value, Unknown)
        assert ids(memory) == ["a"]
        assert memory.remember("port", id="b", key="k").seq == 2
        assert memory.remember("port", id="b", key="k").seq == 2
        assert (ids(memory), proxy.cuts) == (["a", "b"], 1)


def test_the_first_write_of_a_tenant_is_found_out_too(url: str, proxy: Proxy) -> None:
    with opened(proxy.url(url)) as memory:
        proxy.cut = "before"
        with pytest.raises(Unavailable, match="nothing was written"):
            memory.remember("port", id="a")
        assert log_of(memory).tenants() == []
        proxy.cut = "after"
        assert memory.remember("port", id="a").seq == 1
        assert ids(memory) == ["a"]


def test_a_read_on_a_lost_connection_is_tried_again(url: str) -> None:
    with opened(url) as memory:
        memory.remember("port", id="a")
        with server().connect() as db:
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename=%s",
                       ("keeper",))  # fmt: skip
        assert [hit.id for hit in memory.recall("port")] == ["a"]


def end_idle_sessions(url: str) -> None:
    """End the sessions of a store and wait until the server has closed them."""
    name = url.partition("?")[0].rpartition("/")[2]
    sql = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname=%s"
    with server().connect() as db:
        assert {done for (done,) in db.execute(sql, (name,))} == {True}


def test_a_write_after_idle_connections_were_closed_takes_another(url: str) -> None:
    with memoriter.open(url, embedder=None, maintenance="manual", flush_rows=1) as memory:
        memory.remember("port", id="a", key="k")
        for work in (
            lambda: memory.remember("cache", id="b"),
            lambda: memory.remember("port", id="a", key="k"),
            memory.maintain,
            lambda: memory.forget("b", now=True),
        ):
            end_idle_sessions(url)
            work()
        assert ids(memory) == ["a"]


def test_a_connection_lost_before_commit_was_sent_is_replaced(url: str, proxy: Proxy) -> None:
    with opened(proxy.url(url)) as memory:
        memory.remember("before", id="a")
        proxy.at = b"BEGIN ISOLATION LEVEL READ COMMITTED\0"
        for n, work in enumerate((
            lambda: memory.remember("port", id="b"),
            lambda: memory.remember_many([{"text": "one", "id": "c"}, {"text": "two", "id": "d"}]),
            lambda: memory.forget("a", now=True),
        )):  # fmt: skip
            proxy.cut = "before"
            work()
            assert (proxy.cuts, proxy.cut) == (n + 1, "never")
        assert ids(memory) == ["b", "c", "d"]


def test_a_fence_that_is_refused_does_not_make_a_stored_write_a_failure(
    url: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_doubt, "PATIENCE_S", 0.0)
    refused = "INSERT INTO memoriter.nowhere SELECT %s"
    with opened(proxy.url(url)) as memory:
        memory.remember("before", id="a")
        proxy.cut = "after"
        with monkeypatch.context() as patch:
            patch.setattr(in_doubt, "FENCE", refused)
            with pytest.raises(Unknown, match="it is unknown"):
                memory.remember("port", id="b", key="k")
        assert memory.remember("port", id="b", key="k").seq == 2
        assert ids(memory) == ["a", "b"]


# -- a standby that nobody waits for any more ------------------------------------------------------


@contextmanager
def missing_standby() -> Iterator[Callable[[], None]]:
    """COMMIT waits for a standby that does not exist; yields what lets it go on."""

    def wait_for(name: str) -> None:
        with server().connect() as db:
            db.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'".encode())
            db.execute("SELECT pg_reload_conf()")
            while db.execute("SHOW synchronous_standby_names").fetchone() != (name,):
                time.sleep(0.01)
            # The checkpointer tells all others whether they wait, once it has read the setting.
            db.execute("CHECKPOINT")

    wait_for("nobody")
    try:
        yield lambda: wait_for("")
    finally:
        wait_for("")


def cancel_one_wait() -> None:
    """Cancel the next backend that waits for the standby, as an administrator might."""
    sql = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'"
    until = time.monotonic() + 60
    with server().connect() as db:
        while time.monotonic() < until:
            if db.execute(sql).fetchall():
                return
            time.sleep(0.02)
    raise AssertionError("nobody waits for the standby")


def in_thread(work: Callable[[], Any], into: list[Any]) -> threading.Thread:
    def run() -> None:
        try:
            into.append(work())
        except Exception as error:  # handed to the test
            into.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("messages", ["notice", "error"])
def test_a_cancelled_wait_for_the_standby_is_no_success_until_a_fence_is_replicated(
    url: str, messages: str
) -> None:
    with server().connect() as db:
        name = url.partition("?")[0].rpartition("/")[2]
        db.execute(f"ALTER DATABASE {name} SET client_min_messages='{messages}'".encode())
    with opened(url) as memory, missing_standby() as standby_is_back:
        outcome: list[Any] = []
        thread = in_thread(lambda: memory.remember("port", id="a"), outcome)
        cancel_one_wait()
        thread.join(0.5)
        assert outcome == [], "the server said COMMIT, but we do not say so"
        standby_is_back()
        thread.join()
        assert (outcome[0].seq, ids(memory)) == (1, ["a"])


def test_if_it_cannot_be_found_out_unknown_is_what_is_said(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_doubt, "PATIENCE_S", 0.0)
    with opened(url) as memory, missing_standby() as standby_is_back:
        outcome: list[Any] = []
        thread = in_thread(lambda: memory.remember("port", id="a", key="k"), outcome)
        while thread.is_alive():
            with server().connect() as db:
                db.execute(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'"
                )
            thread.join(0.05)
        assert isinstance(outcome[0], Unknown)
        assert "same key" in outcome[0].hint
        standby_is_back()
        assert memory.remember("port", id="a", key="k").seq == 1
        assert ids(memory) == ["a"]
