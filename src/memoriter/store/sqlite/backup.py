"""Copies a store file while others use it, and puts a copy in the place of a store.

A copy is made by SQLite's backup within one read transaction, so that it is the store at one
moment: writers go on meanwhile, and no step has to begin again. Copying the files by other means
tears them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

import apsw

from memoriter.core.errors import Corrupt, Unavailable, Unsupported
from memoriter.core.private_file import PRIVATE, keep_mode
from memoriter.store.fsync import fsync_file, fsync_folder
from memoriter.store.io_errors import os_errors
from memoriter.store.lease import Lease
from memoriter.store.sqlite.connect import close, connect, needed_setup
from memoriter.store.sqlite.errors import disk_full_error, sqlite_errors
from memoriter.store.sqlite.openers import OPENERS
from memoriter.store.sqlite.thread_connection import ThreadConnection, file_state
from memoriter.store.sqlite.unfinished import SIDES, remove_copy
from memoriter.store.sqlite.witness import Witness

PAGES: Final = 512
"""How many pages are copied in one step; the caller hears of each step."""
Copied = Callable[[int, int], None]
"""Called with the pages copied so far, and with how many there are."""


def copy_store(source: Path, target: Path, copied: Copied) -> None:
    """Copy a store into a new file, durable when it returns; a failure leaves no file.

    The copy has no list of published segments, which are no part of it: its index is made anew.
    If the store has an earlier format, the copy is brought forward.
    """
    remove_copy(target)
    with os_errors(target):
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    try:
        with _opened(source) as reader, _opened_blank(target) as out:
            reader.execute("BEGIN")
            # The transaction begins with the first read. Without one, each step of the backup would
            # read in a transaction of its own, and start again after every write of others.
            reader.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  # the read
            with out.backup("main", reader, "main") as copy:
                while not copy.done:
                    copy.step(PAGES)
                    copied(copy.page_count - copy.remaining, copy.page_count)
            reader.execute("ROLLBACK")
            out.execute("DELETE FROM manifests")
            out.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        if (setup := needed_setup(target)) is not None:
            setup(target)
        with os_errors(target):
            fsync_file(target)
            fsync_folder(target.parent)
    except BaseException:
        remove_copy(target)
        raise


@contextlib.contextmanager
def _opened(source: Path) -> Generator[apsw.Connection]:
    """A connection to read from; raises Unavailable if the file was written to without its log."""
    seen = file_state(source)
    with sqlite_errors(source):
        reader = connect(source, read_only=True, earlier=True)
        try:
            yield reader
            ThreadConnection.of(reader, seen).check(source)
        finally:
            close(source, reader)


@contextlib.contextmanager
def _opened_blank(target: Path) -> Generator[apsw.Connection]:
    with sqlite_errors(target):
        out = OPENERS.open(
            target, lambda: apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
        )
        try:
            out.execute("PRAGMA synchronous=FULL")
            out.execute("PRAGMA secure_delete=ON")
            yield out
        except (apsw.IOError, apsw.FullError) as error:
            if (full := disk_full_error(target, out, error)) is not None:
                raise full from error
            raise
        finally:
            close(target, out)


def replace_store(path: Path, copy: Path) -> None:
    """Put a copy in the place of a store; at every moment there is one of the two, whole.

    The old store is taken for this process alone, and its write-ahead log is written back into it,
    so that one file is all of it; renaming then replaces it. One that is damaged is renamed aside
    instead. Raises Unavailable if others have it open.
    """
    lock = path.with_name(path.name + ".lock")
    lease = Lease(lock)
    with contextlib.closing(lease), lease.held(), os_errors(path), _old(path):
        if not copy.exists():
            raise Unavailable(
                f"{path.name} was in use while the backup was copied, and its upkeep removed the"
                " copy",
                hint="stop what uses the store, then restore again",
            )
        keep_mode(copy, path)
        fsync_file(copy)
        Witness(lock).clear()  # the copy may lack the last commit of the old store, as it should
        copy.replace(path)
        fsync_folder(path.parent)
        # Segments of the old store: the index of the new one is made anew.
        shutil.rmtree(path.with_name(path.name + ".idx"), ignore_errors=True)


@contextlib.contextmanager
def _old(path: Path) -> Generator[None]:
    """Hold the old store for this process alone, if there is one that can be opened."""
    if not path.exists() or not path.stat().st_size:
        yield
        return
    try:
        connection = connect(path, read_only=False)
    except (Corrupt, Unsupported):
        _put_aside(path)
        yield
        return
    try:
        with sqlite_errors(path):
            _take_alone(connection, path)
        yield
    finally:
        close(path, connection)


def _take_alone(connection: apsw.Connection, path: Path) -> None:
    """Write the log back into the file and lock it until the connection is closed."""
    try:
        connection.pragma("locking_mode", "exclusive")
        alone = connection.pragma("journal_mode", "delete") == "delete"
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")
    except apsw.BusyError:
        alone = False
    if not alone:
        raise Unavailable(
            f"{path.name} is open in another process, or elsewhere in this one",
            hint="close it there, then restore again",
        )


def _put_aside(path: Path) -> None:
    """Rename a damaged store with its log; nothing of it is deleted."""
    names = (path.with_name(f"{path.name}.damaged-{n}") for n in itertools.count(1))
    aside = next(name for name in names if not name.exists())
    for end in ("", *SIDES):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
