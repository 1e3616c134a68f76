"""fsync of files and folders, for what SQLite does not sync by itself.

The SQLite store syncs the folder of a new write-ahead log and the log of a retried commit; the
index syncs the folder of a new segment file.
"""

from __future__ import annotations

import os
from pathlib import Path


def fsync_folder(folder: Path) -> None:
    """Make the names of new files in a folder durable; OSError where that fails."""
    # Syncing a file keeps its bytes, not its name: after a power cut it may not be in the folder.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fsync_file(path: Path) -> None:
    """Make the contents of a file durable; a missing file is ignored."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
