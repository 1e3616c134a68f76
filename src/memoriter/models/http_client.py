"""JSON over HTTP POST with retries and one overall deadline.

`embed.http` and `rerank.http` reach model servers with it, and `doors.hook` a memory server. It
uses `http.client` so that no further dependency is needed.
"""

from __future__ import annotations

import http.client
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from memoriter.core.errors import InputError, MemoriterError, Unavailable
from memoriter.kernel.turns import TURNS
from memoriter.models.texts import excerpt
from memoriter.models.worker_thread import run_in_thread

LARGEST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of the largest response body that is accepted."""
FIRST_WAIT: Final = 0.25
"""Seconds before the first retry; each further wait is twice as long."""
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERROR: Final = 500
_OK: Final = 200


class ServerRole(NamedTuple):
    """What a server is used for, and which environment variables hold its key."""

    option: str
    """The option that an error names, for example `embedder`."""
    key_variable: str
    """The environment variable with a key for any server."""
    host_key_variables: Mapping[str, str]
    """Host → the environment variable whose key is only ever sent to that host."""
    example: str
    """A valid base URL without its scheme, for hints."""


class Server(NamedTuple):
    """The parts of a base URL. It holds no key, so it is safe to print."""

    secure: bool
    host: str
    port: int | None
    path: str

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.path}"


def parse_base_url(base: str, role: ServerRole) -> Server:
    """The server of a base URL; raises InputError if the URL is malformed or holds credentials.

    >>> str(parse_base_url("https://API.example.com/v1/", ServerRole("embedder", "K", {}, "a.b")))
    'https://api.example.com/v1'
    """
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError:
        raise _bad(role, "it cannot be read") from None
    if not base.isascii() or not base.isprintable() or " " in base:
        raise _bad(role, "it holds characters that a URL cannot hold")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _bad(role, "it must begin with http:// or https:// and name a host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise _bad(role, "it may hold a scheme, a host, a port and a path, nothing else")
    return Server(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/"))


def check_options(given: Mapping[str, object], options: type, owner: str) -> None:
    """Refuse options that `options`, a TypedDict, does not declare."""
    known = options.__annotations__
    if unknown := set(given) - set(known):
        raise InputError(
            f"{min(unknown)}: {owner} has no such option",
            hint=f"the options are {', '.join(known)}",
            field=min(unknown),
        )


def _bad(role: ServerRole, why: str) -> InputError:
    return InputError(
        f"{role.option}: the base URL is not usable: {why}",
        hint=f"for example https://{role.example}; a key goes into {role.key_variable}",
        field=role.option,
    )


def key_for(server: Server, explicit: str | None, role: ServerRole) -> str:
    """The key to send, or an empty text for none.

    An explicit key wins; otherwise the environment is read. Raises InputError if the key could not
    be sent in a header.
    """
    key = os.environ.get(role.key_variable, "") if explicit is None else explicit
    variable = role.host_key_variables.get(server.host)
    # The key of a named provider is sent to that provider only, and never without TLS.
    if explicit is None and not key and server.secure and variable is not None:
        key = os.environ.get(variable, "")
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(
            f"{role.option}: the API key has a space, a line break or a character outside ASCII",
            hint="set only the key itself, not a file name or a whole header",
            field="key",
        )
    return key


class _Retryable(Exception):
    """A failed attempt that may succeed if repeated, after `wait` seconds if the server said so."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class Post:
    """Sends the POST requests of one call over one connection, within one deadline.

    A context manager; leaving it closes the connection. The deadline counts from the construction
    and covers all requests, retries and waits.
    """

    def __init__(self, server: Server, key: str, seconds: float, tries: int) -> None:
        self._server = server
        self._key = key
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._tries = tries
        connection = http.client.HTTPSConnection if server.secure else http.client.HTTPConnection
        self._connection = connection(server.host, server.port, timeout=seconds)

    def __enter__(self) -> Post:
        return self

    def __exit__(self, *_: object) -> None:
        self._cut()

    def send(self, path: str, body: bytes) -> bytes:
        """Post a body and return the body of the response.

        Raises Unavailable when the server refuses, fails `tries` times or misses the deadline.
        """
        return TURNS.beside(lambda: self._send(path, body))

    def _send(self, path: str, body: bytes) -> bytes:
        for nth in range(self._tries):
            try:
                return self._once(self._server.path + path, body)
            except _Retryable as failed:
                wait = FIRST_WAIT * 2**nth if failed.wait is None else failed.wait
                if nth + 1 == self._tries:
                    raise self._failed(f"{failed} ({self._tries} tries)") from None
                if time.monotonic() + wait >= self._until:
                    raise self._failed(f"{failed}; no time is left to try again") from None
            time.sleep(wait)
        raise self._failed("internal error: no request was sent")

    def _failed(self, why: str, hint: str = "") -> Unavailable:
        # A server may echo the request headers, and errors are logged: never show the key.
        safe = why.replace(self._key, "(key)") if self._key else why
        return Unavailable(f"{self._server}: {safe}", hint=hint)

    def _once(self, path: str, body: bytes) -> bytes:
        status, headers, content = self._within(lambda: self._exchange(path, body))
        if status == _OK:
            return content
        why = f"answered {status}"
        if status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR:
            raise _Retryable(why, _retry_after(headers))
        raise self.declined(status, content)

    def declined(self, status: int, content: bytes) -> MemoriterError:
        """The error for a status that a retry cannot change; subclasses may return another."""
        hint = "check the API key" if status in {401, 403} else ""
        return self._failed(f"answered {status}: {self._excerpt(content)}", hint)

    def _excerpt(self, content: bytes) -> str:
        """The beginning of a response body, safe to print."""
        whole = content[:10_000].decode("utf-8", "replace")
        if self._key:
            whole = whole.replace(self._key, "(key)")
        return excerpt(whole)

    def _within(self, ask: Callable[[], tuple[int, Message, bytes]]) -> tuple[int, Message, bytes]:
        left = self._until - time.monotonic()
        try:
            if left <= 0.0:
                raise TimeoutError  # noqa: TRY301  # handled like a request that took too long
            # A socket timeout limits neither name resolution nor a server that sends one byte at a
            # time. A thread that can be abandoned enforces the deadline for both.
            return run_in_thread(ask, "memoriter-post").result(timeout=left)
        except TimeoutError:
            self._cut()
            raise self._failed(f"no answer within {self._seconds:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise _Retryable(f"{type(error).__name__}: {error}") from None

    def _exchange(self, path: str, body: bytes) -> tuple[int, Message, bytes]:
        headers = {"Content-Type": "application/json", "User-Agent": "memoriter"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._connection.request("POST", path, body, headers)
        with self._connection.getresponse() as response:
            content = response.read(LARGEST_ANSWER + 1)
            if len(content) > LARGEST_ANSWER:
                raise OSError(
                    f"the answer of the server is larger than {LARGEST_ANSWER:,} bytes, which"
                    " is the limit"
                )
            if response.length:  # `read` with a limit does not raise for a body that ended early
                raise http.client.IncompleteRead(content, response.length)
            return response.status, response.headers, content

    def _cut(self) -> None:
        """Close the connection, also while an abandoned thread still reads from it."""
        held: socket.socket | None = self._connection.sock
        if held is not None:
            # Closing alone does not wake a thread that blocks in `recv`; a shutdown does.
            with suppress(OSError):  # the socket may be closed already
                socket.socket.shutdown(held, socket.SHUT_RDWR)
        self._connection.close()


def _retry_after(headers: Message) -> float | None:
    """The seconds of the `Retry-After` header, None if it is absent or malformed."""
    value = str(headers.get("Retry-After", "")).strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        # A date is measured against the server's own clock, which may differ from ours.
        later = parsedate_to_datetime(value)
        now = parsedate_to_datetime(str(headers.get("Date", "")))
        return max((later - now).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
