"""Reads foreign SQLite files: read-only, from one snapshot."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

import apsw

from memoriter.core.errors import Corrupt, InputError, MemoriterError, Unavailable
from memoriter.imports.source import BadRow

_READ: Final = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_WAIT_MS: Final = 5000


@contextlib.contextmanager
def open_readonly(path: Path) -> Generator[apsw.Connection]:
    """A connection that sees one snapshot of the file.

    Raises `Corrupt`, `Unavailable` or `InputError` instead of errors of SQLite.
    """
    try:
        connection = apsw.Connection(f"file:{quote(str(path.absolute()))}?mode=ro", flags=_READ)
        try:
            connection.set_busy_timeout(_WAIT_MS)
            connection.execute("BEGIN")  # all reads see the same state, whoever writes meanwhile
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise _translated(path, error) from None
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from None


def _translated(path: Path, error: apsw.Error) -> MemoriterError:
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return _damaged(path, error)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Unavailable(
            f"{path.name} is busy: {error}", hint="close the program that writes it, then try again"
        )
    return InputError(
        f"{path.name} cannot be read: {error}",
        hint="check that it is the right file and that you may read it",
    )


def _damaged(path: Path, error: Exception) -> Corrupt:
    hint = "restore it from a backup, then try again"
    return Corrupt(f"{path.name} is damaged: {error}", hint=hint)


def application_id(path: Path) -> int:
    """The number by which a program marks its SQLite files; 0 if it does not."""
    with open_readonly(path) as db:
        return int(cast("int", db.pragma("application_id")))


def table_columns(path: Path) -> dict[str, set[str]]:
    """The columns of each table of a file, without virtual tables."""
    with open_readonly(path) as db:
        sql = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        out: dict[str, set[str]] = {}
        for table, column in db.execute(
            f"{sql} WHERE m.type='table' AND m.sql NOT LIKE '%VIRTUAL%'"
        ):
            out.setdefault(str(table), set()).add(str(column))
        return out


def query_rows(db: apsw.Connection, table: str, sql: str) -> Iterator[dict[str, Any] | BadRow]:
    """The rows of a query as dicts by column; a row with invalid UTF-8 is a `BadRow`."""
    cursor = db.execute(sql)
    for number in count(1):
        try:
            row = next(cursor, None)
        except UnicodeDecodeError:
            yield BadRow(f"{table}, row {number}", "holds text that is not UTF-8")
            continue
        if row is None:
            return
        names = (column[0] for column in cursor.get_description())
        yield dict(zip(names, row, strict=True))


def count_rows(db: apsw.Connection, table: str) -> int:
    """The number of rows of a table."""
    ((rows,),) = db.execute(f'SELECT count(*) FROM "{table}"').fetchall()  # noqa: S608  # ours
    return int(cast("int", rows))
