"""Connections to the server: at most so many, kept while they are idle.

A connection serves one transaction at a time and is then free for any thread. There is no thread
of ours.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Generator
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from memoriter.core.errors import MemoriterError, Unavailable, Unsupported
from memoriter.store.postgres.address import Address
from memoriter.store.postgres.arrays import register
from memoriter.store.postgres.errors import driver_error
from memoriter.store.postgres.wire import PgConnection

WAIT_S: Final = 30
"""How long a transaction waits for a lock, and a thread for a connection, before it gives up."""


SEARCH_S: Final = 10
"""After how long a primary that did not answer is looked for again."""


class PgConnections:
    """The connections of one process to one server, or to a primary and its standbys."""

    def __init__(self, address: Address, *, read_only: bool) -> None:
        self.address = address
        self.at = address.shown
        self._read_only = read_only
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        self._free: dict[str, list[PgConnection]] = {"primary": [], "standby": []}
        self._slots = threading.Semaphore(address.connections)
        self._turns = threading.Semaphore(address.connections // 2)
        """Half of the connections may be held for long: who holds one needs another to work."""
        self._open = 0
        """How many connections there are, in use or idle."""
        self._closed = False
        self._search_at = 0.0
        """When to look for a primary again, where reads go to a standby for want of one."""
        # A store that is dropped without close() leaves no connection behind.
        weakref.finalize(self, _close_idle, self._pid, self._free)

    def check(self) -> None:
        """Raise Unsupported if the store is closed, or belongs to the parent of a fork."""
        if self._pid != os.getpid():
            raise Unsupported(
                "the store was opened before this process was forked",
                hint="open the store in the child process",
            )
        if self._closed:
            raise Unsupported("the store is closed", hint="open it again")

    @property
    def closed(self) -> bool:
        """Whether the store is closed, so that no connection is to be had any more."""
        return self._closed

    def connect(self, to: str = "primary") -> PgConnection:
        """A new connection; Unavailable or Forbidden if the server does not let us in."""
        if to == "standby":
            return self._connect("prefer-standby")
        if not self._read_only:
            return self._connect("read-write")
        connection = self._connect("any")
        if _is_standby(connection) and time.monotonic() >= self._search_at:
            # What is not read from a standby on purpose comes from the primary, if that answers.
            try:
                primary = self._connect("primary")
            except MemoriterError:
                self._search_at = time.monotonic() + SEARCH_S
            else:
                connection.close()
                return primary
        return connection

    def _connect(self, wanted: str) -> PgConnection:
        parameters = {
            "target_session_attrs": wanted,
            **self.address.parameters,
            "client_encoding": "UTF8",  # of all texts that are sent, whatever PGCLIENTENCODING says
        }
        try:
            connection = psycopg.connect(
                make_conninfo(**parameters),
                autocommit=True,
                prepare_threshold=None,  # what is worth preparing goes through `wire`
            )
        except psycopg.Error as error:
            raise driver_error(error, self.at) from error
        try:
            require_utf8(connection, self.at)
        except Unsupported:
            connection.close()
            raise
        register(connection)
        return connection

    @contextlib.contextmanager
    def held(self, to: str = "primary") -> Generator[PgConnection]:
        """A connection for one transaction; it is closed instead of kept if anything is open."""
        self.check()
        if not self._slots.acquire(timeout=WAIT_S):
            raise Unavailable(
                f"all {self.address.connections} connections to {self.at} are in use",
                hint="try again, or allow more with `?connections=N` in the address",
            )
        try:
            connection = self._idle(to) or self._connected(to)
            try:
                yield connection
            finally:
                self._take_back(connection, to)
        finally:
            self._slots.release()

    @contextlib.contextmanager
    def held_long(self, *, wait: bool) -> Generator[PgConnection | None]:
        """A connection for a transaction beside which its thread does other work.

        None if half of the connections are held so; with `wait`, if none came free in time.
        """
        if not self._turns.acquire(timeout=WAIT_S if wait else 0):
            yield None
            return
        try:
            with self.held() as connection:
                yield connection
        finally:
            self._turns.release()

    def _idle(self, to: str) -> PgConnection | None:
        """An idle connection that the server has not closed; None if there is none."""
        while True:
            with self._mutex:
                free = self._free[to]
                connection = free.pop() if free else None
            if connection is None or (_is_open(connection) and not self._stands_in(connection, to)):
                return connection
            self._close(connection)

    def _stands_in(self, connection: PgConnection, to: str) -> bool:
        """Whether it is to a standby for want of a primary, which may be there by now."""
        return to == "primary" and _is_standby(connection) and time.monotonic() >= self._search_at

    def _connected(self, to: str) -> PgConnection:
        """A new connection; if there are as many as may be, an idle one makes room for it."""
        with self._mutex:
            self._open += 1
            over = self._open > self.address.connections
            spare = next((free.pop() for free in self._free.values() if over and free), None)
        if spare is not None:
            self._close(spare)
        try:
            return self.connect(to)
        except BaseException:
            with self._mutex:
                self._open -= 1
            raise

    def _close(self, connection: PgConnection) -> None:
        connection.close()
        with self._mutex:
            self._open -= 1

    def _take_back(self, connection: PgConnection, to: str) -> None:
        idle = connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with self._mutex:
            if idle and not connection.closed and not self._closed:
                self._free[to].append(connection)
                return
        self._close(connection)

    def forget_idle(self) -> None:
        """Close what is idle: after one connection was lost, the others are too."""
        with self._mutex:
            self._open -= sum(map(len, self._free.values()))
            _close_idle(self._pid, self._free)

    def close(self) -> None:
        """Close every idle connection; those in use are closed when they come back. Idempotent."""
        self._closed = True
        if self._pid == os.getpid():
            self.forget_idle()


def _close_idle(pid: int, kept: dict[str, list[PgConnection]]) -> None:
    """Close connections; those that a forked child has copies of belong to its parent."""
    for free in kept.values():
        while free and pid == os.getpid():
            free.pop().close()


def _is_open(connection: PgConnection) -> bool:
    """Whether the server has not closed an idle connection, as far as it has reached us."""
    try:
        for _ in range(2):  # what the server said last, then the end
            connection.pgconn.consume_input()
    except psycopg.Error:
        return False
    return not connection.closed


def _is_standby(connection: PgConnection) -> bool:
    """Whether the server is a standby, as far as it has told us; it tells when it takes over."""
    return connection.info.parameter_status("in_hot_standby") == "on"


def require_utf8(connection: PgConnection, at: str) -> None:
    """Raise Unsupported if the database cannot hold every text as it is."""
    kept = connection.info.parameter_status("server_encoding")
    if kept != "UTF8":
        raise Unsupported(
            f"{at} keeps texts in the encoding {kept}, but the store needs UTF8",
            hint="make a database for the store with createdb --encoding=UTF8 --template=template0",
        )
