"""Which connections of a server are open, by address, and which give way to a new one.

A connection is a stranger until a request on it had a valid token. Strangers are few per address;
a new one takes the place of the oldest that is idle, so that whoever sends a request at once is
served however many others hold sockets open. Only the thread of the event loop uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from memoriter.doors.http.limits import Limits


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
    """All open connections; the oldest first."""

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


def _strangers(of: dict[Connection, bool]) -> Iterator[Connection]:
    return (each for each, strange in of.items() if strange)
