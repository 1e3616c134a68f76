"""A note that belongs to a store as a whole, such as its tokens: the same for all its machines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

from memoriter.core.errors import Unknown
from memoriter.store.postgres.sessions import CommitLost, NotReplicated, PgSessions


class PostgresNote:
    """One row of the table `notes`, read by everybody and changed by one at a time."""

    def __init__(self, sessions: PgSessions, name: str) -> None:
        self._sessions = sessions
        self.name = name

    def stamp(self) -> int | None:
        """A number that changes with the note; None if there is none."""
        sql = "SELECT changed FROM memoriter.notes WHERE name=%s AND body<>''"
        rows = self._sessions.read("", (sql, (self.name,)))[0]
        return rows[0][0] if rows else None

    def read(self) -> bytes:
        """The note; empty if there is none."""
        sql = "SELECT body FROM memoriter.notes WHERE name=%s"
        rows = self._sessions.read("", (sql, (self.name,)))[0]
        return rows[0][0] if rows else b""

    @contextlib.contextmanager
    def changing(self) -> Generator[Callable[[bytes], None]]:
        """Hold the note, and yield a function that replaces it when the block ends."""
        try:
            with self._sessions.write("") as db:
                db.execute(
                    "INSERT INTO memoriter.notes VALUES (%s, 0, '') ON CONFLICT DO NOTHING",
                    (self.name,),
                )
                db.execute(
                    "SELECT 1 FROM memoriter.notes WHERE name=%s FOR UPDATE", (self.name,)
                ).fetchall()

                def replace(body: bytes) -> None:
                    sql = "UPDATE memoriter.notes SET changed=changed+1, body=%s WHERE name=%s"
                    db.execute(sql, (body, self.name))

                yield replace
        except (CommitLost, NotReplicated) as lost:
            raise Unknown(
                f"the connection to {self._sessions.at} was lost, so it is unknown whether the"
                " change took place",
                hint="check what is stored before you try again",
            ) from lost
