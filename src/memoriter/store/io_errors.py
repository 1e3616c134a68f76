"""What the operating system's errors mean to a caller."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Generator
from pathlib import Path
from typing import Final

from memoriter.core.errors import Forbidden, MemoriterError, StorageFull, Unavailable

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""No space, no quota, or a file as large as it may become."""
_BARRED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def error_for(number: int, path: Path, told: str) -> MemoriterError:
    """Our error for an error number of the system."""
    if number in DISK_FULL:
        return StorageFull(f"no space left for {path.name}", hint="free some space and try again")
    if number in _BARRED:
        return Forbidden(f"{path.name} may not be written: {told}", hint="check its permissions")
    return Unavailable(
        f"{path.name}: {told}", hint="check the disk and the open files, then try again"
    )


@contextlib.contextmanager
def os_errors(path: Path) -> Generator[None]:
    """Turn the system's errors into ours."""
    try:
        yield
    except OSError as error:
        raise error_for(error.errno or 0, path, error.strerror or str(error)) from error
