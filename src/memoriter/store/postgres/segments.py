"""Segments in the database, beside the log that lists them: one backup and one failover for both.

A segment is a row of `segments` and its bytes in rows of `chunks`. What a process opens is kept in
a folder of its machine, by the name of the segment, which ends in the hash of its content: losing
the folder costs a download. The folder is bounded, and what the database no longer lists is removed
from it when the tenant is looked at again.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import psycopg

from memoriter.core.errors import NotFound, Unavailable
from memoriter.store.io_errors import os_errors
from memoriter.store.postgres.connections import WAIT_S
from memoriter.store.postgres.errors import driver_error
from memoriter.store.postgres.in_doubt import Trace, was_written
from memoriter.store.postgres.sessions import (
    CommitLost,
    Contradiction,
    NotReplicated,
    PgSessions,
    control,
    execute,
    roll_back,
)
from memoriter.store.postgres.wire import PgConnection
from memoriter.store.segments import Blob, owned_prefix

CHUNK: Final = 1024**2
"""Bytes of a chunk."""
CACHE_LIMIT: Final = 4 * 1024**3
"""The most bytes that the folder of a machine holds."""
_SIZE: Final = "SELECT size FROM memoriter.segments WHERE tenant=%s AND name=%s"
_LOCK: Final = "hashtextextended('memoriter upkeep ' || %s, 0)"


class PostgresSegments:
    """Segments as rows; the methods are documented in `Segments`."""

    def __init__(self, sessions: PgSessions, cache: Path, limit: int = CACHE_LIMIT) -> None:
        self._sessions = sessions
        self.cache = cache
        self._limit = limit
        self._mutex = threading.Lock()

    def put(self, tenant: str, name: str, parts: Iterable[Blob]) -> None:
        """Write all chunks in one transaction; one that exists is the same and stays."""
        try:
            self._put(tenant, name, parts)
        except (CommitLost, NotReplicated) as lost:
            trace = Trace((_SIZE, (tenant, name)))
            if not was_written(self._sessions, tenant, trace):
                raise Unavailable(
                    f"index segment {name} was not written; the memories are not affected",
                    hint="try again",
                ) from lost
        except Contradiction as race:
            raise Unavailable(
                f"another process is writing index segment {name}", hint="try again"
            ) from race

    def _put(self, tenant: str, name: str, parts: Iterable[Blob]) -> None:
        with self._sessions.write(tenant) as db:
            db.execute("DELETE FROM memoriter.chunks WHERE tenant=%s AND name=%s", (tenant, name))
            size = 0
            for number, chunk in enumerate(_chunks(parts)):
                size += len(chunk)
                db.execute(
                    "INSERT INTO memoriter.chunks VALUES (%s,%s,%s,%s)",
                    (tenant, name, number, chunk),
                )
            db.execute(
                "INSERT INTO memoriter.segments VALUES (%s,%s,%s) "
                "ON CONFLICT (tenant, name) DO UPDATE SET size=excluded.size",
                (tenant, name, size),
            )

    def open(self, tenant: str, name: str) -> Blob:
        """Map the file of the cache, downloaded first if it is not there."""
        sizes = self._sessions.read(
            tenant,
            (_SIZE, (tenant, name)),
        )[0]
        if not sizes:
            self._remove([name])
            raise NotFound(f"index segment {name} is missing; the memories are not affected")
        path = self.cache / name
        with os_errors(self.cache):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_size == sizes[0][0]:
                    os.utime(path)
                    return _mapped(path)
            self._download(tenant, name)
            return _mapped(path)

    def _download(self, tenant: str, name: str) -> None:
        self.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(prefix="part-", dir=self.cache)
        try:
            with os.fdopen(handle, "wb") as out:
                for chunk in self._read_chunks(tenant, name):
                    out.write(chunk)
            Path(unfinished).replace(self.cache / name)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
        self._shrink(keep=name)

    def _read_chunks(self, tenant: str, name: str) -> Iterator[bytes]:
        sql = "SELECT body FROM memoriter.chunks WHERE tenant=%s AND name=%s AND number=%s"
        number = 0
        while rows := self._sessions.read(tenant, (sql, (tenant, name, number)))[0]:
            yield rows[0][0]
            number += 1

    def list(self, tenant: str) -> Sequence[str]:
        """The names that the database has; others are removed from the cache."""
        sql = "SELECT name FROM memoriter.segments WHERE tenant=%s ORDER BY name"
        names = [name for (name,) in self._sessions.read(tenant, (sql, (tenant,)))[0]]
        kept = {path.name for path in self.cache.glob(owned_prefix(tenant) + "-*")}
        self._remove(kept.difference(names))
        return names

    def drop(self, tenant: str, names: Iterable[str]) -> None:
        """Delete rows, and the files of the cache."""
        gone = [*names]
        if not gone:
            return
        for again in (False, True):
            try:
                with self._sessions.write(tenant) as db:
                    for table in ("segments", "chunks"):
                        db.execute(
                            f"DELETE FROM memoriter.{table} WHERE tenant=%s AND name=ANY(%s)",  # noqa: S608  # ours
                            (tenant, gone),
                        )
                break
            except (CommitLost, NotReplicated):
                if again:
                    raise
        self._remove(gone)

    @contextlib.contextmanager
    def turn(self, tenant: str, *, wait: bool) -> Generator[bool]:
        """Hold an advisory lock of the server, in a transaction of its own that changes nothing."""
        with self._sessions.held_long(wait=wait) as connection:
            if connection is None:  # other tenants have theirs
                yield False
                return
            try:
                yield self._take_turn(connection, tenant, wait=wait)
            finally:
                roll_back(connection)

    def _take_turn(self, connection: PgConnection, tenant: str, *, wait: bool) -> bool:
        """Whether the lock was free, or became free in time."""
        try:
            control(connection, "BEGIN")
            execute(
                connection,
                "SELECT set_config('idle_in_transaction_session_timeout', '0', true), "
                "set_config('lock_timeout', %s, true)",
                (f"{WAIT_S}s",),
            )
            if wait:
                execute(connection, f"SELECT pg_advisory_xact_lock({_LOCK})", (tenant,))
                return True
            sql = f"SELECT pg_try_advisory_xact_lock({_LOCK})"
            return bool(execute(connection, sql, (tenant,)).fetchall()[0][0])
        except psycopg.errors.LockNotAvailable:
            return False
        except psycopg.Error as error:
            raise driver_error(error, self._sessions.at) from error

    # -- the cache -----------------------------------------------------------------------------

    def _remove(self, names: Iterable[str]) -> None:
        with os_errors(self.cache):
            for name in names:
                (self.cache / name).unlink(missing_ok=True)

    def _shrink(self, keep: str) -> None:
        """Remove what was used longest ago until the folder is within its limit."""
        with self._mutex, os_errors(self.cache):
            files: list[tuple[float, int, Path]] = []
            for path in self.cache.glob("*.seg"):
                with contextlib.suppress(FileNotFoundError):  # removed by another process
                    stat = path.stat()
                    files.append((stat.st_mtime, stat.st_size, path))
            total = sum(size for _, size, _ in files)
            for _, size, path in sorted(files):
                if total <= self._limit:
                    return
                if path.name != keep:
                    path.unlink(missing_ok=True)
                    total -= size


def _mapped(path: Path) -> Blob:
    if path.stat().st_size == 0:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _chunks(parts: Iterable[Blob]) -> Iterator[bytes]:
    """The same bytes in pieces of `CHUNK` bytes; the last may be shorter."""
    rest = bytearray()
    for part in parts:
        view = memoryview(part)
        if rest:  # fill up what the parts before left
            taken = min(CHUNK - len(rest), len(view))
            rest += view[:taken]
            view = view[taken:]
            if len(rest) == CHUNK:
                yield bytes(rest)
                rest.clear()
        if view:
            whole = len(view) - len(view) % CHUNK
            for at in range(0, whole, CHUNK):
                yield bytes(view[at : at + CHUNK])
            rest += view[whole:]
    if rest:
        yield bytes(rest)


def cache_folder() -> Path:
    """Where this machine keeps segments: `MEMORITER_CACHE`, else below the user's cache folder."""
    if given := os.environ.get("MEMORITER_CACHE"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "memoriter" / "segments"
