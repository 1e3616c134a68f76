"""What every durable store computes beside its rows: checked heads, manifests, marks of erasure."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

from memoriter.core.canonical import canonical, checksum
from memoriter.core.errors import Conflict, Corrupt
from memoriter.store.port import Head, Manifest, SegmentRef
from memoriter.store.rows import CommitRow, check_bookkeeping

_log: Final = logging.getLogger(__name__)


@lru_cache(maxsize=256)  # a head is read far more often than it moves
def checked_head(tenant: str, *row: Any) -> Head:
    """The head in a row; Corrupt unless it matches the last commit and chain link.

    The row has the fields of `Head`, then seq, time and checksum of the last commit, then the last
    link.
    """
    head, (seq, time, stored_sum, link) = Head(*row[:5]), row[5:]
    last = (
        CommitRow(0, 0)
        if seq is None
        else check_bookkeeping(tenant, CommitRow(seq, time), stored_sum)
    )
    if (head.seq, head.time, head.link) != (*last, link or b""):
        raise Corrupt(
            f"the log of tenant {tenant!r} is damaged: its head names entry {head.seq}, but"
            " the last commit is another entry",
            hint="the file was damaged or changed from outside; restore a backup",
        )
    return head


def unassigned_position(tenant: str, head: Head) -> Corrupt:
    """The error for records at positions that the head has not assigned."""
    return Corrupt(
        f"tenant {tenant!r} has records at position {head.positions} or later, unassigned",
        hint="the file was damaged or changed from outside; restore a backup",
    )


def manifest_of(tenant: str, index: str, segments: str, floor: int, stored_sum: bytes) -> Manifest:
    """The manifest in a row; a damaged one counts as empty, since it can be built again."""
    if manifest_sum(tenant, index, segments, floor) != stored_sum:
        _log.warning("the list of segments of tenant %r is damaged and not used", tenant)
        return Manifest()
    return Manifest(tuple(SegmentRef(**segment) for segment in json.loads(segments)), floor)


def manifest_row(tenant: str, index: str, manifest: Manifest) -> tuple[int, str, bytes]:
    """A manifest as it is stored: floor, segments, checksum."""
    segments = json.dumps([asdict(segment) for segment in manifest.segments])
    return manifest.floor, segments, manifest_sum(tenant, index, segments, manifest.floor)


def manifest_sum(tenant: str, index: str, segments: str, floor: int) -> bytes:
    """The checksum beside a manifest."""
    return checksum(canonical([tenant, index, segments, floor]))


def erasure_sum(tenant: str, upto: int) -> bytes:
    """The checksum beside the mark of what is erased."""
    return checksum(canonical([tenant, "erasure", upto]))


def require_empty(tenant: str, head: Head) -> None:
    """Raise Conflict if the tenant has been written to."""
    if head.seq:
        raise Conflict(
            f"tenant {tenant!r} is not empty: an export can be loaded only into an empty tenant",
            hint="load the export into a new tenant or a new store",
        )
