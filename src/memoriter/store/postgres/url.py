"""Splits the address of a database as libpq does, and keeps passwords out of every message.

A character that a password should have escaped moves the rest of it into another part of the
address (the host, the port, the database), where messages would show it. So what may be such a
rest is refused, by a message that repeats nothing of the address.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass

ESCAPES: Final = (
    "write the address like postgresql://user@host/database; in a password write % as %25,"
    " / as %2F, @ as %40 and ? as %3F, or keep the password in ~/.pgpass"
)
_SECRET: Final = frozenset(
    ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
)
"""The parameters of libpq that hold a secret."""
_PORT: Final = re.compile(r":(?![0-9]*(?:,|/|$))")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class UrlParts:
    """The parts of an address as they are written, escapes and all."""

    scheme: str
    user: str
    password: str
    place: str
    """Hosts, ports and the database."""
    query: tuple[tuple[str, str], ...]
    """Parameters by name; the names have no escapes."""

    @property
    def has_secret(self) -> bool:
        """Whether there is a password in it."""
        return bool(self.password) or self.has_secret_parameter

    @property
    def has_secret_parameter(self) -> bool:
        """Whether there is a password behind the question mark."""
        return any(name in _SECRET for name, _ in self.query)

    @property
    def shown(self) -> str:
        """The address for people, without passwords and parameters."""
        return f"{self.scheme}://{self.user}{'@' if self.user else ''}{self.place}"

    def without(self, *names: str) -> str:
        """The whole address without some of its parameters."""
        login = f"{self.user}:{self.password}" if self.password else self.user
        query = "&".join(f"{name}={value}" for name, value in self.query if name not in names)
        host = f"{login}@{self.place}" if login else self.place
        return f"{self.scheme}://{host}{'?' if query else ''}{query}"


def split_url(url: str) -> UrlParts:
    """The parts of an address; InputError if it cannot be read without doubt."""
    scheme, _, rest = url.partition("://")
    before = re.match(r"[^@/]*@", rest)  # as libpq looks for a login
    login = before[0][:-1] if before else ""
    place, _, query = rest[len(before[0]) if before else 0 :].partition("?")
    user, _, password = login.partition(":")
    if "?" in login or "@" in f"{place}{query}":
        raise bad_url(
            "a user name, password, database name or parameter in the address has an unescaped"
            " / @ or ? (write %2F, %40 or %3F)"
        )
    if _BAD_ESCAPE.search(rest):
        raise bad_url("a % in the address begins no valid escape (write % itself as %25)")
    if _UNPRINTABLE.search(rest):
        raise bad_url(
            "the address has a space or a character that cannot be printed (write a space as %20)"
        )
    if _PORT.search(re.sub(r"\[[^\]/]*\]", "", place).partition("/")[0]):
        raise bad_url("the port of the address, after the host and a colon, is not a number")
    pairs = [each.split("=") for each in query.split("&")] if query else []
    if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004  # a name and a value
        raise bad_url(
            "a parameter of the address does not have the form name=value; in a value, write = as"
            " %3D and & as %26"
        )
    named = tuple((unquote(name), value) for name, value in pairs)
    return UrlParts(scheme, user, password, place, named)


def bad_url(why: str) -> InputError:
    """The error for an address that cannot be used; it says nothing of what is in it."""
    return InputError(
        f"place: this address of a database cannot be used: {why}", hint=ESCAPES, field="place"
    )
