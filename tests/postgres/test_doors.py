"""The command line and the HTTP server on a store on PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

import memoriter
from memoriter.doors.tokens import Tokens

EXAMPLE = "postgresql://"


def ran(url: str, *words: str, code: int = 0, say: str | None = None) -> str:
    """What a command prints."""
    env = {**os.environ, "MEMORITER_STORE": url, "HOME": os.environ["MEMORITER_CACHE"]}
    command = [sys.executable, "-m", "memoriter", *words]
    done = subprocess.run(  # noqa: S603  # ours
        command, capture_output=True, text=True, env=env, input=say, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_the_commands_work_as_on_a_file(url: str, tmp_path: Path) -> None:
    assert "exists already" in ran(url, "init")
    ran(url, "remember", "the port of the cache is 6379", "--id", "a")
    ran(url, "remember", "ssh listens on 22", "--id", "b")
    assert '"id": "a"' in ran(url, "recall", "port of the cache", "--json", "--limit", "1")
    status = json.loads(ran(url, "status", "--json"))
    assert (status["records"], status["bytes"]) == (2, {})
    assert status["store"].startswith(EXAMPLE)
    assert "sound" in ran(url, "doctor")
    ran(url, "export", str(tmp_path / "out.jsonl"))
    ran(url, "forget", "b", "--yes", "--now")
    assert "pg_dump" in ran(url, "backup", str(tmp_path / "b.db"), code=11)


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
    with pytest.raises(memoriter.Unsupported, match="durable"):
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


def asked(url: str, token: str, path: str, body: dict[str, Any]) -> Any:
    """A request on a connection of its own, so that any process may get it."""
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        reply = client.post(f"{url}{path}", json=body)
        assert reply.is_success, reply.text
        return reply.json()


def test_processes_behind_one_address_share_tokens_memories_and_receipts(url: str) -> None:
    command = [sys.executable, "-m", "memoriter", "serve", "--port", "0", "--processes", "3",
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
