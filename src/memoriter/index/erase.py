"""Erases forgotten records from the files of a store.

A forget hides a record at once: its rows leave the log, and every view drops it. Its bytes are then
still in published segments, which hold its words, and in the files of the log, which may hold
copies of what was deleted. `erase` rewrites the segments and then has the log clean its own files
(`Log.scrub`), which also marks the erasure as done, last of all: after a crash it begins again.
"""

from __future__ import annotations

import logging
from typing import Final

import numpy as np

from memoriter.core.errors import Corrupt, StorageFull
from memoriter.index.file import IndexOwner, load_segment, save_segment
from memoriter.index.merge import Gone, merge
from memoriter.index.segment import Segment
from memoriter.index.upkeep import sweep
from memoriter.store.port import Log, Manifest, SegmentRef
from memoriter.store.segments import Segments

_log: Final = logging.getLogger(__name__)


def erase(log: Log, home: Segments, tenant: str, *, wait: bool) -> bool:
    """Erase what was forgotten so far; False if another process is at it, or a reader prevents it.

    Segments of every index of the tenant are rewritten, also of indexes that this process cannot
    read with. With `wait`, waits for another process.
    """
    if not log.unerased(tenant).count:
        return True
    with home.turn(tenant, wait=wait) as taken:
        if not taken:
            return False
        unerased = log.unerased(tenant)
        gone = Gone(np.array(unerased.rows, np.int64), np.array(unerased.positions, np.int64))
        for index in log.manifests(tenant):
            while not _rewritten(log, home, IndexOwner(tenant, index), gone):
                pass  # published meanwhile by somebody who takes no turns: look again
        sweep(log, home, tenant)
        return log.scrub(tenant, unerased.upto)


def _rewritten(log: Log, home: Segments, owner: IndexOwner, gone: Gone) -> bool:
    """Publish the segments of an index without the forgotten records; False if it changed."""
    old = log.manifest(owner.tenant, owner.index)
    refs: list[SegmentRef] = []
    try:
        for ref in old.segments:
            segment = load_segment(home, ref, owner)
            clean = _touches(segment, gone)
            refs.append(save_segment(merge([segment], 0, gone), home, owner) if clean else ref)
    except (Corrupt, StorageFull) as error:
        # It and all after it leave the manifest: an index reads from the log what it does not list.
        # So a full disk does not prevent erasing.
        _log.warning("%s; erasing drops it, to be built again", error.message)
    new = Manifest(tuple(refs), old.floor if refs else 0)
    return new == old or log.publish(owner.tenant, owner.index, old, new)


def _touches(segment: Segment, gone: Gone) -> bool:
    """Whether anything of these records is in a segment."""
    rows = (segment.rows, segment.arrays["vectors.rows"], segment.arrays["vectors.none.rows"])
    ends = (segment.arrays["edges.sources"], segment.arrays["edges.targets"])
    return any(np.isin(each, gone.rows).any() for each in rows) or any(
        np.isin(each, gone.positions).any() for each in ends
    )
