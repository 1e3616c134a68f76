"""MCP with a real client and a real process, over the standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest
from httpx2 import AsyncClient
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.e2e.commands import Cli
from tests.e2e.mcp_session import CORE, content, session
from tests.night import NIGHT

import memoriter
from memoriter.core.canonical import canonical
from memoriter.doors.operations import BY_NAME
from memoriter.doors.port import foreign_tools
from memoriter.doors.tenant_session import TenantSession
from memoriter.doors.tokens import Tokens

SRC = str(Path(__file__).parents[2] / "src")
ENV = {"PYTHONPATH": SRC, "MEMORITER_DEBUG": ""}
NOW = "2026-11-01T00:00:00Z"


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "memoriter", *map(str, args)]


@contextlib.asynccontextmanager
async def over_stdio(place: Path, *args: str, mode: Any = "auto") -> AsyncIterator[Client]:
    program, *rest = command("mcp", "--store", place, *args)
    server = StdioServerParameters(command=program, args=rest, env=ENV, cwd=place.parent)
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(
    url: str, token: str, mode: Any = "auto", **options: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        AsyncClient(headers=headers) as web,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=web), mode=mode, **options
        ) as client,
    ):
        yield client


@contextlib.contextmanager
def served(*args: object) -> Iterator[str]:
    """A server as a process of its own; its address."""
    made = subprocess.Popen(  # noqa: S603  # ours
        command(*args, "--port", "0"), env={**os.environ, **ENV}, stderr=subprocess.PIPE, text=True
    )
    assert made.stderr is not None
    try:
        for line in made.stderr:
            if " at http" in line:
                yield line.split(" at ")[1].split(";")[0]
                return
        raise AssertionError("the server did not start")
    finally:
        made.terminate()
        made.wait(60)
        made.stderr.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_over_stdio_remembers_recalls_explains_and_forgets(
    tmp_path: Path, mode: str
) -> None:
    async def run() -> None:
        async with over_stdio(tmp_path / "m.db", mode=mode) as client:
            await session(client)

    asyncio.run(run())


def test_a_client_over_http_does_the_same_in_either_era_of_the_protocol(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with served("mcp", "--http", "--store", place) as url:
        for tenant, mode in (("one", "auto"), ("two", "legacy")):
            token, _ = Tokens.for_store(place).create(tenant, "write")

            async def run(token: str = token, mode: str = mode) -> None:
                async with over_http(url, token, mode, elicitation_callback=decline) as client:
                    await session(client)
                    kept = [await client.call_tool("remember", {"text": text}) for text in "ab"]
                    ids = [content(each)["ids"][0] for each in kept]
                    forgot = await client.call_tool("forget", {"id": ids})
                    # Only the newer protocol can put a question without a session.
                    assert forgot.is_error == (mode == "auto")

            asyncio.run(run())


async def decline(*_: Any) -> types.ElicitResult:
    """A user who does not agree."""
    return types.ElicitResult(action="decline")


def test_the_right_and_the_tenant_come_from_the_token(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    tokens = Tokens.for_store(place)
    writer, reader, other = (
        tokens.create(*who)[0] for who in (("a", "write"), ("a", "read"), ("b", "write"))
    )

    async def run(url: str) -> None:
        async with over_http(url, writer) as client:
            kept = content(await client.call_tool("remember", {"text": "a secret of a"}))
            answer = content(await client.call_tool("recall", {"query": "secret"}))
        async with over_http(url, reader) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["recall", "explain", "browse", "status"]
            refused = await client.call_tool("forget", {"id": kept["ids"][0]})
            assert refused.structured_content["error"] == "Forbidden"
            assert content(await client.call_tool("recall", {"query": "secret"}))["total"] == 1
        async with over_http(url, other) as client:
            assert content(await client.call_tool("recall", {"query": "secret"}))["hits"] == []
            asked = {"receipt": answer["receipt"], "id": kept["ids"][0]}
            hidden = await client.call_tool("explain", asked)
            assert hidden.structured_content["error"] == "NotFound"
            for name in ("tenant", "tenant_id", "tenantId"):
                named = await client.call_tool("recall", {"query": "secret", name: "a"})
                assert named.is_error
                assert "secret of a" not in str(named.structured_content)

    with served("serve", "--store", place) as url:
        asyncio.run(run(url))
        guarded(url, writer)


def guarded(url: str, token: str) -> None:
    """Nobody comes in without a token, from another page, or for another host."""
    own = {"Authorization": f"Bearer {token}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    matrix: list[tuple[dict[str, str], int]] = [
        ({}, 401),
        ({"Authorization": "Bearer mem_nobody_nothing"}, 401),
        ({**own, "Host": "evil.example"}, 421),
        ({**own, "Host": "localhost.evil.example"}, 421),
        ({**own, "Origin": "https://evil.example"}, 403),
        ({**own, "X-Tenant": "b"}, 403),
    ]
    for headers, status in matrix:
        for path in ("/mcp", "/mcp/"):
            assert httpx.post(url + path, json=message, headers=headers).status_code == status
    for method in ("GET", "DELETE", "PUT"):
        assert httpx.request(method, f"{url}/mcp", headers=own).status_code == 405
    for body in (b"garbage", b"[]", b"{}", b'"x"', b"[" * 10_000, b'{"jsonrpc":"2.0","id":1}'):
        headers = {**own, "Content-Type": "application/json", "Accept": "application/json"}
        answer = httpx.post(f"{url}/mcp", content=body, headers=headers)
        assert 400 <= answer.status_code < 500
        assert "Traceback" not in answer.text
    large = httpx.post(f"{url}/mcp", content=b" " * (5 * 2**20), headers=own)
    assert large.status_code == 413


def test_a_read_only_server_offers_no_write_and_makes_no_store(tmp_path: Path, cli: Cli) -> None:
    place = tmp_path / "m.db"
    missing = cli("mcp", "--store", str(place), "--read-only")
    assert (missing.exit_code, missing.stdout) == (3, "")
    assert not place.exists()
    with memoriter.open(place) as memory:
        memory.remember("kept", id="kept")

    async def run() -> None:
        async with over_stdio(place, "--read-only") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["recall", "explain", "browse", "status"]
            refused = await client.call_tool("forget", {"id": "kept"})
            assert refused.structured_content["error"] == "Forbidden"
            assert content(await client.call_tool("recall", {"query": "kept"}))["total"] == 1

    asyncio.run(run())


def test_every_tool_answers_as_the_library_does_byte_for_byte(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with memoriter.open(place) as memory:
        for n in range(12):
            memory.remember(
                f"note {n} of the cache and its eviction",
                id=f"n{n}",
                tags=["ops"],
                importance=n / 12,
            )
        memory.link("n1", "n2", "derived_from")
        memory.maintain()

    asked: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "cache eviction", "now": NOW, "detail": "full"}),
        ("recall", {"query": "cache eviction", "now": NOW, "recipe": "comis", "limit": 3}),
        ("bundles", {"query": "eviction", "now": NOW}),
        ("plan", {"query": "eviction", "now": NOW}),
        ("browse", {"where": {"importance": {"gte": 0.5}}}),
        ("status", {}),
        ("reflect", {"dry_run": True}),
    ]
    theirs: dict[str, dict[str, Any]] = {
        "mentisdb_search": {"limit": 3},
        "mentisdb_ranked_search": {"text": "eviction", "graph": True},
        "mentisdb_context_bundles": {"text": "eviction"},
        "search_memory": {"query_text": "eviction cache", "graph_weight": 0.2},
        "search_keywords": {"query_text": "eviction"},
    }

    async def through(choice: str, calls: list[tuple[str, dict[str, Any]]]) -> list[bytes]:
        async with over_stdio(place, "--tools", choice) as client:
            return [canonical(content(await client.call_tool(*call))) for call in calls]

    async def from_afar(url: str) -> list[bytes]:
        async with over_http(url, Tokens.for_store(place).create("default", "write")[0]) as client:
            return [canonical(content(await client.call_tool(*call))) for call in asked]

    ours = asyncio.run(through("full", asked))
    with served("serve", "--store", place, "--tools", "full") as url:
        assert asyncio.run(from_afar(url)) == ours
    compat = asyncio.run(through("compat", list(theirs.items())))
    with memoriter.open(place) as memory:
        tenant_session = TenantSession(memory)
        for (name, data), answer in zip(asked, ours, strict=True):
            assert answer == canonical(BY_NAME[name].run(tenant_session, data)), name
        direct = memory.recall("cache eviction", now=NOW)
        assert ours[0] == canonical(direct.to_dict())
        for tool in foreign_tools(()):
            if tool.name in theirs:
                at = list(theirs).index(tool.name)
                direct_answer = tool.run(tenant_session, theirs[tool.name])
                drop = {"receipt"}  # it names the moment of the question
                same = {key: value for key, value in direct_answer.items() if key not in drop}
                through_mcp = {k: v for k, v in json.loads(compat[at]).items() if k not in drop}
                assert canonical(through_mcp) == canonical(same), tool.name


# --- lines that are no messages -------------------------------------------------------------


class Wire:
    """The two ends of a server's standard streams."""

    def __init__(self, place: Path) -> None:
        # A shell makes jobs in the background ignore interrupts, and their children with them.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(  # noqa: S603  # ours
            command("mcp", "--store", place, "--tools", "compat"), env={**os.environ, **ENV},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        signal.signal(signal.SIGINT, before)
        self._pings = 0

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answers(self) -> list[dict[str, Any]]:
        """All that is answered until a ping is."""
        self._pings += 1
        mark = f"ping-{self._pings}"
        self.send(json.dumps({"jsonrpc": "2.0", "id": mark, "method": "ping"}).encode())
        out: list[dict[str, Any]] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)  # nothing but the protocol is there
            if message.get("id") == mark:
                return out
            out.append(message)
        raise AssertionError("the server died")

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=120)
        for line in out.splitlines():
            json.loads(line)
        return self.process.returncode, err.decode()


HELLO = json.dumps(
    {
        "jsonrpc": "2.0", "id": "hello", "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                   "clientInfo": {"name": "fuzz", "version": "1"}},
    }
).encode()  # fmt: skip
READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    made = Wire(tmp_path / "m.db")
    made.send(HELLO, READY)
    (hello,) = made.answers()
    assert hello["result"]["serverInfo"]["name"] == "memoriter"
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.wait()
    for stream in (made.process.stdin, made.process.stdout, made.process.stderr):
        if stream is not None:
            stream.close()


def test_a_malformed_line_and_one_of_100_mb_are_answered_with_errors(wire: Wire) -> None:
    def codes(*lines: bytes) -> list[tuple[object, int]]:
        wire.send(*lines)
        return [(each["id"], each["error"]["code"]) for each in wire.answers()]

    assert codes(b"garbage") == [(None, -32700)]
    assert codes(b"\xff\xfe{}") == [(None, -32700)]
    assert codes(b'{"a":' * 100_000) == [(None, -32700)]
    assert codes(b"[]", b"5", b'{"jsonrpc":"2.0"}') == [(None, -32600)] * 3
    assert codes(b'{"jsonrpc":"2.0","id":7,"method":5}') == [(7, -32600)]
    assert codes(b'{"jsonrpc":"2.0","id":8,"method":"nope"}') == [(8, -32601)]
    assert codes(b"", b"   ") == []
    assert codes(b'{"x":"' + b"x" * 100_000_000 + b'"}') == [(None, -32600)]
    code, err = wire.end()
    assert code == 0
    assert "Traceback" not in err


def test_an_interrupt_ends_it_quietly_while_its_input_is_open(wire: Wire) -> None:
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(timeout=120) == 130  # the input is closed only afterwards
    assert wire.process.stderr is not None
    assert wire.process.stderr.read() == b""


def test_an_interrupt_in_the_middle_of_a_line_ends_it_too(wire: Wire) -> None:
    assert wire.process.stdin is not None
    wire.process.stdin.write(b'{"jsonrpc":"2.0","id":1,')
    wire.process.stdin.flush()
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(timeout=120) == 130


def test_answers_that_are_owed_come_after_the_input_has_ended(wire: Wire) -> None:
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call",
         "params": {"name": "remember", "arguments": {"text": f"note {n}"}}}
        for n in range(20)
    ]  # fmt: skip
    wire.send(*(json.dumps(call).encode() for call in calls))
    out, _ = wire.process.communicate(timeout=120)
    answered = [json.loads(line) for line in out.splitlines()]
    assert sorted(each["id"] for each in answered) == list(range(20))
    assert not any(each["result"]["isError"] for each in answered)


def mangled(rng: random.Random) -> bytes:
    """A message with something wrong in it, somewhere."""
    names = [*CORE, *(tool.name for tool in foreign_tools(())), "nope", "", "\0", "../x"]
    values: list[Any] = [
        None, True, -1, 0, 1e308, 2**70, "", "x" * 300, "ssh", "\u0000", "\ufffe", "'; --",
        "/etc/x", [], [[]], {}, {"a": {"b": []}}, ["ssh"] * 50, {"any": ["x"]}, "P1",
    ]  # fmt: skip
    fields = [
        "query", "limit", "where", "text", "id", "receipt", "cursor", "graph", "top_k", "filters",
        "query_text", "query_vector", "since", "as_of", "tags", "key", "scope", "tenant", "mode",
    ]  # fmt: skip
    arguments = {rng.choice(fields): rng.choice(values) for _ in range(rng.randrange(5))}
    message: dict[str, Any] = {
        "jsonrpc": rng.choice(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": rng.choice([1, "a", None, 1.5, [], True, 2**63]),
        "method": rng.choice(
            ["tools/call"] * 6 + ["tools/list", "ping", "initialize", "server/discover", "x", "", 5]
        ),
        "params": rng.choice(
            [{"name": rng.choice(names), "arguments": arguments}] * 8 + [[], None, 5, {"name": 5}]
        ),
    }
    if rng.random() < 0.2:
        message.pop(rng.choice(list(message)))
    line = json.dumps(message).encode()
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randrange(len(line))
        line = line[:at] + bytes([rng.randrange(256)]) + line[at + rng.randrange(3) :]
    return line.replace(b"\n", b" ")


def test_no_line_kills_a_server_or_shows_its_insides(wire: Wire) -> None:
    """Row 27."""
    rng = random.Random(None if NIGHT else 9)
    for _ in range(200 if NIGHT else 10):
        wire.send(*(mangled(rng) for _ in range(100 if NIGHT else 40)))
        for answer in wire.answers():
            spelled = json.dumps(answer)
            assert "Traceback" not in spelled
            assert "sqlite" not in spelled.lower()
            assert ".py" not in spelled
            assert "internal error" not in spelled
    code, err = wire.end()
    assert code == 0
    assert "Traceback" not in err, err


# --- the extra, the streams -----------------------------------------------------------------


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    hidden = (
        "import sys\n"
        "sys.modules['mcp'] = None\n"
        "from memoriter.doors.cli.main import run\n"
        "sys.argv = ['memoriter', 'mcp']\n"
        "run()\n"
    )
    done = subprocess.run(  # noqa: S603  # ours
        [sys.executable, "-c", hidden], env={**os.environ, **ENV}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 11
    assert 'pip install ".[server]"' in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("args", "through_mcp"),
    [(("--tools", "all"), "core, full, compat"), (("--http", "--read-only"), "--right read")],
)
def test_a_wrong_option_is_refused_before_anything_starts(
    cli: Cli, args: tuple[str, ...], through_mcp: str
) -> None:
    done = cli("mcp", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert through_mcp in done.stderr


@pytest.mark.parametrize("more", [[], ["--http", "--port", "0"]])
def test_a_reranker_is_taken_from_the_flag_and_from_the_settings(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    by_flag = cli("mcp", "--reranker", "nobody", *more)
    monkeypatch.setenv("MEMORITER_RERANKER", "nobody")
    for done in (by_flag, cli("mcp", *more)):
        assert done.exit_code == 2, done.stderr
        assert "reranker" in done.stderr


def test_whoever_prints_prints_beside_the_protocol(tmp_path: Path) -> None:
    program = (
        "import os, sys, anyio, memoriter\n"
        "from memoriter.doors.tenant_session import TenantSession\n"
        "from memoriter.doors.mcp.server import LocalCaller, mcp_server\n"
        "from memoriter.doors.mcp.stdio import serve_stdio\n"
        "class Loud(LocalCaller):\n"
        "    async def ask(self, ctx, tool, arguments):\n"
        "        print('noise'); os.write(1, b'more noise'); os.system('echo and noise')\n"
        "        return await LocalCaller.ask(self, ctx, tool, arguments)\n"
        "session = TenantSession(memoriter.open(':memory:'))\n"
        "anyio.run(serve_stdio, mcp_server('core', Loud(session, 'write')))\n"
    )
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}\n'
    done = subprocess.run(  # noqa: S603  # ours
        [sys.executable, "-c", program], input=HELLO + b"\n" + READY + b"\n" + call,
        env={**os.environ, **ENV}, capture_output=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == ["hello", 1]
    assert b"noise" in done.stderr
