"""Which requests are meant for this server? Host, Origin and Sec-Fetch-Site, checked strictly.

A page of another site that a browser shows cannot reach a server on the same machine: its name
(DNS rebinding) or its origin gives it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memoriter.core.errors import Forbidden, InputError, Misdirected, NotJson

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_HOST: Final = re.compile(
    r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>\d{1,5}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]+)")
_JSON: Final = re.compile(r"application/json(?:\s*;\s*charset\s*=\s*\"?utf-?8\"?)?")
_LARGEST_PORT: Final = 65_535
_OWN: Final = frozenset({"same-origin", "none"})
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Welcome:
    """The names this server answers to, and the origins whose pages may ask it."""

    hosts: frozenset[str] = frozenset(LOOPBACK)
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Sequence[str], origins: Sequence[str]) -> Welcome:
        """Checked names and origins, beside those of this machine."""
        for each in hosts:
            found = _HOST.fullmatch(each.lower())
            if found is None or found["port"] is not None:
                raise InputError(
                    f"allow-host: {each!r} is no name of a host",
                    hint="a name or an address without a port, for example memory.example.org",
                    field="allow-host",
                )
        for each in origins:
            found = _ORIGIN.fullmatch(each.lower())
            if found is None or not _HOST.fullmatch(found["host"]):
                raise InputError(
                    f"allow-origin: {each!r} is no origin",
                    hint="for example https://app.example.org",
                    field="allow-origin",
                )
        return cls(
            frozenset({*LOOPBACK, *(each.lower() for each in hosts)}),
            frozenset(each.lower() for each in origins),
        )

    def check(self, headers: Headers) -> str | None:
        """Refuse what is not meant for this server; the foreign origin that was let in, if any."""
        told = list(headers)
        host = self._host(values(told, b"host"))
        origin = self._origin(values(told, b"origin"), host)
        sites = values(told, b"sec-fetch-site")
        if origin is None and any(site not in _OWN for site in sites):
            raise Forbidden(
                "the request comes from a page of another site",
                hint="memoriter serve --allow-origin lets one in",
            )
        return origin

    def _host(self, found: Sequence[str]) -> str:
        match = _HOST.fullmatch(found[0].lower()) if len(found) == 1 else None
        port = match["port"] if match else None
        if not match or match["name"] not in self.hosts or int(port or 0) > _LARGEST_PORT:
            raise Misdirected(
                "this server does not answer to that host",
                hint="memoriter serve --allow-host names another one",
            )
        return match[0]

    def _origin(self, found: Sequence[str], host: str) -> str | None:
        """The foreign origin that is welcome; None for our own and for none at all."""
        if not found:
            return None
        origin = found[0].lower()
        if len(found) == 1 and origin in self.origins:
            return origin
        if len(found) != 1 or origin not in (f"http://{host}", f"https://{host}"):
            raise Forbidden(
                "requests from that origin are refused",
                hint="memoriter serve --allow-origin lets one in",
            )
        return None


def values(headers: Headers, name: bytes) -> list[str]:
    """All values of a header."""
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]


def plain_json(headers: Headers) -> None:
    """Refuse a body that is packed, or not JSON."""
    told = list(headers)
    if any(packed.lower() != "identity" for packed in values(told, b"content-encoding")):
        raise NotJson("the body is packed", hint="send it without Content-Encoding")
    kinds = values(told, b"content-type")
    if len(kinds) != 1 or not _JSON.fullmatch(kinds[0].lower()):
        raise NotJson("the body has to be JSON", hint="send Content-Type: application/json")


def twofold(headers: Headers) -> bool:
    """Whether two who read it may see two ends of the body: one request could hide in another."""
    names = {key.lower() for key, _ in headers}
    return {b"content-length", b"transfer-encoding"} <= names


def announced(headers: Headers) -> int | None:
    """How many bytes are said to come."""
    found = values(headers, b"content-length")
    return int(found[0]) if found and found[0].isascii() and found[0].isdigit() else None


def bearer(headers: Headers) -> str | None:
    """The token of the request."""
    found = values(headers, b"authorization")
    if len(found) != 1:
        return None
    scheme, _, token = found[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
