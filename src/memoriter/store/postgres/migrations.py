"""Makes the tables of a store, and brings those of an earlier format forward, in one transaction.

A step takes a store of one format to the next; it is never changed after a release. Stores of a
later format are refused untouched.
"""

from __future__ import annotations

from typing import Final

import psycopg

from memoriter.core.errors import Unsupported
from memoriter.store.postgres.errors import driver_error
from memoriter.store.postgres.schema import FORMAT, STEPS, TABLES
from memoriter.store.postgres.sessions import (
    BEGIN,
    PgConnection,
    PgSessions,
    control,
    execute,
    roll_back,
)

# Not by to_regclass: behind the lock it was seen to miss what another process had just made.
_FORMAT: Final = """
    SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace
        WHERE n.nspname='memoriter' AND c.relname='format')"""
_ONE_AT_A_TIME: Final = "SELECT pg_advisory_xact_lock(hashtextextended('memoriter format', 0))"
_OLDEST: Final = 140000


def prepare_tables(sessions: PgSessions, *, read_only: bool) -> None:
    """Make the store ready: make its tables, migrate them, or only check their format."""
    with sessions.held() as connection:
        try:
            version = _version_to_migrate(connection, sessions.at, read_only=read_only)
            if version != FORMAT and not read_only:
                _bring_forward(connection, sessions.at)
        except psycopg.Error as error:
            roll_back(connection)
            raise driver_error(error, sessions.at) from error
        except BaseException:
            roll_back(connection)
            raise


def _version_to_migrate(connection: PgConnection, at: str, *, read_only: bool) -> int | None:
    """The format of the store, None if there is none; Unsupported if it cannot be used."""
    if connection.info.server_version < _OLDEST:
        raise Unsupported(
            f"{at} runs PostgreSQL {connection.info.server_version // 10000}, which is too old",
            hint="upgrade the server: PostgreSQL 14 or newer is needed",
        )
    version = _version(connection)
    if version is None and read_only:
        raise Unsupported(
            f"the database {at} holds no store yet",
            hint="create it: memoriter init --store ADDRESS",
        )
    check_format(version or FORMAT, at)
    if read_only and any(STEPS[each] for each in range(version or FORMAT, FORMAT)):
        raise Unsupported(
            f"the store {at} has format {version} and must be upgraded to format {FORMAT} first",
            hint="make a backup, then upgrade it as its owner: memoriter init --store ADDRESS",
        )
    return version


def _version(connection: PgConnection) -> int | None:
    """The format of the store; None if there is none."""
    exists = execute(connection, _FORMAT).fetchone()
    if not exists or not exists[0]:
        return None
    row = execute(connection, "SELECT max(version) FROM memoriter.format").fetchone()
    return None if row is None else row[0]


def check_format(version: int, at: str) -> None:
    """Raise Unsupported for a format that this version cannot bring forward."""
    if version > FORMAT:
        raise Unsupported(
            f"the store {at} has format {version}, but this version of memoriter reads format"
            f" {FORMAT}",
            hint="upgrade memoriter; the store was not changed",
        )
    if missing := [each for each in range(version, FORMAT) if each not in STEPS]:
        raise Unsupported(
            f"the store {at} has format {version}, and this version of memoriter cannot upgrade"
            f" format {missing[0]}",
            hint="export the store with the version that wrote it, then import the export; the"
            " store was not changed",
        )


def _bring_forward(connection: PgConnection, at: str) -> None:
    """Run what is missing: all of it, or nothing. Others who open the store meanwhile wait."""
    control(connection, BEGIN)
    execute(connection, _ONE_AT_A_TIME)
    version = _version(connection)  # another process may have done it while we waited
    if version is None:
        execute(connection, "CREATE SCHEMA IF NOT EXISTS memoriter")
        for statement in TABLES:
            execute(connection, statement)
        version = 1
    check_format(version, at)
    for each in range(version, FORMAT):
        for statement in STEPS[each]:
            execute(connection, statement)
        execute(connection, "UPDATE memoriter.format SET version=%s", (each + 1,))
    control(connection, "COMMIT")
