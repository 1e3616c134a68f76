"""Bugs to plant, by name, in a process of their own: each must turn its test red.

Most are planted in the driver: SQL is changed on its way to SQLite, so they do not depend on how
the store is written.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

Rewrite = Callable[[str], str]


def checkpoint_often() -> None:
    """Copy the WAL back into the file every few pages, so that images see that too."""
    pages = int(os.environ.get("MEMORITER_CHECKPOINT", "0"))
    if pages:
        apsw.connection_hooks.append(lambda db: db.wal_autocheckpoint(pages))


def drive(
    rewrite: Rewrite, lies: dict[str, object] | None = None, forced: dict[str, object] | None = None
) -> None:
    """Put a driver in place that changes statements and pragmas, and lies about some of them."""
    plain: Any = apsw.Connection

    class Driver(plain):
        def execute(self, statements: str, *given: Any, **more: Any) -> Any:
            return super().execute(rewrite(statements), *given, **more)

        def pragma(self, name: str, *given: Any, **more: Any) -> Any:
            if not given and lies and name in lies:
                return lies[name]
            if given and forced and name in forced:
                given = (forced[name],)
            return super().pragma(name, *given, **more)

    apsw.Connection = Driver  # type: ignore[misc]  # the bug is planted here


def unsynced() -> None:
    """synchronous=OFF: a commit is acknowledged before it is on the disk."""
    drive(
        lambda sql: _swap(sql, "synchronous=FULL", "synchronous=OFF"),
        {"synchronous": 2},
        {"synchronous": 0},
    )


def lazily_synced() -> None:
    """synchronous=NORMAL while FULL was promised: a power cut takes the last commits."""
    drive(
        lambda sql: _swap(sql, "synchronous=FULL", "synchronous=NORMAL"),
        {"synchronous": 2},
        {"synchronous": 1},
    )


def deferred() -> None:
    """BEGIN without IMMEDIATE: the read that a write rests on may be stale."""
    drive(lambda sql: _swap(sql, "BEGIN IMMEDIATE", "BEGIN"))
    unleased()


def unleased() -> None:
    """No lease around the write."""
    from contextlib import nullcontext  # noqa: PLC0415  # loads the engine only in the child

    from memoriter.store.lease import Lease  # noqa: PLC0415  # as above

    Lease.held = lambda self: nullcontext()  # type: ignore[method-assign,assignment,return-value]


def greedy() -> None:
    """Whoever has the lease keeps it until it closes the store: the others starve."""
    from contextlib import nullcontext  # noqa: PLC0415  # loads the engine only in the child

    from memoriter.store.lease import Lease  # noqa: PLC0415  # as above

    held, close, taken = Lease.held, Lease.close, {}

    def keep(self: Any) -> Any:
        if self not in taken:
            taken[self] = held(self)
            taken[self].__enter__()
        return nullcontext()

    def let_go(self: Any) -> None:
        if self in taken:
            taken.pop(self).__exit__(None, None, None)
        close(self)

    Lease.held, Lease.close = keep, let_go  # type: ignore[method-assign]


def unguarded() -> None:
    """Every statement commits by itself: a commit is no longer all or nothing."""
    drive(_alone)


def _alone(sql: str) -> str:
    apart = {"BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK"}
    return "SELECT 1" if sql.split(maxsplit=1)[0] in apart else sql


def keyless() -> None:
    """Idempotency keys are read by nobody."""
    from memoriter.store.sqlite.ledger import SqliteLedger  # noqa: PLC0415  # only in the child

    SqliteLedger.keys = lambda self, names: {}  # type: ignore[method-assign]

    def ignore(sql: str) -> str:
        return sql.replace("INSERT INTO keys", "INSERT OR IGNORE INTO keys")

    _many(ignore)


def _many(rewrite: Rewrite) -> None:
    plain: Any = apsw.Connection

    class Driver(plain):
        def executemany(self, statements: str, *given: Any, **more: Any) -> Any:
            return super().executemany(rewrite(statements), *given, **more)

    apsw.Connection = Driver  # type: ignore[misc]  # the bug is planted here


def stale() -> None:
    """The predecessor of a commit is read before its transaction begins."""
    from memoriter.store.sqlite import store as room  # noqa: PLC0415  # only in the child

    read, commit_all = room.head_of, room.Sqlite._commit_all  # planted here
    seen: dict[str, Any] = {}

    def before(self: Any, jobs: Any) -> None:
        for job in jobs:
            seen[job.batch.tenant] = read(self._reader(), job.batch.tenant)
        commit_all(self, jobs)

    room.Sqlite._commit_all = before  # type: ignore[method-assign]
    room.head_of = lambda db, tenant: seen[tenant]  # type: ignore[assignment]


def resting() -> None:
    """A retry that finds its write does not care whether that reached the disk."""
    from memoriter.store.sqlite import store as room  # noqa: PLC0415  # only in the child

    assert room.fsync_file
    room.fsync_file = lambda path: None  # type: ignore[assignment]


def swallowed() -> None:
    """A commit that failed is taken for one that worked."""

    def hide(run: Callable[[], Any], statements: str, error: apsw.Error) -> Any:
        del run
        if statements != "COMMIT":
            raise error

    _failing(hide)


def misnamed() -> None:
    """A full disk is told as any other trouble."""

    def rename(run: Callable[[], Any], statements: str, error: apsw.Error) -> Any:
        del run, statements
        raise apsw.BusyError(str(error)) if isinstance(error, apsw.FullError) else error

    _failing(rename)


def _failing(answer: Callable[[Callable[[], Any], str, apsw.Error], Any]) -> None:
    """Put a driver in place whose errors go through another hand."""
    plain: Any = apsw.Connection

    class Driver(plain):
        def execute(self, statements: str, *given: Any, **more: Any) -> Any:
            run = functools.partial(super().execute, statements, *given, **more)
            try:
                return run()
            except apsw.Error as error:
                return answer(run, statements, error)

        def executemany(self, statements: str, *given: Any, **more: Any) -> Any:
            run = functools.partial(super().executemany, statements, *given, **more)
            try:
                return run()
            except apsw.Error as error:
                return answer(run, statements, error)

    apsw.Connection = Driver  # type: ignore[misc]  # the bug is planted here


def hasty() -> None:
    """What the system says of a write is read by nobody: a short or broken one counts as done."""
    from memoriter.store.sqlite.openers import Openers  # noqa: PLC0415  # only in the child

    Openers.check = lambda self, path: None  # type: ignore[method-assign]  # the bug has handles
    library = ctypes.CDLL(None)
    library.pwrite.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_long]
    plain, disk = _files()

    class File(plain):
        def __init__(self, name: Any, flags: Any) -> None:
            super().__init__("unix", name, flags)
            path = name.filename() if isinstance(name, apsw.URIFilename) else name
            self._own = os.open(path, os.O_RDWR)

        def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # as SQLite has it
            library.pwrite(self._own, bytes(data), len(data), offset)

    class Disk(disk):
        def __init__(self) -> None:
            super().__init__("hasty", "unix", makedefault=True)

        def xOpen(self, name: Any, flags: Any) -> Any:  # noqa: N802  # as above
            return File(name, flags)

    _KEPT.append(Disk())


_KEPT: list[Any] = []
"""What must live as long as the process."""


def _files() -> tuple[Any, Any]:
    return apsw.VFSFile, apsw.VFS


def in_place() -> None:
    """A merge empties the old files before it unlinks them."""
    unlink = Path.unlink

    def emptied(self: Path, *given: Any, **more: Any) -> None:
        if self.suffix == ".seg" and self.exists():
            os.truncate(self, 0)
        unlink(self, *given, **more)

    Path.unlink = emptied  # type: ignore[method-assign]


def unpublished() -> None:
    """Segments are published without being synced, and trusted without being checked."""
    from memoriter.store import segments as room  # noqa: PLC0415  # only in the child

    room.os = _Deaf(os)  # type: ignore[assignment]
    trusting()


class _Deaf:
    """The os module, whose fsync does nothing."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return (lambda handle: None) if name == "fsync" else getattr(self._real, name)


def trusting() -> None:
    """Segments carry a checksum that always fits."""
    from memoriter.index import checked, file  # noqa: PLC0415  # only in the child

    file.checksum = checked.checksum = lambda *parts: bytes(8)  # type: ignore[assignment]


def half_erased() -> None:
    """Erasing marks what it did before it rewrote the segments."""
    from memoriter.index import erase as room  # noqa: PLC0415  # only in the child

    room._touches = lambda segment, gone: False  # type: ignore[assignment]


def unscrubbed() -> None:
    """Erasing leaves the write-ahead log as it is."""
    from memoriter.store.sqlite import store as room  # noqa: PLC0415  # only in the child

    room.Sqlite._wal_emptied = lambda self: True  # type: ignore[method-assign]
    room.wal_size = lambda path: 0  # type: ignore[assignment]


def _swap(sql: str, old: str, new: str) -> str:
    return sql.replace(old, new)


BUGS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        unsynced, lazily_synced, deferred, unleased, greedy, unguarded, keyless, stale, resting,
        swallowed, hasty,
        misnamed, unpublished, trusting, in_place, half_erased, unscrubbed,
    )
}  # fmt: skip
"""By name, as MEMORITER_PLANT gives them."""


def prepare() -> None:
    """What the environment asks for, in a child process, before anything is opened."""
    checkpoint_often()
    for name in filter(None, os.environ.get("MEMORITER_PLANT", "").split(",")):
        BUGS[name]()
