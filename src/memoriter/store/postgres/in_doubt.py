"""Finds out what became of a write whose answer was lost.

A connection may break while COMMIT is on its way, and a server may end its wait for a standby with
a mere warning. Then neither success nor failure would be true. So a fence is committed on the same
tenant: it waits for the lock that the lost transaction may still hold, and its acknowledgement
proves that everything before it is as durable as itself. Behind the fence the log tells whether the
write is there: by its link in the chain, which no other write can have.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from memoriter.core.errors import MemoriterError, Unknown
from memoriter.store.postgres.sessions import (
    CommitLost,
    NotReplicated,
    PgSessions,
    Statement,
)
from memoriter.store.sequence import SequencedBatch

PATIENCE_S: Final = 60.0
"""How long it is tried to find out: longer than a failover takes as a rule."""
FENCE: Final = """
    INSERT INTO memoriter.heads VALUES (%s, 0, 0, 0, '', 0, 1)
    ON CONFLICT (tenant) DO UPDATE SET fence=memoriter.heads.fence+1"""


class Trace(NamedTuple):
    """A row that only the write in question can have left."""

    query: Statement

    @classmethod
    def of(cls, tenant: str, written: Sequence[SequencedBatch]) -> Trace | None:
        """What to look for; None for a write that may be repeated without harm."""
        for new in reversed(written):
            if new.chain:
                last = new.chain[-1]
                sql = "SELECT 1 FROM memoriter.chain WHERE tenant=%s AND seq=%s AND link=%s"
                return cls((sql, (tenant, last.seq, last.link)))
            if new.vectors:
                vector = new.vectors[-1]
                sql = "SELECT 1 FROM memoriter.vectors WHERE tenant=%s AND seq=%s AND sum=%s"
                return cls((sql, (tenant, vector.seq, vector.sum)))
        return None


def was_written(sessions: PgSessions, tenant: str, trace: Trace | None) -> bool:
    """Whether the write left its trace; Unknown if that cannot be found out in time."""
    until, pause = time.monotonic() + PATIENCE_S, 0.05
    while True:
        try:
            with sessions.write(tenant) as db:
                db.execute(FENCE, (tenant,))
                there = trace is not None and bool(db.execute(*trace.query).fetchall())
        except (CommitLost, NotReplicated, MemoriterError) as error:
            # Why ever the fence fails, even if it is refused: the write may be there all the same.
            if sessions.closed or time.monotonic() > until:
                raise Unknown(
                    f"the connection to {sessions.at} was lost during a commit, so it is unknown"
                    " whether the commit took place",
                    hint="if the write had a key, repeat it with the same key, and it is"
                    " stored only once; without a key, look first whether it is stored",
                ) from error
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
        else:
            return there
