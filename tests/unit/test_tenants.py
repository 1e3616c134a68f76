"""One store behind many tenants."""

from __future__ import annotations

from pathlib import Path

import pytest

import memoriter
from memoriter.core.errors import InputError, Unavailable
from memoriter.memory.tenants import Tenants


def test_each_tenant_finds_its_own_and_nothing_else(tmp_path: Path) -> None:
    with Tenants(tmp_path / "a.db") as tenants:
        tenants.memory("x").remember("the port of x", id="x")
        tenants.memory("y").remember("the port of y", id="y")
        assert [hit.id for hit in tenants.memory("x").recall("port")] == ["x"]
        assert [hit.id for hit in tenants.memory("y").recall("port")] == ["y"]
        assert tenants.memory("x") is tenants.memory("x")


def test_its_answers_are_those_of_a_memory_opened_alone(tmp_path: Path) -> None:
    now = "2026-11-01"
    with Tenants(tmp_path / "a.db") as tenants:
        for tenant in ("x", "y"):
            tenants.memory(tenant).remember_many([f"port {n} of {tenant}" for n in range(9)])
        receipt = tenants.memory("y").recall("port 3", now=now).receipt.to_bytes()
    with memoriter.open(tmp_path / "a.db", tenant="y") as alone:
        assert alone.recall("port 3", now=now).receipt.to_bytes() == receipt


def test_a_tenant_that_chose_another_embedder_is_read_through_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with memoriter.open(path, tenant="y") as memory:
        memory.remember("cache latency", id="y")
        memory.embedding.migrate("hash")
        memory.embedding.promote("hash")
    with Tenants(path) as tenants:
        tenants.memory("x").remember("cache latency")
        spaces = {t: tenants.memory(t).recall("cache").plan.to_dict() for t in ("x", "y")}
        serving = {
            t: next(s.embedder for s in tenants.memory(t).embedding.status() if s.serves)
            for t in spaces
        }
        assert serving == {"x": "table", "y": "hash"}


def test_a_house_in_memory_lives_as_long_as_it_is_open() -> None:
    with Tenants(":memory:") as tenants:
        tenants.memory("x").remember("port")
        assert len(tenants.memory("x").recall("port")) == 1


def test_a_closed_house_says_so(tmp_path: Path) -> None:
    tenants = Tenants(tmp_path / "a.db")
    tenants.close()
    tenants.close()
    with pytest.raises(Unavailable):
        tenants.memory("x")


def test_a_tenant_needs_a_name() -> None:
    with Tenants(":memory:") as tenants, pytest.raises(InputError):
        tenants.memory("")
