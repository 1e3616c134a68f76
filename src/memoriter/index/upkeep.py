"""Index upkeep: publishes the in-memory tail as a segment file and merges segment files.

`IndexCache` calls `keep_up` on a background thread once enough was written, and `maintain` on
request. A file lock lets one process do it at a time. A segment is written, fsynced, then published
in one transaction of the store; old files are unlinked, never changed, so other processes keep what
they have mapped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memoriter.index.file import save_segment
from memoriter.index.merge import due, merge
from memoriter.index.segment import Segment
from memoriter.index.tenant import TenantIndex
from memoriter.store.io_errors import os_errors
from memoriter.store.lease import try_lock
from memoriter.store.port import Log, Manifest, SegmentRef

FLUSH_ROWS: Final = 8192
"""A tail of this many rows is published as a segment file; smaller stores have no file."""


def keep_up(index: TenantIndex, log: Log, folder: Path, floor: int, flush_rows: int) -> bool:
    """Publish a tail of at least `flush_rows` rows, merging what is due; whether anything changed.

    Rows that ended at or before `floor` are dropped. Does nothing if another process is at it.
    """
    with os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    with try_lock(folder / "upkeep.lock") as taken:
        return taken and _keep_up(index, log, folder, floor, flush_rows)


def _keep_up(index: TenantIndex, log: Log, folder: Path, floor: int, flush_rows: int) -> bool:
    index.view()  # catches up with the log
    with index.lock:
        old, used, tail, segments = index.stored, index.manifest, index.tail, index.segments
    if sum(map(len, tail)) < max(flush_rows, 1):
        return False
    # The floor never goes back: what a merge dropped below it is gone.
    floor = max(floor, used.floor)
    refs = list(used.segments)
    run = due([*(ref.rows for ref in refs), sum(map(len, tail))])
    start = len(refs) if run is None else run.start
    merged = merge(segments[start:], floor)
    ref = _write(merged, (index.tenant, index.name), folder)
    new = Manifest((*refs[:start], ref), floor)
    # Order matters: the file is synced before the manifest names it, and old files are deleted only
    # after the manifest no longer names them. A crash in between leaves an unused file at worst.
    published = False
    try:
        published = log.publish(index.tenant, index.name, old, new)
    finally:
        if not published:
            (folder / ref.name).unlink()
    if not published:
        return False
    for unused in set(old.segments) - set(new.segments):
        (folder / unused.name).unlink(missing_ok=True)
    index.view()  # takes the published segments over
    return True


def _write(segment: Segment, owner: tuple[str, str], folder: Path) -> SegmentRef:
    with os_errors(folder):
        name = save_segment(segment, folder, owner)
    return SegmentRef(name, segment.first, segment.last, len(segment))
