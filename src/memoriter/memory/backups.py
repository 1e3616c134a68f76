"""Runs `Memory.backup` and `memoriter.restore`: a copy, its verification, a rename at the end."""

from __future__ import annotations

import os
from pathlib import Path

from memoriter.core.errors import Conflict, Corrupt, InputError, NotFound, Unsupported
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.private_file import check_replaceable, keep_mode
from memoriter.core.shown import counted, shown
from memoriter.memory.engine import Engine
from memoriter.memory.opening import open_memory
from memoriter.memory.places import is_address
from memoriter.store.fsync import fsync_folder
from memoriter.store.io_errors import os_errors
from memoriter.store.sqlite.backup import copy_store, replace_store
from memoriter.store.sqlite.store import Sqlite
from memoriter.store.sqlite.unfinished import remove_copy, restoring
from memoriter.write.doctor import Checkup
from memoriter.write.progress import ProgressCallback, show_progress


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a whole store, of all its tenants."""

    path: str
    size: int
    """Bytes of its file."""
    checkup: Checkup | None = None
    """What was found when it was verified; None if it was not."""

    def __repr__(self) -> str:
        state = "not verified" if self.checkup is None else "verified"
        return shown(f"Backup {Path(self.path).name}", f"{counted(self.size, 'byte')}, {state}")

    def to_dict(self) -> dict[str, object]:
        """The copy as plain data."""
        return {
            "path": self.path,
            "size": self.size,
            "verified": None if self.checkup is None else self.checkup.sound,
            "tenants": None if self.checkup is None else self.checkup.tenants,
            "entries": None if self.checkup is None else self.checkup.entries,
        }


def write_backup(
    engine: Engine,
    target: Path,
    *,
    verify: bool,
    show: bool | ProgressCallback,
) -> Backup:
    """Copy the store of an engine to a file, which appears when it is whole; see `Memory.backup`.

    Raises Unsupported for a store in memory, InputError for a file of the store itself, Corrupt if
    the copy is verified and damaged.
    """
    log = engine.log
    if not isinstance(log, Sqlite):
        raise Unsupported(
            "backup: this memory is not kept in a file, so there is no file to copy",
            hint="write the tenant to a file with `export`; for PostgreSQL use its own tools, such"
            " as pg_dump",
        )
    log.check()
    target = Path(os.path.realpath(target.expanduser()))
    if target.parent == log.path.parent and target.name.startswith(log.path.name):
        raise InputError(
            f"{target.name}: names that begin with {log.path.name} are reserved for the store",
            hint="choose another name or folder",
        )
    _check_folder(target, "path")
    part = target.with_name(target.name + ".part")
    try:
        _copied(log.path, part, show)
        checkup = verified_copy(part) if verify else None
        with os_errors(target):
            keep_mode(part, target)
            part.replace(target)
            fsync_folder(target.parent)
    finally:
        remove_copy(part)
    return Backup(str(target), target.stat().st_size, checkup)


def restore(
    backup: str | Path,
    store: str | Path,
    *,
    force: bool = False,
    progress: bool | ProgressCallback = False,
) -> Backup:
    """Verify a backup and put it in the place of a store; if anything fails, the store is kept.

    Raises Conflict if the store exists and `force` is not given, Corrupt if the backup is damaged,
    Unavailable if another process has the store open, Unsupported if the store is on a server.

    Arguments:
        backup: A file that `Memory.backup` wrote.
        store: The path of the store to make.
        force: Replace an existing store.
        progress: True for a progress bar, or a function of the pages copied so far.

    """
    if is_address(store):
        raise Unsupported(
            "restore: this store is on a server, so a backup file cannot replace it",
            hint="a backup is itself a store: `memoriter copy` can copy it into an empty database",
        )
    source, target = (Path(os.path.realpath(Path(each).expanduser())) for each in (backup, store))
    if not source.is_file():
        raise NotFound(f"there is no backup at {source}", hint="check the path", field="backup")
    if source == target:
        raise InputError(
            f"the backup and the store are the same file: {target}",
            hint="give another path for the store",
            field="store",
        )
    _check_folder(target, "store")
    if not force and target.exists() and target.stat().st_size:
        raise Conflict(
            f"{target} exists already",
            hint="name another file, or use the option `force` to replace this store",
            field="store",
        )
    part = restoring(target)
    try:
        _copied(source, part, progress)
        checkup = verified_copy(part)
        replace_store(target, part)
    finally:
        remove_copy(part)
    return Backup(str(target), target.stat().st_size, checkup)


def _check_folder(target: Path, field: str) -> None:
    if not target.parent.is_dir():
        hint = f"make it first: mkdir -p {target.parent}"
        raise NotFound(f"there is no folder {target.parent}", hint=hint, field=field)
    check_replaceable(target)


def _copied(source: Path, part: Path, show: bool | ProgressCallback) -> None:  # noqa: FBT001  # passed on
    """Copy a store page by page, and show how far it is."""
    with show_progress(show, "pages") as done:
        copy_store(source, part, lambda pages, _: done(pages))


def verified_copy(path: Path) -> Checkup:
    """The checkup of a copy; raises Corrupt if a record is damaged."""
    with open_memory(path, read_only=True, embedder=None) as memory:
        checkup = memory.verify_store()
    if checkup.problems:
        raise Corrupt(
            f"the copy of the store is damaged and was not kept: {checkup.problems[0]}",
            hint="for details, run `memoriter doctor` on the file that was copied; an earlier"
            " backup may be undamaged",
        )
    return checkup
