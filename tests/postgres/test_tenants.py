"""Tenants on one server: none sees another's rows, and many of them cost no more than few."""

from __future__ import annotations

import os
from typing import Any

import psycopg
import pytest
from tests.inside import engine_of, log_of
from tests.night import NIGHT
from tests.postgres.filling import fill
from tests.postgres.server import server
from tests.property.worlds import open_toy

import memoriter
from memoriter.memory.tenants import Tenants
from memoriter.store.port import Dump, Head, Manifest, SegmentRef
from memoriter.store.postgres.segments import PostgresSegments
from memoriter.store.postgres.shared_state import PostgresAnswers
from memoriter.store.postgres.store import Postgres
from memoriter.store.postgres.wire import Wire
from memoriter.testing.acts import batch, forget_act, make_key, put, vector
from memoriter.testing.fakes import HandClock
from memoriter.testing.whole import whole

_SHARED = ("memoriter.spaces", "memoriter.format", "memoriter.notes")


def every_statement(url: str, monkeypatch: pytest.MonkeyPatch, cache: Any) -> list[tuple[str, Any]]:
    """What the store executes for tenant `ann` when every method of it is called."""
    seen: dict[str, Any] = {}
    execute = Wire.execute

    def noted(self: Any, sql: str, values: Any = (), **more: Any) -> Any:
        seen.setdefault(sql, values)
        return execute(self, sql, values, **more)

    monkeypatch.setattr(Wire, "execute", noted)
    log = Postgres(url)
    use_the_log(log)
    use_the_segments(PostgresSegments(log.sessions, cache))
    use_the_answers(PostgresAnswers(log.sessions))
    log.close()
    monkeypatch.undo()
    return [
        (sql, values)
        for sql, values in seen.items()
        if "memoriter." in sql
        and "set_config" not in sql
        and not sql.startswith(("CREATE", "LOCK"))
        if any(f"memoriter.{table}" in sql for table in _tables(sql))
    ]


def use_the_log(log: Postgres) -> None:
    """Every method that reads or writes."""
    rich: dict[str, Any] = {
        "vectors": (vector(1, 0), vector(3, 4, space="given:2", form="f8")),
        "owes": ("late/1",),
        "entities": ("Ann",),
        "key": make_key("k"),
    }
    log.commit(batch(put("a", "secret", **rich), put("b", refs=(0,)), tenant="ann"))
    log.restore("copy", whole(log, "bob"))
    log.append("copy2", Dump(Head(), [], [], [], [], [], [], [], [], [], []), Head())
    part = log.stretch("ann", 0, 99)
    log.stretch("ann", part.head.seq, 99)
    for read in (log.head, log.unerased, log.manifests):
        read("ann")
    list(log.words("ann"))
    list(log.embedded("ann"))
    whole(log, "ann")
    list(log.deltas("ann", 0, part.head.seq, ("words/1", "toy/1")))
    log.seq_at("ann", 2**60)
    log.records("ann", [1])
    log.versions("ann", "a", 99)
    log.vectors("ann", 1)
    log.edges("ann", 0, 99)
    log.agents("ann", 99)
    log.debts("ann", 9)
    log.owe("ann", 0, 9, log.debts("ann", 9))
    log.keys("ann", ["k"])
    log.mend("ann", part.words, part.vectors[:1])
    log.publish("ann", "i", Manifest(), Manifest((SegmentRef("x", 0, 1, 1),), 0))
    log.manifest("ann", "i")
    log.commit(batch(forget_act("a"), tenant="ann"))
    rich["key"] = make_key("l")
    log.commit(batch(put("c", "again", **rich), tenant="ann"))
    log.scrub("ann", 1)
    log.close_space("words/1")


def use_the_answers(home: PostgresAnswers) -> None:
    home.keep("ann", "h", b"secret")
    home.find("ann", "h")


def use_the_segments(home: PostgresSegments) -> None:
    home.put("ann", "x.seg", [b"secret"])
    home.open("ann", "x.seg")
    home.list("ann")
    home.drop("ann", ["x.seg"])
    home.put("ann", "y.seg", [b"secret"])


def _tables(sql: str) -> list[str]:
    words = [word.partition("memoriter.")[2] for word in sql.split() if "memoriter." in word]
    names = ["".join(c for c in word if c.isalpha()) for word in words]
    return [name for name in names if f"memoriter.{name}" not in _SHARED]


def reached(db: psycopg.Connection[Any], sql: str, values: Any) -> list[Any]:
    """The rows that a statement reads or changes."""
    try:
        done = db.execute(sql.encode(), values)
    except psycopg.errors.InsufficientPrivilege as refused:
        return [] if "row-level security" in str(refused) else [refused]
    if sql.startswith("WITH"):  # inserts rows, of which it counts only the last ones
        return ["not refused"]
    if not sql.strip().startswith("SELECT"):
        return [done.rowcount] if done.rowcount else []
    # An aggregate answers a row over no rows: nothing, no or zero.
    return [row for row in done.fetchall() if any(row)]


def test_no_statement_reaches_a_row_of_another_tenant(
    url: str, cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = every_statement(url, monkeypatch, cache)
    assert len(statements) > 60
    verbs = {sql.split()[0] for sql, _ in statements}
    assert verbs == {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}
    log = Postgres(url)
    for setting in ("bob", "", None):
        for sql, values in statements:
            with log.sessions.held() as db:
                db.execute("BEGIN")
                if setting is not None:
                    db.execute("SELECT set_config('memoriter.tenant', %s, true)", (setting,))
                assert reached(db, sql, values) == [], sql
                db.rollback()
    dump = whole(log, "ann")
    assert {record.id for record in dump.records} == {"b", "c"}, "and nothing was changed"
    log.close()


def test_even_the_owner_of_the_tables_sees_nothing_without_a_tenant(url: str) -> None:
    with open_toy(url, HandClock()) as memory:
        fill(memory)
        with psycopg.connect(url, autocommit=True) as db:
            tables = db.execute(
                "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class "
                "WHERE relnamespace='memoriter'::regnamespace AND relkind='r'"
            ).fetchall()
            fenced = {name for name, enabled, forced in tables if enabled and forced}
            assert {name for name, _, _ in tables} - fenced == {"spaces", "format", "notes"}
            for table in fenced:
                sql = f"SELECT * FROM memoriter.{table}"  # noqa: S608  # ours
                assert db.execute(sql.encode()).fetchall() == []


def test_a_role_that_may_not_change_tables_serves_a_store_that_another_made(url: str) -> None:
    name = f"app_{os.getpid()}"
    stranger = url.replace("keeper@", f"{name}@")
    with server().connect(url.partition("@/")[2].partition("?")[0]) as db:
        db.execute(f"CREATE ROLE {name} LOGIN".encode())
        with pytest.raises(memoriter.Forbidden, match="does not allow"):
            memoriter.open(stranger)
        db.execute(f"GRANT USAGE ON SCHEMA memoriter TO {name}".encode())
        db.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memoriter "
            f"TO {name}".encode()
        )
    with memoriter.open(stranger, embedder=None, maintenance="manual", flush_rows=1) as memory:
        memory.remember("the port is 22", id="a")
        memory.maintain()
        memory.forget("a", now=True)
        assert memory.count() == 0


def test_many_tenants_cost_no_more_than_few(url: str) -> None:
    count = 10_000 if NIGHT else 60
    with Tenants(url, clock=HandClock(), embedder=None, memory_limit=2**20) as tenants:
        for n in range(count):
            tenants.memory(f"t{n}").remember_many(f"port {k} of tenant {n}" for k in range(20))
        held = 0
        for n in range(0, count, max(1, count // 200)):
            (hit,) = tenants.memory(f"t{n}").recall("port 7", 1)
            assert hit.text == f"port 7 of tenant {n}"
            cache = engine_of(tenants.memory(f"t{n}")).index_cache
            held = max(held, cache.held)
        assert held <= 2**20 + 2**18, "indexes are dropped, least recently used first"
        assert len(log_of(tenants.memory("t0")).tenants()) == count


def test_the_password_of_an_address_is_shown_nowhere(url: str) -> None:
    address = url.replace("keeper@", "keeper:sesame@")
    with memoriter.open(address, embedder=None) as memory:
        assert "sesame" not in repr(memory)
        assert "keeper@" in repr(memory)
    with pytest.raises(memoriter.MemoriterError) as raised:
        memoriter.open("postgresql://ann:sesame@localhost:1/none?connect_timeout=1")
    assert "sesame" not in str(raised.value)
