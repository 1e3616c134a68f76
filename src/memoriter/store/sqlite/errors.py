"""Translates SQLite's errors into Memoriter's own.

Every call of the driver in this package runs inside `sqlite_errors`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Final, NoReturn

import apsw

from memoriter.core.errors import (
    Conflict,
    Corrupt,
    Forbidden,
    MemoriterError,
    StorageFull,
    Unavailable,
    Unsupported,
)
from memoriter.store.io_errors import DISK_FULL, error_for


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Generator[None]:
    """Raise SQLite errors of the block as ours, by the table `_MEANINGS`."""
    try:
        yield
    except apsw.Error as error:
        _raise(error, path)
    except UnicodeDecodeError as error:  # damage inside a text column
        raise Corrupt(f"{path.name} is damaged: {error}", hint="restore a backup") from error


def disk_full_error(
    path: Path, connection: apsw.Connection, error: apsw.Error
) -> MemoriterError | None:
    """The StorageFull for an I/O error that a full disk caused; None for any other cause."""
    number = connection.system_errno
    return error_for(number, path, str(error)) if number in DISK_FULL else None


def _raise(error: apsw.Error, path: Path) -> NoReturn:
    for drivers, ours, message, hint in _MEANINGS:
        if isinstance(error, drivers):
            raise ours(message.format(path=path.name, error=error), hint=hint) from error
    raise Unavailable(f"SQLite failed on {path.name}: {error}", hint="try again") from error


_Meaning = tuple[tuple[type[apsw.Error], ...], type[MemoriterError], str, str]
_MEANINGS: Final[tuple[_Meaning, ...]] = (
    ((apsw.FullError,), StorageFull, "no space left for {path}", "free some space and try again"),
    ((apsw.BusyError, apsw.LockedError), Unavailable, "{path} is busy", "try again"),
    ((apsw.NotADBError,), Unsupported, "{path} is not a Memoriter store", "name another file"),
    (
        (apsw.CorruptError, apsw.FormatError),
        Corrupt,
        "{path} is damaged: {error}",
        "restore a backup",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        Forbidden,
        "{path} may only be read",
        "check its permissions",
    ),
    (
        (apsw.InterruptError,),
        Unavailable,
        "a read of {path} took too long and was ended",
        "read less at once",
    ),
    (
        (apsw.ConstraintError,),
        Conflict,
        "{path} holds something else already: {error}",
        "open the store again",
    ),
    (
        (apsw.CantOpenError, apsw.IOError),
        Unavailable,
        "{path} cannot be opened or read: {error}",
        "check the disk and the permissions",
    ),
)
"""(SQLite errors, our error, message, hint); the first match counts."""
