"""Index upkeep: publishes the in-memory tail as a segment and merges published segments.

`IndexCache` calls `keep_up` on a background thread once enough was written, and `maintain` on
request. A home gives one process at a time its turn. A segment is put into the home, durably, then
published in one transaction of the store; what no manifest lists is dropped, never changed, so
other processes keep what they have mapped. `erase` takes forgotten records out of what is
published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final

import numpy as np

from memoriter.core.errors import Corrupt
from memoriter.core.lazy_dataclass import dataclass
from memoriter.index.checked import SEGMENT
from memoriter.index.file import load_segment, save_segment
from memoriter.index.merge import FACTOR, due, merge
from memoriter.index.segment import Segment
from memoriter.index.tenant import TenantIndex
from memoriter.store.port import Log, Manifest
from memoriter.store.segments import Segments

FLUSH_ROWS: Final = 8192
"""A tail of this many rows is published as a segment; smaller stores have none."""
STEP_ROWS: Final = 2048
"""A process that closes the store publishes in steps of at least so many rows: where each process
is ended early, every one of them still gets on."""
_DAMAGES: Final = 8
"""Damaged segments that one run works around; where more turn up, the disk is failing."""


@dataclass(frozen=True, slots=True)
class UpkeepTask:
    """What upkeep works on, and how: for an index, the log and the home of its segments."""

    log: Log
    home: Segments
    pace: Callable[[], None]
    wait: bool
    """Whether to wait while another process is at it."""
    small: int = 0
    """The newest segments that have at most so many rows together become one."""


def keep_up(task: UpkeepTask, index: TenantIndex, floor: int, flush_rows: int) -> bool:
    """Publish a tail of at least `flush_rows` rows, merging what is due; whether anything changed.

    Rows that ended at or before `floor` are dropped. If a published segment is damaged or missing,
    the whole index is published anew, however small. Does nothing if another process is at it,
    unless it ends while this one waits.
    """
    with task.home.turn(index.tenant, wait=task.wait) as taken:
        if not taken:
            return False
        changed, more, damages = False, True, 0
        step = max(flush_rows, FLUSH_ROWS if task.wait else STEP_ROWS)
        while more:
            more = index.advance(step)
            try:
                published = _keep_up(task, index, floor, flush_rows)
            except Corrupt as damage:
                damages += 1
                if damage.field != SEGMENT or damages > _DAMAGES:
                    raise
                # The index has noticed: from now on it reads the log instead.
                published, more = False, True
            changed |= published
        sweep(task.log, task.home, index.tenant)
        return changed


def _keep_up(task: UpkeepTask, index: TenantIndex, floor: int, flush_rows: int) -> bool:
    """Publish the tail, if it is long enough, merging what is due; whether anything changed."""
    log, home = task.log, task.home
    with index.lock:
        old, used, tail, segments = index.stored, index.manifest, index.tail, index.segments
    refs = list(used.segments)
    sizes = [*(ref.rows for ref in refs), *([sum(map(len, tail))] if tail else [])]
    run = due(sizes, small=task.small)
    apart = _first_apart(segments, len(refs))
    publishes = old != used or apart is not None or _rows_of(tail) >= max(flush_rows, 1)
    if not publishes and (tail or run is None):
        return False
    # The floor never goes back: what a merge dropped below it is gone.
    floor = max(floor, used.floor)
    start = min(len(refs) if run is None else run.start, len(refs) if apart is None else apart)
    ref = save_segment(
        merge(segments[start:], floor, pace=task.pace, streamed=True), home, index.owner
    )
    task.pace()
    # Opened before it is published: checking its bytes under the index's lock would stop readers.
    index.ready = {ref.name: load_segment(home, ref, index.owner)}
    # Order matters: a segment is durable before a manifest names it, and dropped only after no
    # manifest names it. A crash in between leaves an unused one, which the next `sweep` drops.
    published = log.publish(index.tenant, index.name, old, Manifest((*refs[:start], ref), floor))
    index.take_over()
    index.ready = {}
    return published


def _first_apart(segments: Sequence[Segment], published: int) -> int | None:
    """The first published segment that is to be merged with the vectors of its rows.

    They were computed later, nearly all of them by now, and are many enough to be worth it.
    """
    every = [segment.late_by(segment.last) for segment in segments]
    late = np.concatenate([np.zeros(0, np.int64), *every])
    for n, segment in enumerate(segments[:published]):
        bare = segment.rows[~segment.embedded]
        moves = int(np.isin(bare, late).sum())
        if (
            moves * FACTOR >= max(len(segment), FLUSH_ROWS)
            and (bare.size - moves) * FACTOR <= moves
        ):
            return n
    return None


def _rows_of(tail: Sequence[Segment]) -> int:
    """How many rows a tail counts as: its own, or half its entries if it has many links."""
    return max(sum(map(len, tail)), unread_records(tail[0].first, tail[-1].last)) if tail else 0


def unread_records(after: int, upto: int) -> int:
    """About how many records a part of the log has: a record often has a vector or a link too."""
    return (upto - after) // 2


def sweep(log: Log, home: Segments, tenant: str) -> None:
    """Drop what no manifest of the tenant lists, and list nothing that is not there.

    The caller has its turn.
    """
    names = set(home.list(tenant))
    listed: set[str] = set()
    for index, manifest in log.manifests(tenant).items():
        there = tuple(takewhile(lambda ref: ref.name in names, manifest.segments))
        if there != manifest.segments:
            log.publish(tenant, index, manifest, Manifest(there, manifest.floor if there else 0))
        listed |= {ref.name for ref in there}
    home.drop(tenant, names - listed)
