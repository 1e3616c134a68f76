"""The connections of a server: which of them give way when there are too many."""

from __future__ import annotations

import os
import socket
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from memoriter.doors.http.limits import Limits

IN_A_ROW: Final = 1
"""How many asyncio accepts in a row: for each of them `OpenConnections` closes an idle one first.

If many idle ones were accepted before, `ListeningSocket` would close a new one that asks.
"""
_QUEUE: Final = 2048
"""How many new connections the system holds until they are accepted."""
_OTHER_FILES: Final = 128
"""How many open files are left for the store and for standard streams."""
_MANY_FILES: Final = 8192
"""How many files a process may open, where the system does not tell."""


class Connection(Protocol):
    """An open connection."""

    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        ...

    def give_way(self) -> None:
        """Close it."""
        ...


_Place = tuple[str, Connection]
"""An address and a connection from it."""


class OpenConnections:
    """All open connections by address, the oldest first; one too many makes another give way.

    A connection is a stranger until a request on it had a valid token. Strangers are few per
    address; a new one takes the place of the oldest that is idle, so that whoever sends a request
    at once is served however many others hold sockets open. Only the thread of the event loop uses
    it.
    """

    def __init__(self, limits: Limits, *, per_address: bool = True) -> None:
        """`per_address` is False behind a proxy, from which all connections come."""
        self._limits = limits
        self._per_address: Final = per_address
        self._of: dict[str, dict[Connection, bool]] = {}
        """By address: its connections, and whether each is a stranger."""
        self._count = 0

    def add(self, connection: Connection, address: str) -> None:
        """Count a new connection; if that is one too many, another one is closed."""
        own = self._of.setdefault(address, {})
        own[connection] = True
        self._count += 1
        if self._count >= self._limits.connections:
            places = [(at, each) for at, some in self._of.items() for each in _strangers(some)]
            self._close_first(places, (address, connection))
        if not self._per_address:
            return
        strangers = list(_strangers(own))
        if len(strangers) > self._limits.strangers:
            self._close_first([(address, each) for each in strangers], (address, connection))
        elif len(own) > self._limits.per_address:
            places = [(address, each) for each in (*strangers, *own)]
            self._close_first(places, (address, connection))

    def welcome(self, connection: Connection, address: str) -> None:
        """A request on this connection had a valid token."""
        if connection in self._of.get(address, {}):
            self._of[address][connection] = False

    def remove(self, connection: Connection, address: str) -> None:
        """A connection was closed."""
        own = self._of.get(address, {})
        if own.pop(connection, None) is not None:
            self._count -= 1
        if not own:
            self._of.pop(address, None)

    def _close_first(self, among: Sequence[_Place], new: _Place) -> None:
        """Close the first of them that is idle, or the new one if none is."""
        idle = (place for place in among if place != new and place[1].is_idle())
        address, connection = next(idle, new)
        self.remove(connection, address)  # at once: it is closed a little later
        connection.give_way()


class ListeningSocket(socket.socket):
    """A listening socket that closes new connections at once while far too many are open.

    `OpenConnections` chooses with care, but it sees a connection only after the handshake of TLS.
    """

    _limits: Limits | None = None
    _per_address = True

    def bounded(self, limits: Limits, *, per_address: bool) -> ListeningSocket:
        """The socket itself, with limits."""
        self._limits, self._per_address = limits, per_address
        self._accepted: dict[str, weakref.WeakSet[socket.socket]] = {}
        files = os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else _MANY_FILES
        self._most = min(limits.connections + limits.strangers, max(files - _OTHER_FILES, 1))
        return self

    def listen(self, backlog: int = 0, /) -> None:
        """Listen with a long queue, whatever asyncio asks for (see `IN_A_ROW`)."""
        del backlog
        super().listen(_QUEUE)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection; raises ConnectionAbortedError, which asyncio expects, if closed."""
        accepted, place = super().accept()
        if self._limits is None:
            return accepted, place
        address = str(place[0]) if place else ""
        open_here = self._open_from(address)
        most = self._limits.per_address + self._limits.strangers
        everywhere = sum(map(len, self._accepted.values()))
        if (self._per_address and len(open_here) >= most) or everywhere >= self._most:
            accepted.close()
            raise ConnectionAbortedError
        open_here.add(accepted)
        return accepted, place

    def _open_from(self, address: str) -> weakref.WeakSet[socket.socket]:
        """The open connections from an address; those that were closed are dropped everywhere."""
        for known, some in list(self._accepted.items()):
            for each in [one for one in some if one.fileno() < 0]:
                some.discard(each)
            if not some:
                del self._accepted[known]
        return self._accepted.setdefault(address, weakref.WeakSet())


def _strangers(of: dict[Connection, bool]) -> Iterator[Connection]:
    return (each for each, strange in of.items() if strange)
