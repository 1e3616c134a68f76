"""Checks of request headers: Host, Origin, Sec-Fetch-Site, content type, length, token, entry.

A server on 127.0.0.1 can be reached by any web page that the user opens. Host is checked against
DNS rebinding, Origin and Sec-Fetch-Site against requests from pages of other sites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from memoriter.core.errors import Forbidden, InputError, Misdirected, NotJson
from memoriter.core.lazy_dataclass import dataclass

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_HOST: Final = re.compile(
    r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?P<port>\d{1,5}))?"
)
_ORIGIN: Final = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]+)")
_JSON: Final = re.compile(r"application/json(?:\s*;\s*charset\s*=\s*\"?utf-?8\"?)?")
_NUMBER: Final = re.compile(r"[0-9]+")
AFTER: Final = "Memoriter-After"
_AFTER: Final = AFTER.lower().encode()
_LARGEST_PORT: Final = 65_535
_SAME_SITE: Final = frozenset({"same-origin", "none"})
"""Values of Sec-Fetch-Site that do not come from another site; `none` is typed by the user."""
Headers = Mapping[bytes, Sequence[str]]
"""By name in lower case: all values of a header, in the order sent."""


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The host names that this server answers to, and the origins whose pages may call it."""

    hosts: frozenset[str] = frozenset(LOOPBACK)
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hosts: Sequence[str], origins: Sequence[str]) -> HostPolicy:
        """A policy with these hosts and origins, and the loopback names; raises InputError."""
        for each in hosts:
            match = _HOST.fullmatch(each.lower())
            if match is None or match["port"] is not None:
                raise InputError(
                    f"allow-host: {each!r} is not a host name",
                    hint="give a name or an address without a port, for example memory.example.org",
                    field="allow-host",
                )
        for each in origins:
            match = _ORIGIN.fullmatch(each.lower())
            if match is None or not _HOST.fullmatch(match["host"]):
                raise InputError(
                    f"allow-origin: {each!r} is not an origin",
                    hint="give scheme and host, for example https://app.example.org",
                    field="allow-origin",
                )
        return cls(
            frozenset({*LOOPBACK, *(each.lower() for each in hosts)}),
            frozenset(each.lower() for each in origins),
        )

    def check(self, headers: Headers, *, opening: bool = False) -> str | None:
        """The allowed foreign origin of a request, or None if it has none.

        Raises Misdirected for another host, Forbidden for a page of another site. With `opening`,
        somebody may follow a link from anywhere: the document that opens holds nothing of anybody.
        """
        host = self._host(headers.get(b"host", ()))
        origin = self._origin(headers.get(b"origin", ()), host)
        sites = headers.get(b"sec-fetch-site", ())
        opening = opening and headers.get(b"sec-fetch-mode") == ["navigate"]
        foreign = any(site not in _SAME_SITE for site in sites)
        if origin is None and foreign and not opening:
            raise Forbidden(
                "the request comes from a page of another site",
                hint="to allow that page, start the server with --allow-origin and its origin",
            )
        return origin

    def _host(self, sent: Sequence[str]) -> str:
        """The host of a request, if it is sent once and is one of ours."""
        match = _HOST.fullmatch(sent[0].lower()) if len(sent) == 1 else None
        port = match["port"] if match else None
        if not match or match["name"] not in self.hosts or int(port or 0) > _LARGEST_PORT:
            raise Misdirected(
                "this server does not answer for the host in the Host header of the request",
                hint="to allow a host name, start the server with --allow-host NAME",
            )
        return match[0]

    def _origin(self, sent: Sequence[str], host: str) -> str | None:
        """The foreign origin, if it is allowed; None for our own origin and for none."""
        if not sent:
            return None
        origin = sent[0].lower()
        if len(sent) == 1 and origin in self.origins:
            return origin
        if len(sent) != 1 or origin not in (f"http://{host}", f"https://{host}"):
            raise Forbidden(
                "the origin in the Origin header of the request is not allowed",
                hint="to allow it, start the server with --allow-origin and that origin",
            )
        return None


def read_headers(sent: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of a request by name."""
    out: dict[bytes, list[str]] = {}
    for key, value in sent:
        out.setdefault(key.lower(), []).append(value.decode("latin-1").strip())
    return out


def require_json(headers: Headers) -> None:
    """Raise NotJson for a body that is compressed or not JSON.

    A content type that HTML forms can send would need no CORS preflight, so only JSON will do.
    """
    encodings = headers.get(b"content-encoding", ())
    if any(encoding.lower() != "identity" for encoding in encodings):
        raise NotJson(
            "the body of the request is compressed",
            hint="send it uncompressed, without the header Content-Encoding",
        )
    kinds = headers.get(b"content-type", ())
    if len(kinds) != 1 or not _JSON.fullmatch(kinds[0].lower()):
        raise NotJson(
            "the Content-Type header is missing or not JSON",
            hint="send Content-Type: application/json",
        )


def has_ambiguous_length(headers: Headers) -> bool:
    """Whether a request has two lengths, which proxies and servers may read differently.

    The rest of its body could then pass for a second request (request smuggling).
    """
    return b"content-length" in headers and b"transfer-encoding" in headers


def content_length(headers: Headers) -> int | None:
    """The length that the header announces; None if there is none."""
    lengths = headers.get(b"content-length")
    return int(lengths[0]) if lengths and _NUMBER.fullmatch(lengths[0]) else None


def entry_to_see(headers: Headers) -> int | None:
    """The log entry that an answer must know, by the header `Memoriter-After`; None without one."""
    sent = headers.get(_AFTER)
    if not sent:
        return None
    if len(sent) != 1 or not re.fullmatch(r"[0-9]{1,18}", sent[0]):
        raise InputError(
            f"the {AFTER} header is not the number of a log entry",
            hint="send this header once, with the `seq` from the reply to a write",
        )
    return int(sent[0])


def bearer_token(headers: Headers) -> str | None:
    """The bearer token of a request; None if there is none, or more than one."""
    sent = headers.get(b"authorization")
    if sent is None or len(sent) != 1:
        return None
    scheme, _, token = sent[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
