"""A running server: a socket, uvicorn around the application, an orderly end."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from memoriter.core.errors import Forbidden, InputError, Unavailable
from memoriter.doors.http.headers import LOOPBACK, Welcome
from memoriter.doors.http.limits import Limits

PORT: Final = 8321
_LARGEST_PORT: Final = 65_535
_HEAD_BYTES: Final = 64 * 1024
_BOUND: Final = {
    errno.EADDRINUSE: "another server may be there: give another --port",
    errno.EADDRNOTAVAIL: "--host has to be an address of this machine",
    errno.EACCES: "ports below 1024 are the administrator's: give another --port",
    socket.EAI_NONAME: "--host has to be an address of this machine, or a name of one",
}
"""What to do when a place cannot be listened at."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where a server listens, and whom it answers."""

    host: str = "127.0.0.1"
    port: int = PORT
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    behind_proxy: bool = False
    """Something before it speaks TLS."""
    cert: Path | None = None
    key: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def checked(self) -> Where:
        """Refuse to speak in the clear to other machines."""
        if not 0 <= self.port <= _LARGEST_PORT:
            raise InputError(
                f"port: {self.port} is no port", hint="0 to 65535; 0 takes a free one", field="port"
            )
        if (self.cert is None) != (self.key is None):
            raise InputError(
                "tls: a certificate and its key belong together",
                hint="give --tls-cert and --tls-key",
                field="tls-cert",
            )
        if not (is_loopback(self.host) or self.behind_proxy or self.cert):
            raise Forbidden(
                f"host: {self.host} is reached by other machines, and nothing is encrypted",
                hint="give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks TLS",
                field="host",
            )
        return self

    @property
    def welcome(self) -> Welcome:
        """The names it answers to: its own, those of this machine, those that were added."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        anybody = not is_loopback(self.host) and ipaddress_of(self.host) == "any"
        named = [] if anybody or own in LOOPBACK else [own]
        return Welcome.of([*named, *self.hosts], self.origins)


def is_loopback(host: str) -> bool:
    """Whether an address is reached by this machine alone."""
    return host == "localhost" or ipaddress_of(host) == "loopback"


def ipaddress_of(host: str) -> str:
    """What kind of address it is: loopback, any, or other; a name is other."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "other"
    return "loopback" if address.is_loopback else "any" if address.is_unspecified else "other"


def bound(where: Where) -> socket.socket:
    """A socket at the place; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    # Said to be TCP, or asyncio leaves Nagle's delay on: 40 ms for every answer.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((where.host, where.port))
    except OSError as error:
        found.close()
        raise Unavailable(
            f"{where.host}:{where.port} cannot be listened at: {error.strerror}",
            hint=_BOUND.get(error.errno or 0, "give another --host, or another --port"),
            field="port",
        ) from None
    return found


def server_of(made: ASGIApp, where: Where, ready: Callable[[], None]) -> uvicorn.Server:
    """A server that runs until a signal says stop; requests that were begun are finished first."""
    logging.getLogger("uvicorn.access").disabled = True  # its lines hold ids and queries
    config = uvicorn.Config(
        made,
        http=type("Patient", (Patient,), {"arrive_s": where.limits.arrive_s}),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=where.limits.connections,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_keep_alive=int(where.limits.arrive_s),
        timeout_graceful_shutdown=int(where.limits.stop_s),
        ssl_certfile=where.cert,
        ssl_keyfile=where.key,
    )
    try:
        config.load()
    except OSError as error:  # files that are not there, not PEM, or not of one another
        raise InputError(
            f"tls: the certificate or its key cannot be used: {error.strerror or error}",
            hint="--tls-cert and --tls-key are PEM files that belong together",
            field="tls-cert",
        ) from None
    return _Server(config, ready)


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until a signal says stop. Told to end, it ends well; Ctrl-C stays what it is."""
    signal.signal(signal.SIGTERM, _done)
    server.run([listening])


def _done(number: int, frame: object) -> None:
    """Take the signal that uvicorn hands on when everything has ended."""


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._ready()


class Patient(H11Protocol):
    """HTTP for those who send the head of a request in time; others are hung up on."""

    arrive_s: float = 10.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting until the head is there."""
        super().data_received(data)
        if self._busy():
            self._stop()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._stop()
        super().connection_lost(exc)

    def _busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]  # None before the first request

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.arrive_s, self._hang_up)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _hang_up(self) -> None:
        self._late = None
        if not self._busy() and not self.transport.is_closing():
            self.transport.close()
