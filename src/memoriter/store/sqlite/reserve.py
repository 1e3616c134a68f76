"""Disk space set aside, so that records can be forgotten when the disk is full.

Deleting takes space: the transaction goes into the write-ahead log, and what the log holds is then
copied into the file. A file of zeros beside the store (`x.db.reserve`) keeps that much; it is
emptied for a forget that finds the disk full, and filled again afterwards.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

STEP: Final = 256 * 1024
"""Its size is a multiple of this many bytes."""
LIMIT: Final = 8 * 1024**2
"""It never takes more: twice the write-ahead log at which SQLite begins to copy."""


class Reserve:
    """The reserve of one store file."""

    def __init__(self, path: Path) -> None:
        self._store = path
        self._path = path.with_name(path.name + ".reserve")

    def fill(self) -> None:
        """Make it as large as the store, up to `LIMIT`; a disk without space is no error."""
        wal = self._store.with_name(self._store.name + "-wal")
        used = _size(self._store) + _size(wal)
        wanted = min(-(-used // STEP) * STEP, LIMIT)
        kept = _size(self._path)
        if kept >= wanted:
            return
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            handle = os.open(self._path, flags, 0o600)
            try:
                _allocate(handle, wanted)
            except OSError:
                # What was set aside stays: the disk is filling up, and it may be needed next.
                os.ftruncate(handle, kept)
                raise
            finally:
                os.close(handle)

    def release(self) -> None:
        """Give its space back to the disk."""
        with contextlib.suppress(OSError):
            os.truncate(self._path, 0)


def _allocate(handle: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
    else:  # macOS, Windows: blocks are allocated by writing them
        for _ in range(0, size, STEP):
            os.write(handle, bytes(STEP))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
