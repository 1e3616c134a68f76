"""The transactions that run on the connections to a server.

Nothing outlives a transaction on the server, so a pooler between the two may hand each transaction
to another backend.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Final, LiteralString, NoReturn, TypeVar, cast

import psycopg
from psycopg.errors import Diagnostic

from memoriter.core.errors import Unavailable
from memoriter.store.postgres.address import Address
from memoriter.store.postgres.connections import WAIT_S, PgConnections
from memoriter.store.postgres.errors import driver_error, first_line
from memoriter.store.postgres.wire import PgConnection, Prepared, Values, Wire, pipelined
from memoriter.store.snapshots import PORTION

Statement = tuple[str, Values]
"""A statement and its parameters."""
T = TypeVar("T")

IDLE_S: Final = 20
"""After how long the server ends a write whose client has gone silent: it holds the head."""
_TRIES: Final = 3
"""How often work is tried: each time on another connection, if the one before was lost."""

OWN: Final = "SELECT set_config('memoriter.tenant', %s, true)"
"""Begins every transaction: row-level security shows the rows of this tenant alone."""
EVERY_HEAD: Final = "SELECT set_config('memoriter.every_head', 'on', true)"
WRITING: Final = """
    SELECT set_config('memoriter.tenant', %s, true),
        set_config('client_min_messages', 'warning', true),
        set_config('statement_timeout', '0', true),
        set_config('lock_timeout', %s, true),
        set_config('idle_in_transaction_session_timeout', %s, true),
        set_config('synchronous_commit', CASE current_setting('synchronous_commit')
            WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"""
"""Begins a write: no statement is cut off, least of all COMMIT, COMMIT waits for the disk, and the
server warns if it ends its wait for a standby (`warnings_of`), whatever is set for the database."""
BEGIN: Final[LiteralString] = "BEGIN ISOLATION LEVEL READ COMMITTED"
"""Begins every transaction that writes: behind a lock it must see what was committed before it."""
_SNAPSHOT: Final[LiteralString] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class NotReplicated(Exception):
    """The server ended the wait for a standby: committed there, but perhaps nowhere else."""


class BeforeCommit(Exception):
    """The connection was lost before COMMIT was sent, so nothing was written: cause of an error."""


class CommitLost(Exception):
    """The connection was lost while COMMIT was on its way: it may have happened or not."""


class Contradiction(Exception):
    """Rows that are stored contradict those to write: the tables were changed from outside."""


def execute(connection: PgConnection, sql: str, values: Values = ()) -> psycopg.Cursor[Any]:
    """Execute a statement of ours and wait for its answer; rows come in binary."""
    return connection.execute(cast("LiteralString", sql), values, binary=True)


def each(connection: PgConnection, sql: str, values: Values) -> Iterator[Any]:
    """The rows of a statement, `PORTION` at a time, by a cursor of the server's."""
    with connection.cursor(f"rows_{next(_NUMBERS)}") as cursor:
        cursor.itersize = PORTION
        cursor.execute(cast("LiteralString", sql), values, binary=True)
        yield from cursor


_NUMBERS: Final = itertools.count()
"""Numbers of cursors: several may be open in one transaction."""


def control(connection: PgConnection, word: LiteralString) -> None:
    """Begin or end a transaction: never prepared, there is nothing to plan."""
    connection.execute(word, prepare=False)


class PgSessions(PgConnections):
    """The transactions of one process on one server, or on a primary and its standbys."""

    def __init__(self, address: Address, *, read_only: bool) -> None:
        super().__init__(address, read_only=read_only)
        self._statements: weakref.WeakKeyDictionary[PgConnection, Prepared] = (
            weakref.WeakKeyDictionary()
        )

    def read(self, tenant: str, *queries: Statement, to: str = "primary") -> list[list[Any]]:
        """The rows of some queries, all of one snapshot, in one round trip."""
        return self.retried(lambda: self._read(tenant, queries, to))

    def retried(self, work: Callable[[], T]) -> T:
        """Do some reading; once more on another connection if one was lost."""
        for left in reversed(range(_TRIES)):
            try:
                return work()
            except psycopg.Error as error:
                self.check()
                lost = isinstance(error, psycopg.OperationalError) and error.sqlstate in _LOST
                if not lost or not left:
                    raise driver_error(error, self.at) from error
                self.forget_idle()
        raise Unavailable(f"{self.at} cannot be reached", hint="try again")  # pragma: no cover

    def rewritten(self, work: Callable[[], T]) -> T:
        """Do some writing; again on another connection if one was lost before COMMIT was sent."""
        for _ in range(_TRIES - 1):
            try:
                return work()
            except Unavailable as failed:
                if not isinstance(failed.__cause__, BeforeCommit):
                    raise
        return work()

    def _read(self, tenant: str, queries: Sequence[Statement], to: str) -> list[list[Any]]:
        with self.held(to) as connection:
            # In pipeline mode all statements up to the end are one transaction for the server; only
            # several of them need a snapshot that lasts.
            several = len(queries) > 1
            try:
                with pipelined(connection, self._prepared(connection)) as wire:
                    if several:
                        wire.execute(_SNAPSHOT, prepare=False)
                    wire.execute(OWN, (tenant,))
                    replies = [wire.execute(*query) for query in queries]
                    if several:
                        wire.execute("COMMIT", prepare=False)
            except psycopg.Error:
                roll_back(connection)
                raise
            return [reply.fetchall() for reply in replies]

    def _prepared(self, connection: PgConnection) -> Prepared | None:
        """What is prepared on a connection; None if nothing may be."""
        if self.address.prepare == "off":
            return None
        return self._statements.setdefault(connection, {})

    @contextlib.contextmanager
    def snapshot(self, tenant: str) -> Generator[PgConnection]:
        """A transaction that only reads, from one snapshot, for as long as the block lasts."""
        with self.held() as connection:
            try:
                control(connection, _SNAPSHOT)
                execute(connection, OWN, (tenant,))
                yield connection
            except psycopg.Error as error:
                raise driver_error(error, self.at) from error
            finally:
                roll_back(connection)

    def every_head(self, query: Statement, to: str = "primary") -> list[Any]:
        """The rows of a query over the heads of all tenants."""

        def work() -> list[Any]:
            with self.held(to) as connection:
                with pipelined(connection, self._prepared(connection)) as wire:
                    wire.execute(EVERY_HEAD)
                    reply = wire.execute(*query)
                return reply.fetchall()

        return self.retried(work)

    @contextlib.contextmanager
    def write(self, tenant: str) -> Generator[Wire]:
        """A write transaction in pipeline mode: what is executed is sent along, COMMIT too.

        Raises CommitLost if the connection was lost when COMMIT may have been sent, NotReplicated
        if the server committed without its standby. Any other error means that nothing was written.
        """
        with self.held() as connection:
            committing = False
            try:
                with (
                    warnings_of(connection) as warned,
                    pipelined(connection, self._prepared(connection)) as wire,
                ):
                    wire.execute(BEGIN, prepare=False)
                    wire.execute(WRITING, (tenant, f"{WAIT_S}s", f"{IDLE_S}s"))
                    yield wire
                    committing = True
                    wire.execute("COMMIT", prepare=False)
            except psycopg.Error as error:
                roll_back(connection)
                self._raise_failed(connection, error, committing=committing)
            except BaseException:
                roll_back(connection)
                raise
            if warned:
                raise NotReplicated(warned[0])

    def _raise_failed(
        self, connection: PgConnection, error: psycopg.Error, *, committing: bool
    ) -> NoReturn:
        """Raise what the driver's error means for a write."""
        lost = connection.closed or error.sqlstate in _LOST
        if isinstance(error, psycopg.OperationalError) and lost:
            self.forget_idle()
            if committing:
                raise CommitLost(first_line(error)) from error
            raise driver_error(error, self.at) from BeforeCommit(first_line(error))
        if isinstance(error, psycopg.errors.UniqueViolation):
            raise Contradiction(first_line(error)) from error
        raise driver_error(error, self.at) from error


_LOST: Final = (None, "57P01", "57P02", "57P03", "57P05", "25P03", "08000", "08003", "08006")
"""SQLSTATEs of a connection that is gone; None where the server could not say anything."""


@contextlib.contextmanager
def warnings_of(connection: PgConnection) -> Generator[list[str]]:
    """What the server warns of in this block about a standby that it did not wait for."""
    warned: list[str] = []

    def note(diagnostic: Diagnostic) -> None:
        # By the server's function: the text of the warning is translated.
        if diagnostic.source_function == "SyncRepWaitForLSN":
            warned.append(diagnostic.message_primary or "")

    connection.add_notice_handler(note)
    try:
        yield warned
    finally:
        connection.remove_notice_handler(note)


def roll_back(connection: PgConnection) -> None:
    """End a failed transaction; a connection that cannot do so is closed."""
    try:
        if not connection.closed:
            connection.rollback()
    except psycopg.Error:
        connection.close()
