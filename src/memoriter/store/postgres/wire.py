"""Statements in libpq's pipeline mode: sent without waiting, answered together.

The driver's own pipeline asks the socket after each statement and makes a cursor for each; here all
that was queued travels at once, which takes a third of the processor time. Values are encoded and
rows decoded by the driver.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg import waiting
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult

PgConnection = psycopg.Connection[tuple[Any, ...]]
Values = Sequence[object] | Mapping[str, object]
Prepared = dict[tuple[str, tuple[int, ...]], bytes]
"""By statement and types of its parameters: the name under which the server has it prepared."""
_BINARY: Final = 1
_UNSENT: Final = 2**20
"""From how many bytes on what is queued is sent, without waiting for more."""
_NUMBERS: Final = itertools.count()
_PLACE: Final = re.compile(r"%\((\w+)\)s|%s|%%")


@lru_cache(maxsize=512)
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """A statement with numbered places, and the names of its parameters if they have names."""
    names: list[str] = []
    count = 0

    def place(match: re.Match[str]) -> str:
        nonlocal count
        if match[0] == "%%":
            return "%"
        if match[1] is None:
            count += 1
            return f"${count}"
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _PLACE.sub(place, sql).encode(), tuple(names)


class PgReply:
    """The answer to one statement; asking for its rows waits for all that was sent."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.result: PGresult | None = None

    def fetchall(self) -> list[Any]:
        """All rows."""
        if self.result is None:
            self._wire.sync()
        return self._wire.rows(self.result)

    def fetchone(self) -> Any:
        """The first row; None if there is none."""
        return next(iter(self.fetchall()), None)


class Wire:
    """A connection in pipeline mode."""

    def __init__(self, connection: PgConnection, prepared: Prepared | None) -> None:
        self.connection = connection
        self._prepared = prepared
        """None if nothing may be prepared."""
        self._codec = Transformer.from_context(connection)
        self._waiting: list[PgReply | None] = []
        """What the server has yet to answer, in order; None for what nobody asks for."""
        self._new: list[tuple[str, tuple[int, ...]]] = []
        """What was prepared since the last answer."""
        self._bytes = 0

    def execute(self, sql: str, values: Values = (), *, prepare: bool = True) -> PgReply:
        """Queue a statement."""
        text, names = _numbered(sql)
        given = [values[name] for name in names] if isinstance(values, Mapping) else values
        sent = self._codec.dump_sequence(given, [PyFormat.AUTO] * len(given)) if given else ()
        types, formats = (self._codec.types or (), self._codec.formats) if given else ((), ())
        pgconn = self.connection.pgconn
        if self._prepared is None or not prepare:
            pgconn.send_query_params(text, sent, types, formats, _BINARY)
        else:
            name = self._prepared.get((sql, types))
            if name is None:
                name = self._prepared[sql, types] = b"memoriter_%d" % next(_NUMBERS)
                self._new.append((sql, types))
                pgconn.send_prepare(name, text, types)
                self._waiting.append(None)
            pgconn.send_query_prepared(name, sent, formats, _BINARY)
        reply = PgReply(self)
        self._waiting.append(reply)
        self._bytes += sum(len(each) for each in sent if each is not None)
        if self._bytes > _UNSENT:
            self.connection.wait(self._pushed())
        return reply

    def sync(self) -> None:
        """Send everything, and wait for every answer; raises the first error among them."""
        pgconn = self.connection.pgconn
        pgconn.pipeline_sync()
        expected, self._waiting = self._waiting, []
        failed: PGresult | None = None
        for at, result in enumerate(self.connection.wait(self._answers())):
            if result.status in (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED):
                failed = failed or result
            elif at < len(expected) and (reply := expected[at]) is not None:
                reply.result = result
        new, self._new = self._new, []
        if failed is not None:
            if self._prepared is not None:
                for statement in new:
                    self._prepared.pop(statement, None)  # the server may not have come to it
            self._raise(failed)

    def _raise(self, failed: PGresult) -> None:
        if self.connection.pgconn.status == ConnStatus.BAD and not failed.error_field(_SQLSTATE):
            raise psycopg.OperationalError(failed.get_error_message())
        raise psycopg.errors.error_from_result(failed, encoding=self.connection.info.encoding)

    def rows(self, result: PGresult | None) -> list[Any]:
        """The rows of an answer."""
        if result is None or result.status != ExecStatus.TUPLES_OK:
            return []
        self._codec.set_pgresult(result)
        return self._codec.load_rows(0, result.ntuples, tuple)

    def _pushed(self) -> Generator[Any, Any, None]:
        """Send what is queued; what comes back meanwhile is read, or neither side would go on."""
        pgconn = self.connection.pgconn
        while pgconn.flush():
            ready = yield waiting.Wait.RW
            if ready & waiting.Ready.R:
                pgconn.consume_input()
        self._bytes = 0

    def _answers(self) -> Generator[Any, Any, list[PGresult]]:
        yield from self._pushed()
        pgconn, answers = self.connection.pgconn, list[PGresult]()
        while True:
            while pgconn.is_busy():
                yield waiting.Wait.R
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:  # between the answers to two statements
                if pgconn.status == ConnStatus.BAD:
                    raise psycopg.OperationalError("the connection is lost")
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                return answers
            answers.append(result)

    def leave(self) -> None:
        """Leave pipeline mode; a connection that cannot is closed."""
        pgconn = self.connection.pgconn
        with contextlib.suppress(psycopg.Error):
            if self._waiting:
                self.sync()
        if pgconn.status == ConnStatus.BAD or pgconn.transaction_status == TransactionStatus.ACTIVE:
            self.connection.close()
        elif pgconn.pipeline_status != PipelineStatus.OFF:
            try:
                pgconn.exit_pipeline_mode()
            except psycopg.Error:
                self.connection.close()


_SQLSTATE: Final = psycopg.pq.DiagnosticField.SQLSTATE


@contextlib.contextmanager
def pipelined(connection: PgConnection, prepared: Prepared | None) -> Generator[Wire]:
    """A connection in pipeline mode; at the end of the block everything was answered."""
    connection.pgconn.enter_pipeline_mode()
    wire = Wire(connection, prepared)
    try:
        yield wire
        wire.sync()
    finally:
        wire.leave()
