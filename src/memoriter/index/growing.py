"""The newest segment of the tail, which grows: it is built anew with each small part of the log.

Building a segment of a few dozen records takes about as long as building one of a single record, so
records that are written one by one share a segment, and searches read one instead of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.word_table import WordTable
from memoriter.embed.port import TokenTable
from memoriter.index.build import build
from memoriter.index.log_arrays import Derivation
from memoriter.index.segment import Segment
from memoriter.store.port import Delta

MOST: Final = 64
"""So many entries of the log at most are built together; a record with its vector is two."""


class LogPart(NamedTuple):
    """A part of the log with what follows from its texts and from the rows before it."""

    delta: Delta
    words: WordTable
    tokens: TokenTable
    """The kin-table tokens of every record."""
    derived: Derivation
    births: NDArray[np.int64]
    """For each record version the row of its record's first version."""
    ended: NDArray[np.int64]
    """The rows that this part ends, and the sequence number at which each ends."""
    ends: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GrowingSegment:
    """A segment, and the parts of the log that it was built of; none if it must not grow."""

    segment: Segment
    parts: tuple[LogPart, ...]

    def has_room_for(self, part: LogPart) -> bool:
        """Whether a part that follows in the log can be added."""
        return bool(self.parts) and part.delta.upto - self.segment.first <= MOST


def grown(known: GrowingSegment | None, part: LogPart, after: int) -> GrowingSegment:
    """The segment of a part of the log after `after`; with what `known` has, if that has room."""
    parts = (part,)
    if known is not None and known.has_room_for(part):
        parts, after = (*known.parts, part), known.segment.first
    segment = build(
        after,
        _joined([each.delta for each in parts]),
        WordTable.joined([each.words for each in parts]),
        TokenTable.joined([each.tokens for each in parts]),
        derived={row: vector for each in parts for row, vector in each.derived.items()},
    )
    rows = np.concatenate([each.ended for each in parts])
    ends = np.concatenate([each.ends for each in parts])
    segment.end_rows(rows, ends)
    # Ends of earlier rows are kept in the segment as well: published files are never changed, so
    # the index must be able to apply them again.
    before = rows <= after
    segment.arrays["events.rows"] = rows[before]
    segment.arrays["events.ends"] = ends[before]
    segment.arrays["born"] = np.concatenate([each.births for each in parts])
    # What was forgotten must not be kept for later, and a long part is not worth building again.
    keeps = part.delta.upto - after <= MOST and not part.delta.tombs
    return GrowingSegment(segment, parts if keeps else ())


def _joined(deltas: Sequence[Delta]) -> Delta:
    if len(deltas) == 1:
        return deltas[0]
    return Delta(
        deltas[-1].upto,
        [record for delta in deltas for record in delta.records],
        {},
        [vector for delta in deltas for vector in delta.vectors],
        [edge for delta in deltas for edge in delta.edges],
        [tomb for delta in deltas for tomb in delta.tombs],
    )
