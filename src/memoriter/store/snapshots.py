"""A tenant's rows as a store gives them, a portion at a time; see `port.TenantRows`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from memoriter.core.errors import Corrupt
from memoriter.store.port import Dump, Head, TenantRows
from memoriter.store.rows import TABLES, check_bookkeeping

PORTION: Final = 500
"""How many rows of a tenant are held at a time, while all of them are read or written."""
LONG_READ_S: Final = 6 * 3600.0
"""How long the reading of a whole tenant may take."""
AnyRow = TypeVar("AnyRow")
_SUMMED: Final = ("commits", "keys", "debts")
"""Tables whose rows are stored with a checksum that is no field of the row."""


class StoredRows:
    """The `TenantRows` of a store, over a function that reads a table."""

    def __init__(self, tenant: str, head: Head, read: Callable[[str], Iterable[Any]]) -> None:
        self.head = head
        self._tenant = tenant
        self._read = read
        self._damaged: dict[str, None] = {}

    @property
    def damaged(self) -> list[str]:
        """One message for each row read so far that does not match its checksum."""
        return list(self._damaged)

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of a table; those that do not match their checksum too."""
        kind = TABLES[table]
        if table not in _SUMMED:
            return (kind(*row) for row in self._read(table))
        return self._checked(kind, table)

    def _checked(self, kind: Callable[..., Any], table: str) -> Iterator[Any]:
        for *fields, stored_sum in self._read(table):
            row = kind(*fields)
            try:
                check_bookkeeping(self._tenant, row, stored_sum)
            except Corrupt as damage:
                self._damaged[damage.message] = None
            yield row


def in_memory(rows: TenantRows) -> Dump:
    """All rows, held in memory: for a stretch, and for tests."""
    tables: dict[str, Any] = {table: list(rows.rows(table)) for table in TABLES}
    return Dump(rows.head, **tables, damaged=list(rows.damaged))


def portions(rows: Iterator[AnyRow]) -> Iterator[list[AnyRow]]:
    """Rows in lists of at most `PORTION`."""
    while some := list(islice(rows, PORTION)):
        yield some
