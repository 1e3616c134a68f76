"""The last acknowledged commit, written down beside the store file.

A file whose write-ahead log was taken away is sound by itself: it ends where it was last copied to.
So each commit is written into the lock file, after it is durable. A file that lacks that commit
has lost it, or is an older copy that was put back.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final, NamedTuple

from memoriter.core.canonical import checksum

_SIZE: Final = 128
_FIELDS: Final = 4


class LastCommit(NamedTuple):
    """A commit: the number of its tenant, its sequence number, and the chain's link after it."""

    tenant: int
    seq: int
    link: bytes


def _sum(text: bytes) -> bytes:
    return checksum(text).hex().encode()


class Witness:
    """The last commit of one store file, beside it. Failing to write or read it is no error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def write(self, commit: LastCommit) -> None:
        """Write a commit down, once it is durable; not synced, since it must survive a kill only.

        After a power cut it is older than the file, never newer.
        """
        text = f"{commit.tenant} {commit.seq} {commit.link.hex()}".encode()
        with contextlib.suppress(OSError):
            if self._handle is None:
                self._handle = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
            os.pwrite(self._handle, (text + b" " + _sum(text)).ljust(_SIZE), 0)

    def clear(self) -> None:
        """Remove it: another file takes the place of the store."""
        with contextlib.suppress(OSError):
            os.truncate(self._path, 0)

    def read(self) -> LastCommit | None:
        """The commit that was written last; None if there is none, or only half of one."""
        try:
            text = self._path.read_bytes()[:_SIZE]
        except OSError:
            return None
        fields = text.split()
        if len(fields) != _FIELDS:
            return None
        if _sum(b" ".join(fields[:-1])) != fields[-1]:
            return None
        return LastCommit(int(fields[0]), int(fields[1]), bytes.fromhex(fields[2].decode()))

    def close(self) -> None:
        """Close the file. Idempotent."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)
