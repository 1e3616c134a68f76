"""What the machines of a store share beside its log: documents (the tokens), recent answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, Final

from memoriter.core.errors import Unavailable, Unknown
from memoriter.store.postgres.sessions import CommitLost, NotReplicated, PgSessions

KEPT_S: Final = 3600.0
"""How long what an answer was made of is kept."""
_KEEP: Final = """
    INSERT INTO memoriter.answers VALUES (%s, %s, now(), %s)
    ON CONFLICT (tenant, handle) DO UPDATE SET kept=now()"""
_DROP: Final = """
    DELETE FROM memoriter.answers WHERE tenant=%s AND kept < now() - make_interval(secs => %s)"""
_FIND: Final = "SELECT body FROM memoriter.answers WHERE tenant=%s AND handle=%s"
_NOTES: Final = "SELECT set_config('memoriter.every_note', 'on', true)"
"""Begins what reads or changes `notes`: row-level security shows them to nothing else."""
_CHANGED: Final = "SELECT changed FROM memoriter.notes WHERE name=%s AND body<>''"
_BODY: Final = "SELECT body FROM memoriter.notes WHERE name=%s"
_MADE: Final = "INSERT INTO memoriter.notes VALUES (%s, 0, '') ON CONFLICT DO NOTHING"
_HELD: Final = "SELECT 1 FROM memoriter.notes WHERE name=%s FOR UPDATE"
_REPLACED: Final = "UPDATE memoriter.notes SET changed=changed+1, body=%s WHERE name=%s"


class PostgresAnswers:
    """What answers were made of, by handle, for an hour: the table `answers`.

    It is not in the server's write-ahead log: keeping an answer waits for no disk, and a server
    that crashed, or a standby that took over, begins with none.
    """

    def __init__(self, sessions: PgSessions) -> None:
        self._sessions = sessions
        self.kept_s = KEPT_S

    def keep(self, tenant: str, handle: str, body: bytes) -> None:
        """Keep what an answer was made of, and drop what is older than an hour."""
        try:
            with self._sessions.write(tenant) as db:
                db.execute(_KEEP, (tenant, handle, body))
                db.execute(_DROP, (tenant, KEPT_S))
        except (CommitLost, NotReplicated) as lost:
            raise Unavailable(
                f"the connection to {self._sessions.at} was lost", hint="try again"
            ) from lost

    def find(self, tenant: str, handle: str) -> bytes | None:
        """What is kept under a handle; None if nothing is."""
        if not (handle.isascii() and handle.isprintable()):
            return None  # none of ours, and perhaps no text that a database can compare
        rows = self._sessions.read(tenant, (_FIND, (tenant, handle)))[0]
        return rows[0][0] if rows else None


class PostgresDocument:
    """One row of the table `notes`, read by everybody and changed by one at a time."""

    def __init__(self, sessions: PgSessions, name: str) -> None:
        self._sessions = sessions
        self.name = name

    def stamp(self) -> int | None:
        """A number that changes with the document; None if there is none."""
        rows = self._rows(_CHANGED)
        return rows[0][0] if rows else None

    def read(self) -> bytes:
        """The document; empty if there is none."""
        rows = self._rows(_BODY)
        return rows[0][0] if rows else b""

    def _rows(self, sql: str) -> list[Any]:
        return self._sessions.read("", (_NOTES, ()), (sql, (self.name,)))[1]

    @contextlib.contextmanager
    def changing(self) -> Generator[Callable[[bytes], None]]:
        """Hold the document, and yield a function that replaces it when the block ends."""
        try:
            with self._sessions.write("") as db:
                db.execute(_NOTES)
                db.execute(_MADE, (self.name,))
                db.execute(_HELD, (self.name,)).fetchall()

                def replace(body: bytes) -> None:
                    db.execute(_REPLACED, (body, self.name))

                yield replace
        except (CommitLost, NotReplicated) as lost:
            raise Unknown(
                f"the connection to {self._sessions.at} was lost, so it is unknown whether the"
                " change took place",
                hint="check what is stored before you try again",
            ) from lost
