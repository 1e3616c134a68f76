"""Files that hold memories: readable by their owner alone.

A file that exists already keeps its mode: whoever made it decided who may read it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Final

from memoriter.core.errors import InputError

PRIVATE: Final = 0o600
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)


def write_private(path: Path, content: bytes, begins: tuple[bytes, ...]) -> None:
    """Write a file, whole or not at all, through a link to one; raises OSError.

    An earlier file of the kind, which begins in one of these ways, is replaced. Raises InputError
    for any other that exists: no receipt takes the place of a store or of an export.
    """
    check_replaceable(path)
    target = Path(os.path.realpath(path))
    with contextlib.suppress(FileNotFoundError), target.open("rb") as known:
        beginning = known.read(max(map(len, begins)))
        if beginning and not beginning.startswith(begins):
            raise InputError(f"{path} exists and holds something else", hint="name another file")
    # A name of its own: two writers of one file must not meet.
    number, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as out:
            out.write(content)
        keep_mode(Path(name), target)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(target: Path) -> Generator[BinaryIO]:
    """A file to write, which takes the place of the target at the end of the block.

    It is a file beside the target until then: if the block fails, the target is as it was. Raises
    InputError for a target that is not a file.
    """
    check_replaceable(target)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)  # left by a process that died; it may have another mode
    try:
        with os.fdopen(os.open(part, _FLAGS | os.O_EXCL, PRIVATE), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        keep_mode(part, target)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def check_replaceable(target: Path) -> None:
    """Raise InputError for a folder, a device or a pipe: a file must not take its place."""
    if target.exists() and not target.is_file():
        raise InputError(
            f"{target} is a folder or a device, not a file", hint="name a file, or a new one"
        )


def keep_mode(part: Path, target: Path) -> None:
    """Give a file the mode of the one that it is about to replace, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        part.chmod(stat.S_IMODE(target.stat().st_mode))
