"""A real server in a thread, behind a real socket, and clients that others wrote."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from memoriter.doors.http.app import app
from memoriter.doors.http.limits import Limits
from memoriter.doors.http.serving import ServerConfig, bind_socket, uvicorn_server
from memoriter.doors.http.state import ServerState
from memoriter.doors.mcp.http import mcp_mount
from memoriter.doors.tokens import Tokens
from memoriter.memory.options import OpenOptions
from memoriter.memory.tenants import Tenants
from memoriter.testing.fakes import HandClock

TENANT = "acme"
PATIENT = Limits(rate=1e6, burst=10**6, arrive_s=60.0, answer_s=60.0, idle_s=60.0)
"""Nobody asks too often, and nobody is late because the machine is busy."""


@dataclass
class Live:
    """A server that runs, and what to ask it with."""

    server_state: ServerState
    url: str
    clock: HandClock
    _clients: list[httpx.Client] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def token(self, right: str = "admin", tenant: str = TENANT, **more: Any) -> str:
        return self.server_state.tokens.create(tenant, right, **more)[0]

    def client(self, right: str = "admin", tenant: str = TENANT, **more: Any) -> httpx.Client:
        token = self.token(right, tenant, **more)
        # Every thread keeps its connection: httpx closes surplus ones, sometimes under a reader.
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        headers = {"Authorization": f"Bearer {token}"}
        made = httpx.Client(base_url=self.url, headers=headers, timeout=120, limits=limits)
        self._clients.append(made)
        return made

    def raw(self, data: bytes, wait: float = 60.0) -> bytes:
        """What the server answers to these bytes before it is silent or hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as wire:
            wire.sendall(data)
            return heard(wire)

    def close(self) -> None:
        for each in self._clients:
            each.close()


def heard(wire: socket.socket) -> bytes:
    """One answer: its head and as much body as it announces."""
    out = b""
    with contextlib.suppress(TimeoutError, ConnectionResetError):
        while part := wire.recv(65_536):
            out += part
            head, ended, body = out.partition(b"\r\n\r\n")
            length = [
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ]
            if ended and length and len(body) >= length[0]:
                break
    return out


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


@contextlib.contextmanager
def live(
    limits: Limits | None = None,
    place: str | Path = ":memory:",
    opening: OpenOptions | None = None,
    **where: Any,
) -> Iterator[Live]:
    clock = HandClock()
    at = ServerConfig(port=0, limits=limits or PATIENT, **where).checked()
    server_state = ServerState(Tenants(place, **(opening or {})), Tokens(clock=clock), at.limits)
    ready = threading.Event()
    with bind_socket(at) as listening:
        server = uvicorn_server(
            app(server_state, at.host_policy, [mcp_mount(server_state, "full")]), at, ready.set
        )
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        assert ready.wait(60)
        site = Live(server_state, f"http://127.0.0.1:{listening.getsockname()[1]}", clock)
        try:
            yield site
        finally:
            site.close()
            server.should_exit = True
            thread.join()


def rpc(client: httpx.Client, method: str, /, call_id: Any = 1, **params: Any) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
    answer = client.post("/rpc", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()


JSON = {"Content-Type": "application/json"}
