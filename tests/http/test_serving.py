"""A server from outside: how it starts, what it withstands, how it ends."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from tests.http.live import heard, status_of
from tests.http.processes import started
from tests.night import NIGHT
from typer.testing import CliRunner, Result

import memoriter
from memoriter.core.errors import Forbidden, InputError, Unavailable
from memoriter.doors.cli.main import app as root
from memoriter.doors.http.limits import Limits
from memoriter.doors.http.serving import ServerConfig, bind_socket, uvicorn_server
from memoriter.doors.tokens import Tokens

ANSWERS: Final = 5000 if NIGHT else 120
"""So many answers are waited for before the server has to end."""
CLIENTS: Final = 50


@pytest.mark.parametrize(
    ("how", "ok"),
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"host": "::1"}, True),
        ({"host": "127.8.8.8"}, True),
        ({"host": "0.0.0.0"}, False),  # noqa: S104  # nothing is bound
        ({"host": "::"}, False),
        ({"host": "192.168.1.5"}, False),
        ({"host": "memory.example.org"}, False),
        ({"host": "0.0.0.0", "behind_proxy": True}, True),  # noqa: S104  # as above
        ({"host": "0.0.0.0", "cert": Path("c"), "key": Path("k")}, True),  # noqa: S104  # as above
    ],
)
def test_other_machines_are_not_spoken_to_in_the_clear(how: dict[str, Any], *, ok: bool) -> None:
    if ok:
        assert ServerConfig(**how).checked()
        return
    with pytest.raises(Forbidden, match="is not encrypted") as caught:
        ServerConfig(**how).checked()
    assert "--behind-proxy" in caught.value.hint


def test_half_of_what_tls_needs_is_refused() -> None:
    with pytest.raises(InputError, match="without its key"):
        ServerConfig(cert=Path("c")).checked()
    with pytest.raises(InputError, match="port"):
        ServerConfig(port=70_000).checked()


def test_a_server_answers_to_its_own_address_and_to_no_wildcard() -> None:
    assert "192.168.1.5" in ServerConfig("192.168.1.5").host_policy.hosts
    assert "[fe80::1]" in ServerConfig("fe80::1").host_policy.hosts
    assert "0.0.0.0" not in ServerConfig("0.0.0.0").host_policy.hosts  # noqa: S104  # nothing is bound


def test_a_port_that_is_taken_is_told_in_words() -> None:
    with bind_socket(ServerConfig(port=0)) as first:
        first.listen()
        with pytest.raises(Unavailable, match="cannot listen at"):
            bind_socket(ServerConfig(port=first.getsockname()[1]))


def test_the_first_start_makes_a_token_and_the_second_makes_none(tmp_path: Path) -> None:
    with started(tmp_path, "--tenant", "acme") as server:
        assert server.token is not None
        with server.client() as client:
            assert client.get("/v1/status").json()["tenant"] == "acme"
            assert client.get("/metrics").status_code == 200
        (made,) = Tokens.for_store(tmp_path / "memoriter.db").list()
        assert (made.tenant, made.right, made.name) == ("acme", "admin", "first start")
        text, reader = Tokens.for_store(tmp_path / "memoriter.db").create("default", "read")
        with server.client(text) as client:
            assert client.get("/v1/status").json()["tenant"] == "default"
            assert client.post("/v1/memories", json={"text": "x"}).status_code == 403
            Tokens.for_store(tmp_path / "memoriter.db").revoke(reader.id)
            assert client.get("/v1/status").status_code == 401
        assert server.stop() == 0
    with started(tmp_path) as server:
        assert server.token is None


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("STORE", "TENANT", "RERANKER"):
        monkeypatch.delenv(f"MEMORITER_{name}", raising=False)
    return lambda *args: CliRunner().invoke(root, list(args))


def test_starting_beyond_this_machine_needs_tls_or_a_proxy(
    cli: Callable[..., Result], tmp_path: Path
) -> None:
    refused = cli("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  # refused
    assert refused.exit_code == 6
    assert "--tls-cert" in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--tls-cert", "none.pem", "--tls-key", "none.pem"], "--tls-cert"),
        (["--tls-cert", "not.pem", "--tls-key", "not.pem"], "--tls-cert"),
        (["--allow-host", "a:80"], "allow-host"),
    ],
)
def test_a_start_that_fails_swallows_no_token(
    cli: Callable[..., Result], tmp_path: Path, flags: list[str], named: str
) -> None:
    (tmp_path / "not.pem").write_text("nothing\n")
    failed = cli("serve", "--port", "0", *flags)
    assert failed.exit_code == 2, failed.stderr
    assert named in failed.stderr
    assert not Tokens.for_store(tmp_path / "memoriter.db").list()


@pytest.mark.parametrize("module", ["uvicorn", "starlette"])
def test_without_the_extra_the_command_says_what_to_install(
    cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = cli("serve")
    assert done.exit_code == 11
    assert 'pip install ".[server]"' in done.stderr


def test_tokens_at_the_command_line(cli: Callable[..., Result]) -> None:
    assert cli("token", "list").exit_code == 3
    cli("init")
    assert cli("token", "list").stdout.strip() == "no tokens"
    made = cli("token", "create", "--expires", "30d", "--name", "laptop")
    text = made.stdout.strip()
    assert text.startswith("mem_")
    assert "this once" in made.stderr
    listed = cli("token", "list").stdout
    assert "laptop" in listed
    assert text.split("_")[2] not in listed
    (token,) = json.loads(cli("token", "list", "--json").stdout)["tokens"]
    assert token["right"] == "read"
    assert token["expires"] > token["created"]
    assert cli("token", "revoke", token["id"]).stdout.strip() == f"revoked {token['id']}"
    assert cli("token", "revoke", token["id"]).exit_code == 3
    assert cli("token", "create", "--right", "root").exit_code == 2
    assert cli("token", "create", "--expires", "soon").exit_code == 2
    assert cli("token", "create", "--expires", "0d").exit_code == 2


def test_a_server_with_a_certificate_speaks_tls(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",  # noqa: S607  # whichever openssl there is
         "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    with started(tmp_path, "--tls-cert", "cert.pem", "--tls-key", "key.pem") as server:
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        assert server.url.startswith("https://")
        assert httpx.get(f"{server.url}/healthz", verify=trusted).json() == {"status": "ok"}
        # Who connects and begins no handshake is closed soon, not after asyncio's minute.
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=40) as silent:
            assert silent.recv(1) == b""


def test_connections_far_beyond_the_limits_are_closed_before_any_handshake() -> None:
    limits = Limits(per_address=1, strangers=1)
    with contextlib.closing(bind_socket(ServerConfig(port=0, limits=limits))) as listening:
        listening.listen(8)
        place = ("127.0.0.1", listening.getsockname()[1])
        asking = [socket.create_connection(place, timeout=40) for _ in range(4)]
        served = [listening.accept()[0] for _ in range(2)]
        with pytest.raises(ConnectionAbortedError):
            listening.accept()
        assert asking[2].recv(1) == b""
        served.pop().close()
        served.append(listening.accept()[0])  # there is room again
        for each in (*asking, *served):
            each.close()


def test_the_server_uses_asyncio_and_a_long_queue_whatever_is_installed() -> None:
    """uvloop would neither ask `ListeningSocket` for connections nor keep its queue."""
    config = ServerConfig(port=0)
    with contextlib.closing(bind_socket(config)) as listening:
        server = uvicorn_server(_answers_nothing, config, lambda: None)
        assert server.config.loop == "asyncio"
        listening.listen(server.config.backlog)
        place = ("127.0.0.1", listening.getsockname()[1])
        with contextlib.ExitStack() as stack:
            for _ in range(50):  # nobody accepts them, and all are connected
                stack.enter_context(socket.create_connection(place, timeout=40))


async def _answers_nothing(scope: object, receive: object, send: object) -> None:
    raise AssertionError(scope, receive, send)


def kept(path: Path, tenant: str = "default") -> set[str]:
    """The keys of all memories of a store that nobody has open."""
    with memoriter.open(path, tenant) as memory:
        texts: set[str] = set()
        cursor = None
        while True:
            page = memory.browse(limit=10_000, cursor=cursor)
            texts |= {record.text for record in page.records}
            cursor = page.cursor
            if cursor is None:
                return texts


class Crowd:
    """Many clients that write and ask until they are told to stop."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.statuses: Counter[int] = Counter()
        self.acknowledged: set[str] = set()
        self.late = 0
        """Questions, never writes, that were given up: as the server may where all is slow."""
        self.over = threading.Event()
        """Set when the server is about to end: then it may be silent, or say that it stops."""
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)

    def wait(self, answers: int) -> None:
        """Until so many answers came."""
        with self._more:
            assert self._more.wait_for(lambda: self.statuses[200] >= answers, 300), self.statuses

    def run(self, nth: int) -> None:
        with self.server.client() as client:
            step = 0
            while True:
                step += 1
                try:
                    self._one(client, nth, step)
                except httpx.TransportError:
                    if self.over.is_set():
                        return
                    self._count(-1)

    def _one(self, client: httpx.Client, nth: int, step: int) -> None:
        if step % 3 == 0:
            text = f"memory {step} of client {nth}"
            answer = client.post("/v1/memories", json={"text": text, "key": text})
            if answer.status_code == 200:
                with self._lock:
                    self.acknowledged.add(text)
        elif step % 3 == 1:
            answer = client.post("/v1/recall", json={"query": f"memory of client {nth}"})
        else:
            answer = client.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "status"})
        if answer.status_code == 503 and step % 3 and " within 2 s" in answer.text:
            self.late += 1
        else:
            self._count(answer.status_code)
        if answer.status_code == 429:
            time.sleep(0.01)

    def _count(self, status: int) -> None:
        if status == 503 and self.over.is_set():
            return
        with self._more:
            self.statuses[status] += 1
            self._more.notify_all()


def weight(pid: int) -> int:
    """Megabytes that a process holds in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) // 1024


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_a_crowd_loses_nothing_that_was_acknowledged(tmp_path: Path, end: int) -> None:
    with started(tmp_path) as server:
        crowd = Crowd(server)
        with ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(crowd.run, nth) for nth in range(CLIENTS)]
            crowd.wait(ANSWERS // 2)
            early = weight(server.process.pid)
            crowd.wait(ANSWERS)
            late = weight(server.process.pid)
            crowd.over.set()
            code = server.stop(end)
            for each in running:
                each.result()
    assert set(crowd.statuses) <= {200, 429}, crowd.statuses
    assert crowd.acknowledged
    assert late < early + 120, (early, late)
    assert code == (0 if end == signal.SIGTERM else -signal.SIGKILL)
    assert crowd.acknowledged <= kept(tmp_path / "memoriter.db")


def test_a_write_that_was_begun_is_finished_when_the_server_stops(tmp_path: Path) -> None:
    many = [{"text": f"memory number {n} of a large batch"} for n in range(1000)]
    body = json.dumps({"memories": many}).encode()
    with started(tmp_path) as server:
        host, port = server.url.removeprefix("http://").split(":")
        head = (
            f"POST /v1/memories/batch HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=120) as wire:
            wire.sendall(head.encode())
            assert wire.recv(10_000).startswith(b"HTTP/1.1 100 ")  # now it has begun
            wire.sendall(body)
            server.process.send_signal(signal.SIGTERM)
            answer = heard(wire)
        assert server.process.wait(120) == 0
        assert status_of(answer) == 200
        assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["ids"]) == 1000
    assert len(kept(tmp_path / "memoriter.db")) == 1000
