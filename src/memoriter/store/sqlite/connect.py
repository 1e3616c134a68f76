"""Opening a store file: the only place that opens SQLite, with the only settings we trust.

WAL and `synchronous=FULL` make a commit survive a power cut; `secure_delete` overwrites what is
deleted. SQLite versions with the WAL-reset bug, network filesystems, files of others and of newer
versions are refused before anything is touched.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final, Literal, NoReturn
from urllib.parse import quote

import apsw

from memoriter.core.errors import (
    BRING_OVER,
    Conflict,
    Corrupt,
    Forbidden,
    MemoriterError,
    StorageFull,
    Unavailable,
    Unsupported,
)
from memoriter.store.io_errors import DISK_FULL, error_for
from memoriter.store.sqlite.openers import OPENERS
from memoriter.store.sqlite.schema import APPLICATION_ID, EARLIER_APPLICATION_ID, FORMAT, TABLES

MIN_SQLITE: Final = 3_051_003
WITHDRAWN_SQLITE: Final = 3_052_000
BUSY_LIMIT_S: Final = 10.0
_SMALLEST: Final = 512
"""Bytes of the smallest page: no database is shorter."""
_NETWORK: Final = frozenset({
    "9p", "afs", "afpfs", "beegfs", "ceph", "cephfs", "cifs", "coda", "davfs", "davfs2",
    "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "prl_fs", "pvfs2",
    "smb2", "smb3", "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs", "wekafs", "fuse.afpfs",
    "fuse.beegfs", "fuse.blobfuse", "fuse.blobfuse2", "fuse.ceph", "fuse.ceph-fuse", "fuse.cephfs",
    "fuse.curlftpfs", "fuse.davfs", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys",
    "fuse.juicefs", "fuse.lizardfs", "fuse.mfs", "fuse.moosefs", "fuse.mountpoint-s3",
    "fuse.rclone", "fuse.s3fs", "fuse.seaweedfs", "fuse.smbnetfs", "fuse.sshfs",
    "fuse.vmhgfs-fuse", "fuse.webdav",
})  # fmt: skip
"""Filesystems that live on another machine, or are shared with one, as the system names them."""
Durability = Literal["full", "fast"]
"""`full`: a commit survives a power cut. `fast`: a power cut may lose the last seconds of commits,
in order and without damage; a killed process loses nothing either way."""
_SYNCHRONOUS: Final[dict[Durability, int]] = {"full": 2, "fast": 1}
_PRAGMAS: Final = (
    "PRAGMA synchronous=FULL",
    "PRAGMA fullfsync=ON",
    "PRAGMA checkpoint_fullfsync=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
)


def connect(path: Path, *, read_only: bool, durability: Durability = "full") -> apsw.Connection:
    """A connection to an existing store file, checked and set up."""
    check_library()
    check_location(path)
    with sqlite_errors(path):
        connection = _open_read_only(path) if read_only else _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            _check_format(connection, path)
            _set_up(connection, durability)
            _require_wal_mode(connection, path, read_only=read_only)
            OPENERS.ready(path, connection)
        except apsw.IOError as error:
            full = disk_full_error(path, connection, error)
            close(path, connection)
            if full is not None:
                raise full from error
            raise
        except BaseException:
            close(path, connection)
            raise
    return connection


def needs_creation(path: Path) -> bool:
    """Whether a file is not there, empty, or left behind by a process that died at birth.

    The driver looks, nobody else: closing any other handle on the file would drop its locks.
    """
    if not path.exists():
        return True
    if path.stat().st_size < _SMALLEST:
        _check_never_a_store(path)
        return True
    check_library()
    with sqlite_errors(path):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            return _is_blank(connection)
        finally:
            close(path, connection)


def _check_never_a_store(path: Path) -> None:
    """Refuse a file that is too short to be a store and was one: making it anew would hide that."""
    index = path.with_name(path.name + ".idx")
    if path.stat().st_size or (index.is_dir() and any(index.glob("*.seg"))):
        raise Corrupt(
            f"{path.name} is no store, or was cut short",
            hint="name another file; if it was a store, restore a backup",
        )


def check_wal_not_orphaned(path: Path) -> None:
    """Refuse a log without its file: SQLite would take it for a leftover, and throw it away."""
    wal = path.with_name(path.name + "-wal")
    lacking = not path.exists() or not path.stat().st_size
    if lacking and wal.exists() and wal.stat().st_size:
        raise Corrupt(
            f"{path.name} is missing or empty, while {wal.name} holds commits of it",
            hint=f"put {path.name} back, or restore a backup of both files; "
            f"to begin anew, move {wal.name} away",
        )


def create(path: Path) -> None:
    """Make an empty store file; what is in it already is left alone. The caller holds the lease."""
    check_library()
    check_location(path)
    fresh = not path.exists()
    with sqlite_errors(path):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            if not _is_blank(connection):
                return
            if fresh:
                path.chmod(0o600)  # SQLite gives its -wal and -shm the same mode
            connection.pragma("journal_mode", "wal")
            for pragma in _PRAGMAS:
                connection.execute(pragma)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(TABLES)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", FORMAT)
            connection.execute("COMMIT")
        except apsw.IOError as error:
            if (full := disk_full_error(path, connection, error)) is not None:
                raise full from error
            raise
        finally:
            close(path, connection)


def _is_blank(connection: apsw.Connection) -> bool:
    count = connection.execute("SELECT count(*) FROM sqlite_schema").get
    return count == 0 and connection.pragma("application_id") == 0


def _open(path: Path, flags: int) -> apsw.Connection:
    connection = OPENERS.open(path, lambda: apsw.Connection(str(path), flags=flags))
    connection.set_busy_handler(_BusyHandler())
    return connection


def close(path: Path, connection: apsw.Connection) -> None:
    """Close a connection that this module opened."""
    OPENERS.close(path, connection)


def _open_read_only(path: Path) -> apsw.Connection:
    """Read without the right to write: beside a live WAL, else as an unchanging file."""
    connection = _open(path, apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  # the read is the test
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        close(path, connection)
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size:
            raise Unavailable(
                f"{path.name} has a write-ahead log that cannot be read without write access here",
                hint="let the writer close the store, or make the directory writable",
            ) from None
        place, flags = f"file:{quote(str(path))}?immutable=1", apsw.SQLITE_OPEN_URI
        flags |= apsw.SQLITE_OPEN_READONLY
        connection = OPENERS.open(path, lambda: apsw.Connection(place, flags=flags))
    return connection


class _BusyHandler:
    """Waits a short, random while for a lock, and gives up after ten seconds."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._since = now
        if now - self._since > BUSY_LIMIT_S:
            return False
        time.sleep(0.0002 + time.monotonic_ns() % 28 * 0.0001)  # spreads those who wait
        return True


def truncate_wal(connection: apsw.Connection, seconds: float) -> bool:
    """Copy the whole log back and cut it; whether the readers of it left within so many seconds."""
    until = time.monotonic() + seconds

    def wait(attempts: int) -> bool:
        del attempts
        time.sleep(0.001)
        return time.monotonic() < until

    connection.set_busy_handler(wait)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_handler(_BusyHandler())
    return True


def _check_format(connection: apsw.Connection, path: Path) -> None:
    found = connection.pragma("application_id")
    if found == EARLIER_APPLICATION_ID:
        raise Unsupported(
            f"{path.name} was written under this project's earlier name",
            hint=f"{BRING_OVER}; the file was not touched",
        )
    if found != APPLICATION_ID:
        raise Unsupported(
            f"{path.name} is not a Memoriter store",
            hint="name another file; this one was not touched",
        )
    found = connection.pragma("user_version")
    if found != FORMAT:
        raise Unsupported(
            f"{path.name} has format {found}, this version reads {FORMAT}",
            hint="upgrade memoriter; the file was not touched",
        )


def _set_up(connection: apsw.Connection, durability: Durability) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    level = _SYNCHRONOUS[durability]
    connection.pragma("synchronous", level)
    for name, wanted in (("synchronous", level), ("secure_delete", 1), ("trusted_schema", 0)):
        if connection.pragma(name) != wanted:
            raise Unsupported(
                f"SQLite does not honour PRAGMA {name}", hint="reinstall apsw from PyPI"
            )


def _require_wal_mode(connection: apsw.Connection, path: Path, *, read_only: bool) -> None:
    """See to it that the file is in WAL mode, without which readers and writers block each other.

    An immutable connection has no mode to tell.
    """
    if is_immutable(connection) or connection.pragma("journal_mode") == "wal":
        return
    if read_only:
        raise Unsupported(
            f"{path.name} was taken out of WAL mode by another program",
            hint="open it once for writing, which puts it back",
        )
    if connection.pragma("journal_mode", "wal") != "wal":
        raise Unavailable(
            f"{path.name} cannot be put back into WAL mode while others use it",
            hint="close it elsewhere and try again",
        )


def is_immutable(connection: apsw.Connection) -> bool:
    """Whether a connection reads the file as one that nobody changes."""
    return bool(connection.open_flags & apsw.SQLITE_OPEN_URI)


def check_library() -> None:
    """Refuse SQLite libraries that can corrupt a WAL file used by several connections."""
    version = _number(apsw.sqlite_lib_version())
    if version < MIN_SQLITE or version == WITHDRAWN_SQLITE:
        raise Unsupported(
            f"SQLite {apsw.sqlite_lib_version()} is not safe for several connections",
            hint="install apsw 3.51.3 or newer (but not 3.52.0)",
        )


def _number(version: str) -> int:
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    return major * 1_000_000 + minor * 1_000 + patch


def check_location(path: Path) -> None:
    """Refuse what is no plain file with one name, and network filesystems, which cannot lock."""
    if path.exists() and not path.is_file():
        raise Unsupported(f"{path} is not a plain file", hint="name another file")
    if path.exists() and path.stat().st_nlink > 1:
        raise Unsupported(
            f"{path} has more than one name (hard links), and each would get a log of its own",
            hint="remove the other names, or copy the file; symbolic links are fine",
        )
    kind = filesystem(path.parent)
    if kind in _NETWORK:
        raise Unsupported(
            f"{path} lies on a network filesystem ({kind}), whose locks cannot be trusted",
            hint="keep the file on a local disk, or use a PostgreSQL store",
        )


def filesystem(folder: Path) -> str:
    """The type of the filesystem that holds a folder; empty where the system does not tell."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        _, mount, fs, *_ = line.split(" ")
        point = mount.replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fs
    return kind


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Generator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except apsw.Error as error:
        _raise(error, path)
    except UnicodeDecodeError as error:  # text that damage has made unreadable
        raise Corrupt(f"{path.name} is damaged: {error}", hint="restore a backup") from error


def disk_full_error(
    path: Path, connection: apsw.Connection, error: apsw.Error
) -> MemoriterError | None:
    """The error for a full disk, where the driver speaks of an I/O error; None if it is none."""
    number = connection.system_errno
    return error_for(number, path, str(error)) if number in DISK_FULL else None


def _raise(error: apsw.Error, path: Path) -> NoReturn:
    for drivers, ours, message, hint in _MEANINGS:
        if isinstance(error, drivers):
            raise ours(message.format(path=path.name, error=error), hint=hint) from error
    raise Unavailable(f"{path.name}: {error}", hint="try again") from error


_Meaning = tuple[tuple[type[apsw.Error], ...], type[MemoriterError], str, str]
_MEANINGS: Final[tuple[_Meaning, ...]] = (
    ((apsw.FullError,), StorageFull, "no space left for {path}", "free some space and try again"),
    ((apsw.BusyError, apsw.LockedError), Unavailable, "{path} is busy", "try again"),
    ((apsw.NotADBError,), Unsupported, "{path} is not a Memoriter store", "name another file"),
    (
        (apsw.CorruptError, apsw.FormatError),
        Corrupt,
        "{path} is damaged: {error}",
        "restore a backup",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        Forbidden,
        "{path} may only be read",
        "check its permissions",
    ),
    (
        (apsw.InterruptError,),
        Unavailable,
        "a read of {path} took too long and was ended",
        "read less at once",
    ),
    (
        (apsw.ConstraintError,),
        Conflict,
        "{path} holds something else already: {error}",
        "open the store again",
    ),
    (
        (apsw.CantOpenError, apsw.IOError),
        Unavailable,
        "{path} cannot be opened or read: {error}",
        "check the disk and the permissions",
    ),
)
"""What the driver's errors mean to a caller, first match first."""
