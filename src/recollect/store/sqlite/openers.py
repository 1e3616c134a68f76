"""Who has a store file open in this process? Only our own connections may.

POSIX locks belong to the process: closing any other handle on the file, a stray `open()` or a
second SQLite library, drops the locks of our connections, and another process may then throw the
write-ahead log away. So a file that somebody else holds open here is refused.
"""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from typing import Final

import apsw

from recollect.core.errors import Unsupported

_HANDLES: Final = Path("/proc/self/fd")


class Openers:
    """Our connections, by file."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while a connection is opened or closed, so that a check counts whole ones."""
        self._alive: dict[str, weakref.WeakSet[apsw.Connection]] = {}
        self._ever: dict[str, int] = {}
        """How many were opened since the file was last closed whole: SQLite keeps their handles."""

    def note(self, path: Path, connection: apsw.Connection) -> None:
        """Remember a connection of ours."""
        key = os.path.realpath(path)
        with self.lock:
            alive = self._alive.setdefault(key, weakref.WeakSet())
            self._ever[key] = self._ever.get(key, 0) + 1 if len(alive) else 1
            alive.add(connection)

    def left(self, path: Path, connection: apsw.Connection) -> None:
        """Forget a connection that was closed."""
        with self.lock:
            self._alive.get(os.path.realpath(path), weakref.WeakSet[apsw.Connection]()).discard(
                connection
            )

    def check(self, path: Path) -> None:
        """Refuse a file that anything but our own connections holds open in this process."""
        key = os.path.realpath(path)
        with self.lock:
            ours = self._ever.get(key, 0) if len(self._alive.get(key, ())) else 0
            strange = handles(key) > ours
        if strange:
            raise Unsupported(
                f"{path.name} is open in this process through something else",
                hint="close it there first: sqlite3 or open() on the file drop its locks",
            )


def handles(real: str) -> int:
    """How many handles of this process are open on a file; 0 where the system does not tell."""
    try:
        return sum(_target(handle) == real for handle in _HANDLES.iterdir())
    except OSError:
        return 0


def _target(handle: Path) -> str:
    try:
        return str(handle.readlink())
    except OSError:  # closed meanwhile
        return ""


OPENERS: Final = Openers()
