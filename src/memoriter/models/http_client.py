"""One JSON request to somebody's server: tried again while that can help, never past a deadline."""

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
from memoriter.models.texts import one_line
from memoriter.models.worker_thread import apart

LARGEST_ANSWER: Final = 64 * 1024 * 1024
_FIRST_WAIT: Final = 0.25
_BUSY: Final = 429
_BROKEN: Final = 500
_FINE: Final = 200


class Want(NamedTuple):
    """Who asks a server, and where keys are looked for."""

    who: str
    """The option that an error names."""
    variable: str
    """Holds the key for any server."""
    owners: Mapping[str, str]
    """Hosts, and the variable of the key that is only ever sent to each."""
    example: str
    """A base URL that would do, without its scheme."""


class Server(NamedTuple):
    """Where requests go; the key is no part of it."""

    secure: bool
    host: str
    port: int | None
    path: str

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.path}"


def server_of(base: str, want: Want) -> Server:
    """The server that a URL names; nothing secret may stand in it.

    >>> str(server_of("https://API.example.com/v1/", Want("embedder", "KEY", {}, "a.b/v1")))
    'https://api.example.com/v1'
    """
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError:
        raise _bad(want, "it cannot be read") from None
    if not base.isascii() or not base.isprintable() or " " in base:
        raise _bad(want, "it holds characters that a URL cannot hold")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _bad(want, "it must begin with http:// or https:// and name a host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise _bad(want, "it may hold a scheme, a host, a port and a path, nothing else")
    return Server(parts.scheme == "https", parts.hostname, port, parts.path.rstrip("/"))


def _bad(want: Want, why: str) -> InputError:
    return InputError(
        f"{want.who}: the base URL is not usable: {why}",
        hint=f"for example https://{want.example}; a key goes into {want.variable}",
        field=want.who,
    )


def key_for(server: Server, given: str | None, want: Want) -> str:
    """The key to send: the given one, or one from the environment; empty for none."""
    key = os.environ.get(want.variable, "") if given is None else given
    owner = want.owners.get(server.host)
    if given is None and not key and server.secure and owner is not None:
        key = os.environ.get(owner, "")
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(
            f"{want.who}: the key holds characters that no key holds",
            hint="was a whole line or a file name copied?",
            field="key",
        )
    return key


class _Again(Exception):
    """It went wrong, and trying again may help."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class Post:
    """Requests of one call: one connection, one deadline. A context manager."""

    def __init__(self, server: Server, key: str, seconds: float, tries: int) -> None:
        self._server = server
        self._key = key
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._tries = tries
        make = http.client.HTTPSConnection if server.secure else http.client.HTTPConnection
        self._connection = make(server.host, server.port, timeout=seconds)

    def __enter__(self) -> Post:
        return self

    def __exit__(self, *_: object) -> None:
        self._cut()

    def send(self, path: str, body: bytes) -> bytes:
        """The body of the answer; `Unavailable` says why there is none."""
        for nth in range(self._tries):
            try:
                return self._once(self._server.path + path, body)
            except _Again as failed:
                wait = _FIRST_WAIT * 2**nth if failed.wait is None else failed.wait
                if nth + 1 == self._tries:
                    raise self._failed(f"{failed} ({self._tries} tries)") from None
                if time.monotonic() + wait >= self._until:
                    raise self._failed(f"{failed}; no time is left to try again") from None
            time.sleep(wait)
        raise self._failed("nothing was tried")

    def _failed(self, why: str, hint: str = "") -> Unavailable:
        # A server may repeat what it was sent.
        safe = why.replace(self._key, "(key)") if self._key else why
        return Unavailable(f"{self._server}: {safe}", hint=hint)

    def _once(self, path: str, body: bytes) -> bytes:
        status, headers, content = self._within(lambda: self._exchange(path, body))
        if status == _FINE:
            return content
        why = f"answered {status}"
        if status == _BUSY or status >= _BROKEN:
            raise _Again(why, _wait(headers))
        raise self.declined(status, content)

    def declined(self, status: int, content: bytes) -> MemoriterError:
        """What it means that the server says no."""
        hint = "is the key right?" if status in {401, 403} else ""
        return self._failed(f"answered {status}: {self._excerpt(content)}", hint)

    def _excerpt(self, content: bytes) -> str:
        """The first words of an answer, safe to print."""
        whole = content[:10_000].decode("utf-8", "replace")
        if self._key:
            whole = whole.replace(self._key, "(key)")
        return one_line(whole)

    def _within(self, ask: Callable[[], tuple[int, Message, bytes]]) -> tuple[int, Message, bytes]:
        left = self._until - time.monotonic()
        try:
            if left <= 0.0:
                raise TimeoutError  # noqa: TRY301  # as if it had been asked
            # Resolving a name and dripping bytes know no time limit: somebody else waits for them.
            return apart(ask, "memoriter-post").result(timeout=left)
        except TimeoutError:
            self._cut()
            raise self._failed(f"no answer within {self._seconds:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise _Again(f"{type(error).__name__}: {error}") from None

    def _exchange(self, path: str, body: bytes) -> tuple[int, Message, bytes]:
        headers = {"Content-Type": "application/json", "User-Agent": "memoriter"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._connection.request("POST", path, body, headers)
        with self._connection.getresponse() as answer:
            content = answer.read(LARGEST_ANSWER + 1)
            if len(content) > LARGEST_ANSWER:
                raise OSError(f"the answer is larger than {LARGEST_ANSWER:,} bytes")
            if answer.length:  # `read` with a limit does not tell a body that ended early
                raise http.client.IncompleteRead(content, answer.length)
            return answer.status, answer.headers, content

    def _cut(self) -> None:
        """Let go of the connection, also while somebody reads from it."""
        held: socket.socket | None = self._connection.sock
        if held is not None:
            with suppress(OSError):  # it may be gone already
                socket.socket.shutdown(held, socket.SHUT_RDWR)
        self._connection.close()


def _wait(headers: Message) -> float | None:
    """The seconds a server asks to wait: a number, or a moment by its own clock."""
    told = str(headers.get("Retry-After", "")).strip()
    if told.isdecimal():
        return float(told[:9])
    try:
        later = parsedate_to_datetime(told)
        now = parsedate_to_datetime(str(headers.get("Date", "")))
        return max((later - now).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None
