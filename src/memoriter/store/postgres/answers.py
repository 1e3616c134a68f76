"""What answers were made of, by handle, for an hour: the same for all machines of a store.

The table is not in the server's write-ahead log: keeping an answer waits for no disk, and a server
that crashed, or a standby that took over, begins with none.
"""

from __future__ import annotations

from typing import Final

from memoriter.core.errors import Unavailable
from memoriter.store.postgres.sessions import CommitLost, NotReplicated, PgSessions

_KEEP: Final = """
    INSERT INTO memoriter.answers VALUES (%s, %s, now(), %s)
    ON CONFLICT (tenant, handle) DO UPDATE SET kept=now()"""
_DROP: Final = """
    DELETE FROM memoriter.answers WHERE tenant=%s AND kept < now() - interval '1 hour'"""
_FIND: Final = "SELECT body FROM memoriter.answers WHERE tenant=%s AND handle=%s"


class PostgresAnswers:
    """The table `answers`."""

    def __init__(self, sessions: PgSessions) -> None:
        self._sessions = sessions

    def keep(self, tenant: str, handle: str, body: bytes) -> None:
        """Keep what an answer was made of, and drop what is older than an hour."""
        try:
            with self._sessions.write(tenant) as db:
                db.execute(_KEEP, (tenant, handle, body))
                db.execute(_DROP, (tenant,))
        except (CommitLost, NotReplicated) as lost:
            raise Unavailable(
                f"the connection to {self._sessions.at} was lost", hint="try again"
            ) from lost

    def find(self, tenant: str, handle: str) -> bytes | None:
        """What is kept under a handle; None if nothing is."""
        rows = self._sessions.read(tenant, (_FIND, (tenant, handle)))[0]
        return rows[0][0] if rows else None
