"""The address of a store on PostgreSQL: a URL as `psql` takes it, and a few options of ours."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memoriter.core.errors import InputError, Unsupported
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, integer
from memoriter.store.postgres.url import UrlParts, bad_url, split_url

CONNECTIONS: Final = 16
"""The most connections of one process to one server, unless the address says otherwise."""
_OURS: Final = ("connections", "prepare", "reads")
"""Parameters that libpq does not know."""
_DEFAULTS: Final[dict[str, str]] = {
    "application_name": "memoriter",
    "connect_timeout": "10",
    # A dead peer is noticed within half a minute, also in the middle of an answer.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is, and how it is connected to."""

    parameters: dict[str, Any]
    """What the driver is called with; it may hold a password."""
    shown: str
    """The address for messages, without a password."""
    connections: int = CONNECTIONS
    reads: str = "primary"
    """`standby` if reads go to a standby where there is one."""
    prepare: str = "on"
    """`off` for poolers that know nothing of prepared statements."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Read an address; InputError or Unsupported says what is wrong with it."""
        parts = split_url(url)
        given = {name: unquote(value) for name, value in parts.query if name in _OURS}
        reads, prepares = given.get("reads", "primary"), given.get("prepare", "on")
        most = given.get("connections", str(CONNECTIONS))
        parameters = _read_by_libpq(parts)
        choice(reads, "reads", ("primary", "standby"), InputError)
        choice(prepares, "prepare", ("on", "off"), InputError)
        if not re.fullmatch("[0-9]{1,9}", most):
            raise InputError(
                f"connections: expected a whole number in the database address, got {most[:20]!r}",
                hint="for example postgresql://user@host/database?connections=20",
                field="place",
            )
        integer(int(most), "connections", 2, 10_000, InputError)
        if "options" in parameters and "synchronous_commit" in str(parameters["options"]):
            raise Unsupported(
                "synchronous_commit cannot be set in the database address",
                hint="commits always wait for the disk; to wait for standbys too, set"
                " synchronous_commit for the database",
            )
        shown = _shown(parts.scheme, parameters)
        return cls({**_DEFAULTS, **parameters}, shown, int(most), reads, prepares)


def _read_by_libpq(parts: UrlParts) -> dict[str, Any]:
    """The parameters of an address; what libpq says about a wrong one may quote a password."""
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    for number, (name, _) in enumerate(parts.query, 1):
        if name not in known and name not in _OURS and name != "ssl":
            # Perhaps the rest of a password in which an & was not escaped: then it has no name.
            which = number if parts.has_secret_parameter else name
            raise bad_url(
                f"parameter {which!r} of the address is known neither to libpq nor to memoriter"
            )
    try:
        return conninfo_to_dict(parts.without(*_OURS))
    except (ValueError, psycopg.Error):
        raise bad_url("libpq, the PostgreSQL client, cannot read the address") from None


def _shown(scheme: str, parameters: dict[str, Any]) -> str:
    user = f"{parameters['user']}@" if parameters.get("user") else ""
    host = str(parameters.get("host") or "localhost")
    port = f":{parameters['port']}" if parameters.get("port") else ""
    return f"{scheme}://{user}{host}{port}/{parameters.get('dbname', '')}"
