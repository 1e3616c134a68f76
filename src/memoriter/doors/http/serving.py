"""Runs the HTTP application: its configuration, its socket, and uvicorn with our timeouts."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from memoriter.core.errors import Forbidden, InputError, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.http.connections import IN_A_ROW, ListeningSocket, OpenConnections
from memoriter.doors.http.guards import CREDENTIAL
from memoriter.doors.http.headers import LOOPBACK, HostPolicy
from memoriter.doors.http.joined_writes import JoinedWrites
from memoriter.doors.http.limits import Limits

PORT: Final = 8321
_LARGEST_PORT: Final = 65_535
_HEADER_BYTES: Final = 64 * 1024
_BIND_HINTS: Final = {
    errno.EADDRINUSE: "another server may use it: give another --port",
    errno.EADDRNOTAVAIL: "--host has to be an address of this machine",
    errno.EACCES: "ports below 1024 need administrator rights: give another --port",
    socket.EAI_NONAME: "--host has to be an address or a name of this machine",
}
"""What to do if the socket cannot be bound, by error number."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where a server listens, which hosts and origins it accepts, TLS, and its limits."""

    host: str = "127.0.0.1"
    port: int = PORT
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    behind_proxy: bool = False
    """Whether a proxy in front of it handles TLS."""
    cert: Path | None = None
    key: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def checked(self) -> ServerConfig:
        """The configuration itself; raises if it is wrong or serves other machines without TLS.

        Tokens travel in every request: in plain text anybody on the network could read them.
        """
        if not 0 <= self.port <= _LARGEST_PORT:
            raise InputError(
                f"port: {self.port} is not a port",
                hint="give a number from 0 to 65535; 0 picks a free port",
                field="port",
            )
        if (self.cert is None) != (self.key is None):
            raise InputError(
                "tls: a certificate was given without its key, or a key without its certificate",
                hint="give both --tls-cert and --tls-key",
                field="tls-cert",
            )
        if not (is_loopback(self.host) or self.behind_proxy or self.cert):
            raise Forbidden(
                f"host: other machines can reach {self.host}, but the connection is not encrypted",
                hint="give --tls-cert and --tls-key, or --behind-proxy if a proxy handles TLS",
                field="host",
            )
        return self

    @property
    def host_policy(self) -> HostPolicy:
        """The host names it answers to: its own, the loopback names, and the added ones."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        # 0.0.0.0 is an address to listen on; no client uses it as the name of a host.
        unnamed = address_kind(self.host) == "any" or own in LOOPBACK
        return HostPolicy.of([*([] if unnamed else [own]), *self.hosts], self.origins)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    return host == "localhost" or address_kind(host) == "loopback"


def address_kind(host: str) -> str:
    """`loopback`, `any` (0.0.0.0 and ::) or `other`; a host name is `other`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "other"
    return "loopback" if address.is_loopback else "any" if address.is_unspecified else "other"


def bind_socket(config: ServerConfig) -> socket.socket:
    """A socket bound to host and port (0 picks a free one); raises Unavailable."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # The protocol has to be named: asyncio turns Nagle's algorithm off, which delays answers by
    # 40 ms, only on sockets whose protocol is TCP.
    listening = ListeningSocket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP).bounded(
        config.limits, per_address=not config.behind_proxy
    )
    try:
        # A server that restarts at once would else fail while old connections time out.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((config.host, config.port))
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"cannot listen at {config.host}:{config.port}: {error.strerror}",
            hint=_BIND_HINTS.get(error.errno or 0, "give another --host, or another --port"),
            field="port",
        ) from None
    return listening


def uvicorn_server(
    application: ASGIApp, config: ServerConfig, ready: Callable[[], None]
) -> uvicorn.Server:
    """A server that runs until a signal stops it; running requests are finished first.

    `ready` is called when it accepts connections. Raises InputError if a TLS file is wrong.
    """
    logging.getLogger("uvicorn.access").disabled = True  # its lines contain ids and queries
    limits = config.limits
    settings = uvicorn.Config(
        application,
        # uvicorn makes the protocol itself, so what it needs is passed in a class.
        http=type(
            "Protocol",
            (BoundedProtocol,),
            {
                "limits": limits,
                "open_connections": OpenConnections(limits, per_address=not config.behind_proxy),
            },
        ),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        backlog=IN_A_ROW,
        loop="asyncio",  # uvloop, where it is installed, would not use `ListeningSocket`
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_keep_alive=int(limits.arrive_s),
        timeout_graceful_shutdown=int(limits.stop_s),
        ssl_certfile=config.cert,
        ssl_keyfile=config.key,
    )
    try:
        settings.load()
    except OSError as error:  # a file is missing, is not PEM, or the key is of another certificate
        raise InputError(
            f"tls: the certificate or its key cannot be used: {error.strerror or error}",
            hint="give PEM files for --tls-cert and --tls-key, with the key of that certificate",
            field="tls-cert",
        ) from None
    return _Server(settings, ready, limits.idle_s)


def run_server(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C. After SIGTERM the process ends normally, with code 0.

    uvicorn raises the signal once more when it has shut down. SIGTERM would then kill the process,
    so it is ignored; Ctrl-C still raises KeyboardInterrupt.
    """
    signal.signal(signal.SIGTERM, _ignore)
    server.run([listening])


def _ignore(number: int, frame: object) -> None:
    """A signal handler that does nothing."""


class _Server(uvicorn.Server):
    """A server that calls `ready` when it accepts connections."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], idle_s: float) -> None:
        super().__init__(config)
        self._ready = ready
        self._idle_s = idle_s
        """How long the handshake of TLS may take: nobody has shown a token before it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `ready`."""
        if self.config.is_ssl:
            # uvicorn has no option for it, and asyncio waits for a minute.
            loop: Any = asyncio.get_running_loop()
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=self._idle_s)
        await super().startup(sockets)
        self._ready()


class BoundedProtocol(H11Protocol):
    """HTTP with few connections per address, which closes one whose headers do not arrive in time.

    uvicorn has no such timeout: clients that send a byte now and then (slow loris) could otherwise
    hold all connections. Before its first valid token a connection has less time.
    """

    limits: Limits
    open_connections: OpenConnections
    _timeout: asyncio.TimerHandle | None = None
    _address = ""
    _known = False

    def connection_made(self, transport: Any) -> None:
        """Count the connection, and start the timeout for the first request."""
        super().connection_made(transport)
        self.transport = JoinedWrites(transport)
        self._address = self.client[0] if self.client else ""
        self._wait()
        self.open_connections.add(self, self._address)

    def data_received(self, data: bytes) -> None:
        """Stop the timeout when the headers are complete; start it for the next request."""
        super().data_received(data)
        if self._busy():
            self._stop()
        elif self._timeout is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._stop()
        self.open_connections.remove(self, self._address)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """See whether the request had a valid token; wait for the next one as long as that says."""
        if not self._known and CREDENTIAL in self.scope:
            self._known = True
            self.open_connections.welcome(self, self._address)
        self.timeout_keep_alive = self._patience
        super().on_response_complete()

    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return not self._busy()

    def give_way(self) -> None:
        """Close the connection; from now on it does not count."""
        self.connections.discard(self)
        self.transport.close()

    @property
    def _patience(self) -> float:
        """How many seconds the headers of a request may take."""
        arrive, idle = self.limits.arrive_s, self.limits.idle_s
        return arrive if self._known else min(arrive, idle)

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]  # None before the first request

    def _wait(self) -> None:
        self._timeout = self.loop.call_later(self._patience, self._close_late)

    def _stop(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None

    def _close_late(self) -> None:
        self._timeout = None
        if not self._busy() and not self.transport.is_closing():
            self.transport.close()
