"""The address of a store on PostgreSQL: a URL as `psql` takes it, and a few options of ours."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memoriter.core.errors import InputError, Unsupported
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, integer

SCHEMES: Final = ("postgresql", "postgres")
CONNECTIONS: Final = 16
"""The most connections of one process to one server, unless the address says otherwise."""
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
        try:
            parts = urlsplit(url)
            given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=False))
            reads, prepares = given.pop("reads", "primary"), given.pop("prepare", "on")
            most = given.pop("connections", str(CONNECTIONS))
            plain = urlunsplit(parts._replace(query=urlencode(given), fragment=""))
            parameters = conninfo_to_dict(plain)
        except (ValueError, psycopg.Error) as error:
            raise InputError(
                f"place: this address of a database cannot be used ({error})",
                hint="write it like postgresql://user@host/database",
                field="place",
            ) from None
        choice(reads, "reads", ("primary", "standby"), InputError)
        choice(prepares, "prepare", ("on", "off"), InputError)
        if not most.isdigit():
            raise InputError(
                f"connections: expected a whole number in the address, got {most!r}",
                hint="for example postgresql://user@host/database?connections=20",
                field="place",
            )
        integer(int(most), "connections", 2, 10_000, InputError)
        if "options" in parameters and "synchronous_commit" in str(parameters["options"]):
            raise Unsupported(
                "synchronous_commit cannot be set in the address",
                hint="commits always wait for the disk; to wait for standbys too, set"
                " synchronous_commit for the database",
            )
        shown = _shown(parts.scheme, parameters)
        return cls({**_DEFAULTS, **parameters}, shown, int(most), reads, prepares)


def _shown(scheme: str, parameters: dict[str, Any]) -> str:
    user = f"{parameters['user']}@" if parameters.get("user") else ""
    host = str(parameters.get("host") or "localhost")
    port = f":{parameters['port']}" if parameters.get("port") else ""
    return f"{scheme}://{user}{host}{port}/{parameters.get('dbname', '')}"
