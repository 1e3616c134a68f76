"""Segments in the database, beside the log that lists them: one backup and one failover for both.

A segment is a row of `segments` and its bytes in rows of `chunks`. What a process opens is kept in
a folder of its machine, by the name of the segment, which ends in the hash of its content: losing
the folder costs a download. The folder is bounded, and what the database no longer lists is removed
from it when the tenant is looked at again. A download is a file `part-…`, locked by who writes it:
one that nobody has locked was left by a process that died, and is removed.
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

from memoriter.core.errors import Unavailable
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
from memoriter.store.segments import Blob, missing_segment, owned_prefix

try:
    import fcntl
except ImportError:  # Windows: what a process that died left stays
    fcntl = None

CHUNK: Final = 1024**2
"""Bytes of a chunk."""
CACHE_LIMIT: Final = 4 * 1024**3
"""The most bytes that the folder of a machine holds."""
_PART: Final = "part-"
"""How the names of unfinished downloads begin."""
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
        self._remove([name])  # a copy may be damaged, which is why the segment is put again
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
            raise missing_segment(name)
        path = self.cache / name
        with os_errors(self.cache):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_size == sizes[0][0]:
                    os.utime(path)
                    return _mapped(path)
            self._download(tenant, name)
            return _mapped(path)

    def discard_copy(self, tenant: str, name: str) -> bool:
        """Delete the file of the cache."""
        del tenant
        kept = (self.cache / name).exists()
        self._remove([name])
        return kept

    def _download(self, tenant: str, name: str) -> None:
        self.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove_parts()
        handle, part = self._new_part()
        try:
            with os.fdopen(handle, "wb") as out:
                for chunk in self._read_chunks(tenant, name):
                    out.write(chunk)
                out.flush()
                part.replace(self.cache / name)
        except BaseException:
            part.unlink(missing_ok=True)
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
        with os_errors(self.cache):
            self._remove_parts()
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
            except (CommitLost, NotReplicated) as lost:
                if again:
                    raise Unavailable(
                        f"the connection to {self._sessions.at} was lost while index segments were"
                        " deleted; the memories are not affected",
                        hint="try again",
                    ) from lost
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

    def _new_part(self) -> tuple[int, Path]:
        """A new file for a download, open and locked."""
        while True:
            handle, name = tempfile.mkstemp(prefix=_PART, dir=self.cache)
            _lock(handle, wait=True)
            if Path(name).exists():
                return handle, Path(name)
            os.close(handle)  # taken for one that was left, before it was locked

    def _remove_parts(self) -> None:
        """Remove the downloads of processes that died."""
        for path in self.cache.glob(f"{_PART}*"):
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                if _lock(file.fileno(), wait=False):
                    path.unlink(missing_ok=True)

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


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock a file until it is closed or its process dies; False if it cannot be locked."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # somebody has it, or the file system has no locks
        return False
    return fcntl is not None


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
