"""Reads from a standby that is behind: who wrote sees its writes, others by the number of one."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client.client import Client
from tests.http.live import live
from tests.postgres.forked import opened
from tests.postgres.pairs import behind, pair, url_of
from tests.postgres.server import Server
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import Unavailable
from memoriter.doors.cli.main import app
from memoriter.doors.mcp.server import LocalCaller, mcp_server
from memoriter.doors.tenant_session import TenantSession

Servers = tuple[Server, Server]
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """One pair for all tests: none of them ends a server."""
    with pair() as made:
        yield made


@pytest.fixture
def name(servers: Servers) -> str:
    """The name of an empty store on the primary."""
    name = f"s{next(_NUMBERS)}"
    servers[0].database(name)
    return name


@pytest.fixture
def both(servers: Servers, name: str) -> str:
    """The address of a store whose reads go to the standby."""
    return url_of(*servers, more="&reads=standby", name=name)


def printed(*words: str) -> Any:
    """What a command prints, as data."""
    done = CliRunner().invoke(app, [*words, "--json", "--embedder", "none"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_who_writes_reads_its_own_writes(servers: Servers, name: str, both: str) -> None:
    with opened(both) as memory:
        for n in range(10):
            memory.remember(f"port {n}", id=f"r{n}")
            assert memory.browse(limit=1).total == n + 1
        with behind(*servers):
            memory.remember("cache", id="late")
            assert [hit.id for hit in memory.recall("cache")] == ["late"]
            assert memory.seq() == 11
            # Another process knows nothing of it, until somebody brings the number along.
            with memoriter.open(
                url_of(servers[1], name=name), embedder=None, read_only=True, maintenance="manual"
            ) as other:
                assert other.browse(limit=1).total == 10
                other.wait_for(10)
                with pytest.raises(Unavailable, match="entry 11"):
                    other.wait_for(11, timeout=0.1)
                assert other.seq() == 10


def test_who_asks_for_a_later_entry_or_its_receipt_is_answered_by_the_primary(
    servers: Servers, both: str
) -> None:
    with opened(both) as memory, opened(both) as other, opened(both) as third, opened(both) as bare:
        memory.remember("cache", id="early")
        with behind(*servers):
            memory.remember("cache", id="late")
            assert [each.count() for each in (other, third, bare)] == [1, 1, 1]
            other.wait_for(2, timeout=0)
            assert [each.count() for each in (memory, other)] == [2, 2]
            assert third.replay(memory.recall("cache").receipt).same
            with pytest.raises(Unavailable, match="entry 3"):
                other.wait_for(3, timeout=0)
            assert bare.count() == 1


def test_a_server_takes_the_entry_of_a_write(servers: Servers, both: str) -> None:
    with opened(both) as memory:
        memory.remember("cache", id="early")
        with behind(*servers), live(place=both, opening={"embedder": None}) as site:
            seq = memory.remember("cache", id="late").seq
            client = site.client("read", "default")

            def total(headers: dict[str, str]) -> int:
                return client.post("/v1/browse", json={}, headers=headers).json()["total"]

            assert (total({}), total({"Memoriter-After": str(seq)}), total({})) == (1, 2, 2)


def test_a_command_sees_what_an_earlier_one_wrote(
    servers: Servers, name: str, tmp_path: Any
) -> None:
    # The standby comes first: a command that only reads must not take it for the primary.
    both = url_of(servers[1], servers[0], more="&reads=standby", name=name)
    at = ("--store", both)
    printed("remember", "cache", "--id", "a", *at)
    with behind(*servers):
        seq = printed("remember", "the port of the cache", "--id", "b", *at)["seq"]
        assert [len(printed("recall", "cache", *at)["hits"]) for _ in range(2)] == [1, 1]
        after = ("--after", str(seq))
        assert len(printed("recall", "cache", *at, *after)["hits"]) == 2
        assert printed("get", "b", *at, *after)["id"] == "b"
        assert printed("status", *at, *after)["records"] == 2
        (tmp_path / "notes.txt").write_text("one\n\ntwo\n")
        seq = printed("import", str(tmp_path / "notes.txt"), *at)["seq"]
        assert len(printed("browse", *at, "--after", str(seq))["records"]) == 4
        noted = CliRunner().invoke(app, ["remember", "last", *at, "--embedder", "none"])
        assert f"--after {seq + 1}" in noted.stderr
        assert "--after" not in noted.stdout
        # Without reads=standby the primary answers, wherever it is in the address.
        plain = url_of(servers[1], servers[0], name=name)
        assert printed("get", "b", "--store", plain)["id"] == "b"


def test_tools_of_one_process_see_its_writes_without_a_number(servers: Servers, both: str) -> None:
    async def ask() -> str:
        caller = LocalCaller(TenantSession(memory), "write")
        async with Client(mcp_server("core", caller)) as client:
            await client.call_tool("remember", {"text": "the port of the cache is 6379"})
            return str((await client.call_tool("recall", {"query": "cache"})).content)

    with opened(both) as memory, behind(*servers):
        assert "6379" in asyncio.run(ask())
