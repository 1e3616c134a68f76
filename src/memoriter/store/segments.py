"""Homes of segments: where the published part of an index is kept, beside the log that lists it.

A segment is immutable bytes under a name that ends in the hash of its content, so the same name is
always the same segment. Which ones are in use is the manifest of the log (`Log.publish`). `index/`
writes and reads segments only through `Segments`; a home knows nothing of what is in them.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

from memoriter.core.errors import NotFound, Unavailable
from memoriter.store.fsync import fsync_folder
from memoriter.store.io_errors import os_errors
from memoriter.store.lease import WAIT_LIMIT_S, Lease

_UNFINISHED: Final = ".part"
SUFFIX: Final = ".seg"
Blob = bytes | memoryview | mmap.mmap
"""Bytes of a segment."""


class Segments(Protocol):
    """The segments of all tenants of a store. Safe to use from several threads and processes."""

    def put(self, tenant: str, name: str, parts: Iterable[Blob]) -> None:
        """Keep a segment, durably; one of the same name is the same and is replaced."""
        ...

    def open(self, tenant: str, name: str) -> Blob:
        """The bytes of a segment, mapped or in memory; raises NotFound.

        They stay readable after the segment was dropped.
        """
        ...

    def discard_copy(self, tenant: str, name: str) -> bool:
        """Delete the copy that this machine keeps of a segment, so that `open` fetches it again.

        False if there is none: then `open` reads the segment itself.
        """
        ...

    def list(self, tenant: str) -> Sequence[str]:
        """The names of everything that is kept for a tenant, unfinished puts included."""
        ...

    def drop(self, tenant: str, names: Iterable[str]) -> None:
        """Delete segments, durably; missing ones are ignored."""
        ...

    def turn(self, tenant: str, *, wait: bool) -> AbstractContextManager[bool]:
        """Hold the right to put, publish and drop, one holder over all processes.

        Yields whether it was free; with `wait`, whether it became free within half a minute.
        """
        ...


def missing_segment(name: str) -> NotFound:
    """The error for a segment that is not there."""
    return NotFound(f"index segment {name} is missing; the memories are not affected")


def owned_prefix(tenant: str) -> str:
    """How the names of a tenant's segments begin: the names tell nothing about the tenant."""
    return hashlib.sha256(tenant.encode()).hexdigest()[:8]


class FolderSegments:
    """Segments as files of one folder; the methods are documented in `Segments`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, tenant: str, name: str, parts: Iterable[Blob]) -> None:
        """Write a file, fsync it, then give it its name."""
        del tenant
        path = self.folder / name
        unfinished = path.with_name(name + _UNFINISHED)
        with os_errors(self.folder):
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
                with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as out:
                    for part in parts:
                        out.write(part)
                    out.flush()
                    os.fsync(out.fileno())
                # A new file takes the name, so whoever has mapped an old one keeps what it has.
                unfinished.replace(path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            fsync_folder(self.folder)  # the name too must survive a power cut

    def open(self, tenant: str, name: str) -> Blob:
        """Map a file."""
        del tenant
        try:
            with (self.folder / name).open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError as error:
            raise missing_segment(name) from error

    def discard_copy(self, tenant: str, name: str) -> bool:
        """False: there are no copies."""
        del tenant, name
        return False

    def list(self, tenant: str) -> Sequence[str]:
        """The files whose names begin as those of the tenant do."""
        with os_errors(self.folder):
            files = self.folder.glob(owned_prefix(tenant) + "-*")
            return sorted(each.name for each in files)

    def drop(self, tenant: str, names: Iterable[str]) -> None:
        """Delete files; the folder is synced, so that none comes back."""
        del tenant
        with os_errors(self.folder):
            gone = False
            for name in names:
                (self.folder / name).unlink(missing_ok=True)
                gone = True
            if gone and self.folder.is_dir():
                fsync_folder(self.folder)

    @contextlib.contextmanager
    def turn(self, tenant: str, *, wait: bool) -> Generator[bool]:
        """Hold a lock on `upkeep.lock`: one for all tenants."""
        del tenant
        with os_errors(self.folder):
            self.folder.mkdir(mode=0o700, exist_ok=True)
        lease = Lease(self.folder / "upkeep.lock")
        if not wait:
            with lease.try_held() as taken:
                yield taken
            return
        with contextlib.ExitStack() as stack:
            stack.callback(lease.close)
            try:
                stack.enter_context(lease.held())
            except Unavailable:
                taken = False
            else:
                taken = True
            yield taken


class MemorySegments:
    """Segments in memory, for a store in memory; the methods are documented in `Segments`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], bytes] = {}
        self._turn = threading.Lock()

    def put(self, tenant: str, name: str, parts: Iterable[Blob]) -> None:
        """Keep a copy of the bytes."""
        self._kept[tenant, name] = b"".join(parts)

    def open(self, tenant: str, name: str) -> Blob:
        """The bytes themselves."""
        try:
            return self._kept[tenant, name]
        except KeyError as error:
            raise missing_segment(name) from error

    def discard_copy(self, tenant: str, name: str) -> bool:
        """False: there are no copies."""
        del tenant, name
        return False

    def list(self, tenant: str) -> Sequence[str]:
        """The names that were put for the tenant."""
        return sorted(name for owner, name in list(self._kept) if owner == tenant)

    def drop(self, tenant: str, names: Iterable[str]) -> None:
        """Forget the bytes."""
        for name in names:
            self._kept.pop((tenant, name), None)

    @contextlib.contextmanager
    def turn(self, tenant: str, *, wait: bool) -> Generator[bool]:
        """Hold a lock: only threads of this process can ask."""
        del tenant
        taken = self._turn.acquire(timeout=WAIT_LIMIT_S if wait else 0)
        try:
            yield taken
        finally:
            if taken:
                self._turn.release()
