"""Addresses, tokens, the HTTP server and the MCP server on a store on PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from mcp.client.client import Client
from tests.e2e.mcp_session import session

import memoriter
from memoriter.doors.mcp.server import LocalCaller, mcp_server
from memoriter.doors.tenant_session import TenantSession
from memoriter.doors.tokens import Tokens
from memoriter.memory.facade import Memory


def test_what_an_address_gets_wrong_is_said(url: str) -> None:
    for place, words in (
        ("mysql://host/db", "addresses of the form mysql://… are not"),
        (url.replace("/d", "/no_such_"), "no such database"),
        (f"{url}&nonsense=1", "nonsense"),
        (f"{url}&connections=none", "connections"),
        (f"{url}&reads=moon", "reads"),
        ("postgresql://localhost:1/none?connect_timeout=1", "cannot be reached"),
    ):
        with pytest.raises(memoriter.MemoriterError, match=words):
            memoriter.open(place)
    with pytest.raises(memoriter.Unsupported, match="every commit waits for the disk"):
        memoriter.open(url, durability="fast")


def test_tokens_are_the_same_on_every_machine(url: str) -> None:
    here, there = Tokens.for_store(url), Tokens.for_store(url)
    text, made = here.create("acme", "write")
    assert there.find(text) == made
    other, _ = there.create("acme", "read")
    assert {each.right for each in here.list()} == {"read", "write"}
    there.revoke(made.id)
    with pytest.raises(memoriter.MemoriterError, match="unknown"):
        here.find(text)
    assert here.find(other).right == "read"


def test_a_client_remembers_recalls_explains_and_forgets(memory: Memory) -> None:
    async def run() -> None:
        caller = LocalCaller(TenantSession(memory), "write")
        async with Client(mcp_server("core", caller)) as client:
            await session(client)

    asyncio.run(run())


def asked(url: str, token: str, path: str, body: dict[str, Any]) -> Any:
    """A request on a connection of its own, so that any process may get it."""
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        reply = client.post(f"{url}{path}", json=body)
        assert reply.is_success, reply.text
        return reply.json()


def test_processes_behind_one_address_share_tokens_memories_and_receipts(url: str) -> None:
    command = [sys.executable, "-m", "memoriter", "serve", "--port", "0", "--processes", "2",
               "--json", "--embedder", "none", "--store", url]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603  # ours
        try:
            assert server.stdout is not None
            lines = ""
            while not lines.rstrip().endswith("}"):
                lines += server.stdout.readline()
            started = json.loads(lines)
            at, token = started["url"], started["token"]
            asked(at, token, "/v1/memories", {"text": "the port of the cache is 6379", "id": "a"})
            replies = [asked(at, token, "/v1/recall", {"query": "cache port"}) for _ in range(8)]
            assert {reply["hits"][0]["id"] for reply in replies} == {"a"}
            handle = replies[0]["receipt"]
            # Any process may be asked; those that gave another answer ask the one that keeps it.
            receipts = [asked(at, token, "/v1/receipt", {"receipt": handle}) for _ in range(8)]
            assert {receipt["digest"] for receipt in receipts} == {receipts[0]["digest"]}
            for _ in range(6):
                changed = asked(at, token, "/v1/what-if", {
                    "receipt": handle, "overrides": {"lanes.words.k1": 2.0},
                })  # fmt: skip
                assert changed["hits"][0]["id"] == "a"
            Tokens.for_store(url).create("default", "read")
        finally:
            server.terminate()
    assert server.returncode == 0
