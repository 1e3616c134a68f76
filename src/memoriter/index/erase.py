"""Erases forgotten records from the files of a store.

A forget hides a record at once: its rows leave the log, and every view drops it. Its bytes are then
still in published segments, which hold its words, and in the files of the log, which may hold
copies of what was deleted. `erase` rewrites the segments and then has the log clean its own files
(`Log.scrub`), which also marks the erasure as done, last of all: after a crash it begins again.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import Final

import numpy as np

from memoriter.core.errors import Corrupt, StorageFull
from memoriter.index.file import IndexOwner, load_segment, save_segment
from memoriter.index.merge import Gone, merge
from memoriter.index.segment import Segment
from memoriter.index.tenant import TenantIndex
from memoriter.index.upkeep import UpkeepTask, sweep
from memoriter.store.port import Manifest, SegmentRef

_log: Final = logging.getLogger(__name__)


def erase(task: UpkeepTask, tenant: str, indexes: Sequence[TenantIndex]) -> bool:
    """Erase what was forgotten so far; False if another process is at it, or a reader prevents it.

    Segments of every index of the tenant are rewritten, also of indexes that this process cannot
    read with. `indexes` are those in use: they take the new segments over.
    """
    log, home = task.log, task.home
    if not log.unerased(tenant).count:
        return True
    with home.turn(tenant, wait=task.wait) as taken:
        if not taken:
            return False
        unerased = log.unerased(tenant)
        gone = Gone(np.array(unerased.rows, np.int64), np.array(unerased.positions, np.int64))
        used = {each.name: each for each in indexes}
        for index in log.manifests(tenant):
            while not _rewritten(task, IndexOwner(tenant, index), gone, used.get(index)):
                pass  # published meanwhile by somebody who takes no turns: look again
        sweep(log, home, tenant)
        return log.scrub(tenant, unerased.upto)


def _rewritten(task: UpkeepTask, owner: IndexOwner, gone: Gone, index: TenantIndex | None) -> bool:
    """Publish the segments of an index without the forgotten records; False if it changed."""
    old = task.log.manifest(owner.tenant, owner.index)
    refs: list[SegmentRef] = []
    ready: dict[str, Segment] = {}
    try:
        for ref in old.segments:
            segment = load_segment(task.home, ref, owner)
            task.pace()
            if not _touches(segment, gone):
                refs.append(ref)
                continue
            clean = save_segment(
                merge([segment], 0, gone, task.pace, streamed=True), task.home, owner
            )
            refs.append(clean)
            if index is not None:
                ready[clean.name] = load_segment(task.home, clean, owner)
    except (Corrupt, StorageFull) as error:
        # It and all after it leave the manifest: an index reads from the log what it does not list.
        # So a full disk does not prevent erasing.
        _log.warning("%s; erasing drops it, to be built again", error.message)
    new = Manifest(tuple(refs), old.floor if refs else 0)
    if new == old:
        return True
    if index is None:
        return task.log.publish(owner.tenant, owner.index, old, new)
    index.ready = ready
    try:
        return task.log.publish(owner.tenant, owner.index, old, new)
    finally:
        with contextlib.suppress(Corrupt):  # told to whoever asks it
            index.view()  # takes the new segments over, so that no old one stays mapped
        index.ready = {}


def _touches(segment: Segment, gone: Gone) -> bool:
    """Whether anything of these records is in a segment."""
    rows = (segment.rows, segment.arrays["vectors.rows"], segment.arrays["vectors.none.rows"])
    ends = (segment.arrays["edges.sources"], segment.arrays["edges.targets"])
    return any(np.isin(each, gone.rows).any() for each in rows) or any(
        np.isin(each, gone.positions).any() for each in ends
    )
