"""Which database an address leads to: one may be reached under many names."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from memoriter.store.postgres.address import Address
from memoriter.store.postgres.sessions import PgSessions

_DATABASE: Final = """
    SELECT pg_postmaster_start_time()::text, oid::text FROM pg_catalog.pg_database
    WHERE datname=current_database()"""


def database_of(url: str) -> tuple[str, str]:
    """When the server started, to a microsecond, and the number of the database in it."""
    with closing(PgSessions(Address.of(url), read_only=True)) as sessions:
        started, number = sessions.read("", (_DATABASE, ()))[0][0]
        return started, number
