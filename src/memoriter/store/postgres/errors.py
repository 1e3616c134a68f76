"""Translates the driver's errors into Memoriter's own, by their SQLSTATE."""

from __future__ import annotations

from typing import Final

import psycopg

from memoriter.core.errors import (
    Corrupt,
    Forbidden,
    MemoriterError,
    StorageFull,
    Unavailable,
    Unsupported,
)

_NO_PREPARE: Final = "add prepare=off to the address, or set max_prepared_statements in PgBouncer"
_NO_PRIMARY: Final = "no primary"
"""In place of a SQLSTATE: `target_session_attrs` refused every server that answered."""
_Meaning = tuple[type[MemoriterError], str, str]
_MEANINGS: Final[dict[str, _Meaning]] = {
    "53100": (StorageFull, "no space left on {at}", "free some space on the server and try again"),
    "42501": (
        Forbidden,
        "{at} does not allow this role to do that: {error}",
        "grant it what docs/postgres.md lists under Roles",
    ),
    "25006": (
        Forbidden,
        "{at} is a standby, or read-only",
        "name the primary first in the address, or open the store with read_only",
    ),
    # Unavailable, and not Forbidden: a standby may be about to take over.
    _NO_PRIMARY: (
        Unavailable,
        "no server at {at} takes writes: what answers there is a standby, or read-only",
        "name the primary in the address, or open the store with read_only; while a standby takes"
        " over, try again",
    ),
    "3F000": (
        Unsupported,
        "{at} holds no store",
        "create one: memoriter init --store ADDRESS",
    ),
    "42P01": (
        Unsupported,
        "{at} holds no store",
        "create one: memoriter init --store ADDRESS",
    ),
    "42703": (Unsupported, "{at} has other tables than this version: {error}", "upgrade memoriter"),
    "3D000": (Unsupported, "there is no such database: {error}", "make it first, with createdb"),
    "55P03": (Unavailable, "{at} is busy: a write waited too long", "try again"),
    "57014": (Unavailable, "a query on {at} was cancelled", "try again"),
    "40P01": (Unavailable, "{at} is busy: {error}", "try again"),
    "40001": (Unavailable, "{at} is busy: {error}", "try again"),
    "53300": (
        Unavailable,
        "{at} has too many connections",
        "allow more on the server, or use fewer here: connections=N in the address",
    ),
    "42P05": (Unsupported, "a pooler mixes up statements: {error}", _NO_PREPARE),
    "26000": (Unsupported, "a pooler mixes up statements: {error}", _NO_PREPARE),
    "28P01": (
        Forbidden,
        "{at} refuses the password",
        "check the user and the password in the address",
    ),
    "28000": (
        Forbidden,
        "{at} refuses the login: {error}",
        "check the user in the address, and pg_hba.conf on the server",
    ),
    "XX001": (Corrupt, "{at} is damaged: {error}", "restore a backup"),
    "XX002": (Corrupt, "{at} is damaged: {error}", "rebuild its indexes (REINDEX)"),
}
"""By SQLSTATE: our error, message, hint."""


def driver_error(error: psycopg.Error, at: str) -> MemoriterError:
    """The error to raise instead of one of the driver's."""
    state = error.sqlstate or _state_in(error)
    kind, message, hint = _MEANINGS.get(
        state,
        (Unavailable, "{at} cannot be reached or used: {error}", "check the server, try again"),
    )
    return kind(message.format(at=at, error=first_line(error)), hint=hint)


def _state_in(error: psycopg.Error) -> str:
    """The SQLSTATE of a refused connection, which the driver keeps in the message alone."""
    text = str(error)
    if "password authentication failed" in text or "no password supplied" in text:
        return "28P01"
    if "no pg_hba.conf entry" in text:
        return "28000"
    if "session is read-only" in text:
        return _NO_PRIMARY
    if "does not exist" in text and "database" in text:
        return "3D000"
    return "53300" if "too many clients" in text else ""


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
