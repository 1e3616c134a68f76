"""Opens the log at a place: in memory, in a file, or on a server; and the home of its segments."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from memoriter.core.errors import InputError, NotFound, Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, text
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Log
from memoriter.store.postgres.url import split_url
from memoriter.store.segments import FolderSegments, MemorySegments, Segments
from memoriter.store.sqlite.connect import Durability
from memoriter.store.sqlite.store import Sqlite

if TYPE_CHECKING:
    from memoriter.index.following import LogEnds
    from memoriter.store.postgres.shared_state import PostgresAnswers, PostgresDocument
    from memoriter.store.postgres.store import Postgres


@dataclass(frozen=True, slots=True)
class OpenedPlace:
    """The log at a place, and where its segments are."""

    log: Log
    segments: Segments
    shown: str
    """The place for people: no folder, no password."""
    path: Path | None = None
    """The file; None if there is none."""
    writable: bool = True
    answers: PostgresAnswers | None = None
    """Where all machines of the store find one another's answers."""
    ends: LogEnds | None = None
    """Asks for the ends of several logs at once, where another machine may write to them."""


def open_place(place: str | Path, *, read_only: bool, durability: Durability) -> OpenedPlace:
    """Open the log at a place."""
    choice(durability, "durability", ("full", "fast"), InputError)
    if str(place) == ":memory:":
        from memoriter.store.ram import Ram  # noqa: PLC0415  # files do not need it

        return OpenedPlace(Ram(), MemorySegments(), ":memory:")
    if "://" in str(place):
        return _on_server(str(place), read_only=read_only, durability=durability)
    path = _file(place)
    log = Sqlite(path, read_only=read_only, durability=durability)
    segments = FolderSegments(path.with_name(path.name + ".idx"))
    return OpenedPlace(log, segments, path.name, path, not log.read_only)


def is_address(place: str | Path) -> bool:
    """Whether a place is the address of a server rather than a file."""
    return str(place).startswith(("postgresql://", "postgres://"))


def _on_server(place: str, *, read_only: bool, durability: Durability) -> OpenedPlace:
    if not is_address(place):
        raise Unsupported(
            f"addresses of the form {place.partition('://')[0]}://… are not supported",
            hint="give the path of a file, for example agent.db, or postgresql://host/database",
        )
    if durability != "full":
        raise Unsupported(
            f"durability: {durability!r} is not available on PostgreSQL, where every commit"
            " waits for the disk",
            hint="leave `durability` out",
        )
    log = _postgres(place, read_only=read_only)
    from memoriter.store.postgres.segments import (  # noqa: PLC0415  # an extra
        PostgresSegments,
        cache_folder,
    )
    from memoriter.store.postgres.shared_state import PostgresAnswers  # noqa: PLC0415  # an extra

    segments = PostgresSegments(log.sessions, cache_folder())
    answers = None if read_only else PostgresAnswers(log.sessions)
    return OpenedPlace(
        log, segments, log.shown, None, writable=not read_only, answers=answers, ends=log.ends
    )


def _postgres(place: str, *, read_only: bool) -> Postgres:
    with _needs_driver():
        from memoriter.store.postgres.store import Postgres  # noqa: PLC0415  # an extra
    return Postgres(place, read_only=read_only)


@contextlib.contextmanager
def _needs_driver() -> Generator[None]:
    try:
        yield
    except ImportError as error:
        raise Unsupported(
            f"PostgreSQL needs a driver that is not installed ({error.name})",
            hint=install_hint("postgres"),
        ) from error


def open_document(place: str, name: str) -> PostgresDocument:
    """A document that all machines of a store on a server share."""
    from memoriter.store.postgres.shared_state import PostgresDocument  # noqa: PLC0415  # an extra

    return PostgresDocument(_postgres(place, read_only=False).sessions, name)


def holds_store(place: str) -> bool:
    """Whether there is a store at an address; Unavailable if that cannot be asked."""
    try:
        _on_server(place, read_only=True, durability="full").log.close()
    except Unsupported:
        return False
    return True


def reads_standby(place: str) -> bool:
    """Whether an address says that reads go to a standby."""
    with _needs_driver():
        from memoriter.store.postgres.address import Address  # noqa: PLC0415  # an extra
    return Address.of(place).reads == "standby"


def is_same_store(one: str | Path, two: str | Path) -> bool:
    """Whether two places are names of one store: paths of one file, addresses of one database."""
    if is_address(one) != is_address(two):
        return False
    if str(one) == str(two):
        return True
    if is_address(one):
        with _needs_driver():
            from memoriter.store.postgres.identity import database_of  # noqa: PLC0415  # an extra
        return database_of(str(one)) == database_of(str(two))
    paths = [Path(each).expanduser() for each in (one, two)]
    with contextlib.suppress(OSError, ValueError):  # opening them says what is wrong
        return paths[0].samefile(paths[1])
    return False


def shown_place(place: str | Path) -> str:
    """A place as people may see it: an address without its password."""
    scheme, mark, _ = str(place).partition("://")
    if not mark:
        return str(place)
    try:
        return split_url(str(place)).shown
    except InputError:
        return f"{scheme}://…"


def has_secret(place: str) -> bool:
    """Whether an address has a password in it; InputError if it cannot be read without doubt."""
    return split_url(place).has_secret


def _file(place: str | Path) -> Path:
    """The path of a store's file; its folder must exist."""
    clean = text(str(place), "place", InputError, 4096)
    if not clean or "\0" in clean or not isinstance(place, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise InputError(
            "place: expected the path of a file",
            hint='for example "agent.db", or ":memory:"',
            field="place",
        )
    # The write-ahead log, the lock and the index lie next to the file itself, not next to a symlink
    # to it: else two names of one file would have two locks.
    path = Path(os.path.realpath(Path(clean).expanduser()))
    with os_errors(path):
        path.exists()
    if not path.parent.is_dir():
        raise NotFound(
            f"there is no folder {path.parent}", hint=f"make it first: mkdir -p {path.parent}"
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder", hint="name a file in it, for example agent.db")
    return path
