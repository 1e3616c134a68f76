"""Copies of a store that are not finished: what they are called, and how they are removed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SIDES: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file."""


def restoring(path: Path) -> Path:
    """The copy that a restore makes before it takes the place of this store.

    A restore that was killed leaves it. The next restore, and upkeep of the store, remove it.
    """
    return path.with_name(path.name + ".restore")


def remove_copy(path: Path) -> None:
    """Remove an unfinished copy, if there is one; a folder of that name is not ours."""
    for end in ("", *SIDES):
        if not (own := path.with_name(path.name + end)).is_dir():
            own.unlink(missing_ok=True)
