"""Translates errors of the operating system into Memoriter's own.

Used wherever files are touched without SQLite: the lease, segment files, exports.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator
from pathlib import Path
from typing import Final

from memoriter.core.errors import Forbidden, MemoriterError, StorageFull, Unavailable

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""No space, no quota, or a file as large as it may become."""
_DENIED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def error_for(number: int, path: Path, message: str) -> MemoriterError:
    """The error to raise for an `errno` about a path: StorageFull, Forbidden or Unavailable."""
    if number in DISK_FULL:
        return StorageFull(f"no space left for {path.name}", hint="free some space and try again")
    if number in _DENIED:
        return Forbidden(
            f"cannot write {path}: {message}", hint=f"check the permissions of {path.parent}"
        )
    return Unavailable(
        f"{path}: {message}", hint="check the disk and the open files, then try again"
    )


@contextlib.contextmanager
def os_errors(path: Path) -> Generator[None]:
    """Raise OSErrors of the block as the errors of `error_for`."""
    try:
        yield
    except OSError as error:
        raise error_for(error.errno or 0, path, error.strerror or str(error)) from error
