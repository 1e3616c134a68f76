"""Keeping an index small and quick to open: the tail becomes a published segment, segments merge.

Done by whoever wrote past a threshold, off the caller's path, by one process at a time (a lease
that dies with its holder). A segment is written, fsynced, then published in one transaction of the
store; old files are unlinked, never changed, so other processes keep what they have mapped.
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
"""A tail of this many rows becomes a segment file; a smaller store has none."""


def keep_up(
    index: TenantIndex, log: Log, tenant: str, folder: Path, bounds: tuple[int, int]
) -> bool:
    """Publish the tail if it is long enough, and merge what is due; whether anything changed.

    `bounds` are the floor (ended rows before it are dropped) and the rows that make a tail long
    enough.
    """
    with os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    with try_lock(folder / "upkeep.lock") as mine:
        return mine and _keep_up(index, log, tenant, folder, bounds)


def _keep_up(
    index: TenantIndex, log: Log, tenant: str, folder: Path, bounds: tuple[int, int]
) -> bool:
    floor, flush_rows = bounds
    index.view()
    with index.lock:
        old, used, tail, segments = index.stored, index.manifest, index.tail, index.segments
    if sum(map(len, tail)) < max(flush_rows, 1):
        return False
    floor = max(floor, used.floor)
    refs = list(used.segments)
    run = due([*(ref.rows for ref in refs), sum(map(len, tail))])
    start = len(refs) if run is None else run.start
    merged = merge(segments[start:], floor)
    ref = _write(merged, (tenant, index.name), folder)
    new = Manifest((*refs[:start], ref), floor)
    published = False
    try:
        published = log.publish(tenant, index.name, old, new)
    finally:
        if not published:
            (folder / ref.name).unlink()
    if not published:
        return False
    for gone in set(old.segments) - set(new.segments):
        (folder / gone.name).unlink(missing_ok=True)
    index.view()
    return True


def _write(segment: Segment, owner: tuple[str, str], folder: Path) -> SegmentRef:
    with os_errors(folder):
        name = save_segment(segment, folder, owner)
    return SegmentRef(name, segment.first, segment.last, len(segment))
