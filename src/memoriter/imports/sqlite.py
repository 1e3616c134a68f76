"""Somebody else's SQLite file: opened to be read, never written, never locked for long."""

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
    """The file as it stands at one moment; what goes wrong with it becomes an error of ours."""
    try:
        connection = apsw.Connection(f"file:{quote(str(path.absolute()))}?mode=ro", flags=_READ)
        try:
            connection.set_busy_timeout(_WAIT_MS)
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise _meaning(path, error) from None
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from None


def _meaning(path: Path, error: apsw.Error) -> MemoriterError:
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return _damaged(path, error)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Unavailable(f"{path.name} is busy: {error}", hint="close what writes it")
    return InputError(f"{path.name} cannot be read: {error}", hint="check the file and its rights")


def _damaged(path: Path, error: Exception) -> Corrupt:
    hint = "restore it from a backup, then try again"
    return Corrupt(f"{path.name} is damaged: {error}", hint=hint)


def table_columns(path: Path) -> dict[str, set[str]]:
    """The tables of a file, each with its columns."""
    with open_readonly(path) as db:
        sql = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        out: dict[str, set[str]] = {}
        for table, column in db.execute(
            f"{sql} WHERE m.type='table' AND m.sql NOT LIKE '%VIRTUAL%'"
        ):
            out.setdefault(str(table), set()).add(str(column))
        return out


def query_rows(db: apsw.Connection, table: str, sql: str) -> Iterator[dict[str, Any] | BadRow]:
    """The rows of a query, each by the names of its columns; one that is no text is refused."""
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
    """How many rows a table has."""
    ((rows,),) = db.execute(f'SELECT count(*) FROM "{table}"').fetchall()  # noqa: S608  # ours
    return int(cast("int", rows))
