"""Tenants on one server: none sees another's rows, and many of them cost no more than few."""

from __future__ import annotations

import os

import psycopg
import pytest
from tests.inside import engine_of, log_of
from tests.night import NIGHT
from tests.postgres.filling import fill
from tests.postgres.server import OF_THE_STORE, server
from tests.property.worlds import open_toy

import memoriter
from memoriter.memory.tenants import Tenants
from memoriter.testing.fakes import HandClock


def test_even_the_owner_of_the_tables_sees_nothing_without_a_tenant(url: str) -> None:
    with open_toy(url, HandClock()) as memory:
        fill(memory)
        with psycopg.connect(url, autocommit=True) as db:
            tables = db.execute(
                "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class "
                "WHERE relnamespace='memoriter'::regnamespace AND relkind='r'"
            ).fetchall()
            fenced = {name for name, enabled, forced in tables if enabled and forced}
            assert {name for name, _, _ in tables} - fenced == {*OF_THE_STORE}
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
    count = 10_000 if NIGHT else 30
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
