"""Every store that comes with the house keeps the contract."""

from __future__ import annotations

from pathlib import Path

from memoriter.store.port import Log
from memoriter.store.ram import Ram
from memoriter.store.sqlite.store import Sqlite
from memoriter.testing.contract import StoreContract


def ram(_: Path) -> Log:
    return Ram()


def sqlite(folder: Path) -> Log:
    return Sqlite(folder / "log.db")


class TestRam(StoreContract):
    store = staticmethod(ram)


class TestSqlite(StoreContract):
    store = staticmethod(sqlite)
    reopen = staticmethod(sqlite)
