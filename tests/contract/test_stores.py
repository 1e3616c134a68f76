"""Every store that comes with the house keeps the contract."""

from __future__ import annotations

from pathlib import Path

from recollect.store.port import Log
from recollect.store.ram import Ram
from recollect.store.sqlite.store import Sqlite
from recollect.testing.contract import StoreContract


def ram(_: Path) -> Log:
    return Ram()


def sqlite(folder: Path) -> Log:
    return Sqlite(folder / "log.db")


class TestRam(StoreContract):
    store = staticmethod(ram)


class TestSqlite(StoreContract):
    store = staticmethod(sqlite)
    reopen = staticmethod(sqlite)
