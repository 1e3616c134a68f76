"""The handle of an answer is good at every machine of a store, and for an hour."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.inside import engine_of
from tests.postgres.server import server

import memoriter
from memoriter.doors import tenant_session
from memoriter.doors.tenant_session import TenantSession, TenantSessions
from memoriter.memory.tenants import Tenants
from memoriter.store.postgres.store import Postgres
from memoriter.testing.fakes import HandClock, ToyReranker


def at_machine(url: str, cache: Path, patch: pytest.MonkeyPatch) -> Tenants:
    """A server of its own: nothing is shared but the database."""
    patch.setenv("MEMORITER_CACHE", str(cache))
    return Tenants(url, clock=HandClock(), maintenance="manual", reranker=ToyReranker())


def test_a_handle_of_one_machine_is_good_at_another(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        at_machine(url, tmp_path / "one", monkeypatch) as one,
        at_machine(url, tmp_path / "two", monkeypatch) as two,
    ):
        here, there = TenantSessions(one).of("acme"), TenantSessions(two).of("acme")
        memory = one.memory("acme")
        memory.remember_many(f"the port of cache {n} is {6000 + n}" for n in range(20))
        result = memory.recall("which port has the cache", limit=3)
        handle = here.handle(result)
        full = here.full_reply(memory.recall("cache 7"))["receipt"]
        memory.remember("the port of cache 99 is 6099")  # the view of the answer stays its own
        assert there.receipts.find(handle).to_bytes() == result.receipt.to_bytes(), "a late receipt"
        assert [(h.id, h.score) for h in there.answer(handle)] == [(h.id, h.score) for h in result]
        assert there.receipts.find(full).digest == full
        with pytest.raises(memoriter.NotFound, match="no receipt is kept"):
            TenantSessions(two).of("other").receipts.find(handle)
        memory.forget(result[0].id)
        with pytest.raises(memoriter.Expired, match="forgotten since"):
            TenantSession(two.memory("acme")).receipts.find(handle)


def test_answers_are_dropped_after_an_hour(url: str) -> None:
    database = url.partition("@/")[2].partition("?")[0]
    with memoriter.open(url, embedder=None, maintenance="manual") as memory:
        memory.remember("the port is 22")
        session = TenantSession(memory)
        first = session.handle(memory.recall("port"))
        with server().connect(database) as db:
            db.execute("UPDATE memoriter.answers SET kept = kept - interval '2 hours'")
        second = session.handle(memory.recall("which port"))
        again = TenantSession(memory).receipts
        assert again.find(second)
        with pytest.raises(memoriter.NotFound):
            again.find(first)


def test_an_answer_that_is_given_again_is_kept_for_another_hour(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, now = url.partition("@/")[2].partition("?")[0], 0.0
    monkeypatch.setattr(tenant_session, "time", SimpleNamespace(monotonic=lambda: now))
    with memoriter.open(url, embedder=None, maintenance="manual") as memory:
        memory.remember("the port is 22")
        session, result = TenantSession(memory), memory.recall("port")

        def age_when_given_again() -> float:
            session.handle(result)
            with server().connect(database) as db:
                sql = "SELECT extract(epoch FROM now() - kept)::float FROM memoriter.answers"
                [(age,)] = db.execute(sql).fetchall()
            return age

        assert age_when_given_again() < 600
        with server().connect(database) as db:
            db.execute("UPDATE memoriter.answers SET kept = kept - interval '40 minutes'")
        now = 1799.0
        assert age_when_given_again() > 1800, "a young one is not written again"
        now = 1801.0
        assert age_when_given_again() < 600


def test_without_the_right_to_keep_answers_everything_else_works(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = url.partition("@/")[2].partition("?")[0]
    with server().connect(database) as db:
        db.execute("REVOKE ALL ON memoriter.answers FROM keeper")
    with memoriter.open(url, embedder=None, maintenance="manual") as memory:
        memory.remember("the port is 22")
        session = TenantSession(memory)
        with caplog.at_level(logging.WARNING):
            handles = [session.handle(memory.recall(text)) for text in ("port", "22")]
        assert all(session.receipts.find(handle) for handle in handles)
        assert [record.message.partition(":")[0] for record in caplog.records] == [
            "the handle of an answer is good in this process only"
        ]
        assert engine_of(memory).answers is not None


def test_those_who_open_an_empty_database_at_once_make_one_store(url: str) -> None:
    database = url.partition("@/")[2].partition("?")[0]
    for _ in range(4):
        with server().connect(database) as db:
            db.execute("DROP SCHEMA memoriter CASCADE")
        with pytest.raises(memoriter.Unsupported, match=r"no store yet\n.*memoriter init --store"):
            memoriter.open(url, read_only=True)
        together = threading.Barrier(3)

        def opened(together: threading.Barrier = together) -> Postgres:
            together.wait()
            return Postgres(url)

        with ThreadPoolExecutor(3) as pool:
            for each in [pool.submit(opened) for _ in range(3)]:
                each.result().close()


def test_a_store_of_an_earlier_format_is_brought_forward(url: str) -> None:
    """With the rights that were granted on it; a reader waits for somebody who may write."""
    database, role = url.partition("@/")[2].partition("?")[0], f"app_{url[-8:]}".lower()
    role = "".join(c for c in role if c.isalnum() or c == "_")
    with server().connect(database) as db:
        db.execute("DROP TABLE memoriter.answers")
        db.execute("DROP POLICY own ON memoriter.notes")
        db.execute("ALTER TABLE memoriter.notes DISABLE ROW LEVEL SECURITY")
        db.execute("UPDATE memoriter.format SET version=1")
        db.execute(f"CREATE ROLE {role} LOGIN".encode())
        db.execute(f"GRANT USAGE ON SCHEMA memoriter TO {role}".encode())
        db.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memoriter "
            f"TO {role}".encode()
        )
    app = url.replace("keeper@", f"{role}@")
    with pytest.raises(memoriter.Unsupported, match=r"to format 4 first\n.*owner: memoriter init"):
        memoriter.open(app, read_only=True)
    with pytest.raises(memoriter.Forbidden, match="does not allow"):
        memoriter.open(app)
    memoriter.open(url, embedder=None).close()
    with memoriter.open(app, embedder=None, maintenance="manual") as memory:
        memory.remember("the port is 22")
        handle = TenantSession(memory).handle(memory.recall("port"))
        assert TenantSession(memory).receipts.find(handle)
    with server().connect(database) as db:
        db.execute("UPDATE memoriter.format SET version=3")
    with memoriter.open(app, embedder=None, read_only=True) as memory:  # nothing to bring forward
        assert memory.count() == 1
    with server().connect(database) as db:
        db.execute("UPDATE memoriter.format SET version=5")
    with pytest.raises(memoriter.Unsupported, match="upgrade memoriter"):
        memoriter.open(url)
