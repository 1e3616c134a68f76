"""Opens, creates and closes SQLite connections to a store file.

The only module that opens a store file. WAL mode (`_require_wal_mode`) with `synchronous=FULL`
(`_set_up`; NORMAL for `durability="fast"`) makes a commit survive a power cut; `secure_delete`
overwrites what is deleted. SQLite versions with the WAL-reset bug, network filesystems, other
programs' files and newer formats are refused before anything is touched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

import apsw

from memoriter.core.errors import (
    EARLIER_APPLICATION_ID,
    Corrupt,
    Unavailable,
    Unsupported,
    earlier_name_error,
)
from memoriter.store.io_errors import os_errors
from memoriter.store.sqlite.errors import disk_full_error, sqlite_errors
from memoriter.store.sqlite.openers import HEADER, OPENERS
from memoriter.store.sqlite.schema import (
    APPLICATION_ID,
    FORMAT,
    TABLES,
    bring_forward,
    check_current,
    is_older,
)

MIN_SQLITE: Final = 3_051_003
WITHDRAWN_SQLITE: Final = 3_052_000
BUSY_LIMIT_S: Final = 10.0
_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION: Final = slice(68, 72)
"""Where the header of a file has the application id."""
_SMALLEST: Final = 512
"""Bytes of SQLite's smallest page: no database is shorter."""
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
"""Types of network and shared filesystems, as /proc/self/mounts names them."""
Durability = Literal["full", "fast"]
"""`full`: a commit survives a power cut. `fast`: a power cut may lose the commits since the
last checkpoint, the latest first and without damage; a killed process loses nothing either way."""
_SYNCHRONOUS: Final[dict[Durability, int]] = {"full": 2, "fast": 1}
_PRAGMAS: Final = (
    "PRAGMA fullfsync=ON",
    "PRAGMA checkpoint_fullfsync=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA mmap_size=0",
    "PRAGMA temp_store=MEMORY",
)


def connect(
    path: Path, *, read_only: bool, durability: Durability = "full", earlier: bool = False
) -> apsw.Connection:
    """A connection to an existing store file, checked and configured.

    With `earlier` it may have an earlier format, if that can be brought forward. Raises Unsupported
    for a file, place or library that is not supported; otherwise as `sqlite_errors` says.
    """
    check_library()
    check_location(path)
    if read_only:
        _check_header(path)
    with sqlite_errors(path):
        connection = _open_read_only(path) if read_only else _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            _check_format(connection, path, earlier=earlier)
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


def needed_setup(path: Path) -> Callable[[Path], None] | None:
    """What a file needs before it can be written to: `create`, `migrate` or None.

    A file is created if it is missing, empty, or was left by a process that died while creating
    it, and migrated if it has an earlier format. Raises Corrupt if it looks like a store that was
    cut short, Unsupported if it cannot be brought forward.
    """
    if not path.exists():
        return create
    if path.stat().st_size < _SMALLEST:
        _check_never_a_store(path)
        return create
    check_library()
    # Looked at through SQLite, not open(): closing any other handle would drop our POSIX locks.
    with sqlite_errors(path):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            if _is_blank(connection):
                return create
            ours = connection.pragma("application_id") == APPLICATION_ID
            version = connection.pragma("user_version")
            return migrate if ours and is_older(version, path.name) else None
        finally:
            close(path, connection)


def migrate(path: Path) -> None:
    """Bring a store file of an earlier format forward. The caller holds the lease."""
    with sqlite_errors(path):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            for pragma in (*_PRAGMAS, "PRAGMA synchronous=FULL"):
                connection.execute(pragma)
            bring_forward(connection, path.name)
        finally:
            close(path, connection)


def _check_never_a_store(path: Path) -> None:
    """Raise Corrupt for a file that is too short for a store but was one: creating hides that."""
    index = path.with_name(path.name + ".idx")
    if path.stat().st_size or (index.is_dir() and any(index.glob("*.seg"))):
        raise Corrupt(
            f"{path.name} is too short for a store: it never was one, or it was truncated",
            hint="name another file; if it was a store, restore a backup",
        )


def check_wal_not_orphaned(path: Path) -> None:
    """Raise Corrupt for a write-ahead log without its database file."""
    # SQLite would take the WAL for a leftover and delete it, and with it committed writes.
    wal = path.with_name(path.name + "-wal")
    lacking = not path.exists() or not path.stat().st_size
    if lacking and wal.exists() and wal.stat().st_size:
        raise Corrupt(
            f"{path.name} is missing or empty, but its write-ahead log {wal.name} has commits",
            hint=f"put {path.name} back, or restore a backup of both files; "
            f"to start with an empty store, move {wal.name} away",
        )


def create(path: Path) -> None:
    """Create an empty store file, unless it has tables already. The caller holds the lease."""
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
            # One transaction: a crash leaves a blank file, which the next opener creates again.
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
    """A connection without write access: through the WAL if possible, else `immutable`."""
    sides = [path.with_name(path.name + end) for end in ("-wal", "-shm")]
    if not os.access(path, os.W_OK) and not any(side.exists() for side in sides):
        return _open_immutable(path)  # a log that this user made might be closed to the writer
    connection = _open(path, apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  # the read is the test
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        close(path, connection)
        wal = sides[0]
        if wal.exists() and wal.stat().st_size:
            raise Unavailable(
                f"{path.name} cannot be read: its write-ahead log needs write access to the folder",
                hint="let the writer close the store, or make the folder writable",
            ) from None
        connection = _open_immutable(path)
    except BaseException:
        close(path, connection)
        raise
    return connection


def _open_immutable(path: Path) -> apsw.Connection:
    """A connection without locks: whoever reads by it checks whether the file changed meanwhile."""
    place, flags = f"file:{quote(str(path))}?immutable=1", apsw.SQLITE_OPEN_URI
    flags |= apsw.SQLITE_OPEN_READONLY
    return OPENERS.open(path, lambda: apsw.Connection(place, flags=flags))


class _BusyHandler:
    """SQLite's busy handler: sleeps briefly and gives up after `BUSY_LIMIT_S` seconds."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._since = now
        if now - self._since > BUSY_LIMIT_S:
            return False
        time.sleep(0.0002 + time.monotonic_ns() % 28 * 0.0001)  # with jitter
        return True


def truncate_wal(connection: apsw.Connection, seconds: float) -> bool:
    """Checkpoint the write-ahead log and truncate it; False if readers kept it for `seconds`."""
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


def _check_header(path: Path) -> None:
    """Raise for a file of another program before SQLite opens it, which would leave files beside.

    Only without a write-ahead log: with one, the header alone does not say what the file is.
    """
    wal = path.with_name(path.name + "-wal")
    if not path.is_file() or (wal.exists() and wal.stat().st_size):
        return
    with os_errors(path):
        header = OPENERS.header(path)
    if header.startswith(_MAGIC) and len(header) == HEADER:
        _check_application(int.from_bytes(header[_APPLICATION], "big"), path)


def _check_format(connection: apsw.Connection, path: Path, *, earlier: bool) -> None:
    _check_application(connection.pragma("application_id"), path)
    check = is_older if earlier else check_current
    check(connection.pragma("user_version"), path.name)


def _check_application(application: int, path: Path) -> None:
    if application == EARLIER_APPLICATION_ID:
        raise earlier_name_error(path.name)
    if application != APPLICATION_ID:
        raise Unsupported(
            f"{path.name} is not a Memoriter store",
            hint="name another file; this one was not touched",
        )


def _set_up(connection: apsw.Connection, durability: Durability) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    level = _SYNCHRONOUS[durability]
    connection.pragma("synchronous", level)
    # SQLite ignores pragmas that it was built without, so those that we rely on are read back.
    for name, wanted in (("synchronous", level), ("secure_delete", 1), ("trusted_schema", 0)):
        if connection.pragma(name) != wanted:
            raise Unsupported(
                f"this build of SQLite ignores PRAGMA {name}, which the store relies on",
                hint="reinstall apsw from PyPI",
            )


def _require_wal_mode(connection: apsw.Connection, path: Path, *, read_only: bool) -> None:
    """Put the file into WAL mode, without which readers and writers block each other.

    Raises Unsupported or Unavailable if that is not possible. An immutable connection has no mode.
    """
    if is_immutable(connection) or connection.pragma("journal_mode") == "wal":
        return
    if read_only:
        raise Unsupported(
            f"{path.name} is no longer in WAL mode, because another program changed that",
            hint="run `memoriter maintain`, or open the store without read_only: both set WAL mode"
            " again",
        )
    if connection.pragma("journal_mode", "wal") != "wal":
        raise Unavailable(
            f"{path.name} cannot be set to WAL mode again while others use it",
            hint="close it in all other programs, then try again",
        )


def is_immutable(connection: apsw.Connection) -> bool:
    """Whether a connection was opened with `immutable=1`, which takes no locks."""
    return bool(connection.open_flags & apsw.SQLITE_OPEN_URI)


def check_library() -> None:
    """Raise Unsupported for SQLite versions that can corrupt a WAL shared by connections."""
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
    """Raise Unsupported unless the path is a regular file with one name on a local filesystem."""
    if path.exists() and not path.is_file():
        raise Unsupported(f"{path} is not a regular file", hint="name another file")
    if path.exists() and path.stat().st_nlink > 1:
        raise Unsupported(
            f"{path} has more than one name (hard links), and each name would get its own"
            " write-ahead log",
            hint="remove the other names, or copy the file; symbolic links are fine",
        )
    kind = filesystem(path.parent)
    if kind in _NETWORK:
        raise Unsupported(
            f"{path} lies on a network filesystem ({kind}), whose locks cannot be trusted",
            hint="keep the file on a local disk",
        )


def filesystem(folder: Path) -> str:
    """The filesystem type of a folder; empty on systems without /proc."""
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
        if inside and len(point) >= len(best):  # of mounts on one point, the last is on top
            best, kind = point, fs
    return kind
