"""The newest segment of the tail, which grows: it is built anew with each small part of the log.

Building a segment of a few dozen records takes about as long as building one of a single record, so
records that are written one by one share a segment, and searches read one instead of several.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.word_table import WordTable
from memoriter.embed.port import TokenTable
from memoriter.index.build import build
from memoriter.index.columns import Arrays
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
    texts: Arrays
    """The columns that are read off the texts."""
    births: NDArray[np.int64]
    """For each record version the row of its record's first version."""
    ended: NDArray[np.int64]
    """The rows that this part ends, and the sequence number at which each ends."""
    ends: NDArray[np.int64]

    def followed_by(self, part: LogPart) -> LogPart:
        """This part and the next one as one."""
        one, two = self.delta, part.delta
        return LogPart(
            Delta(
                two.upto,
                [*one.records, *two.records],
                {},
                [*one.vectors, *two.vectors],
                [*one.edges, *two.edges],
                [*one.tombs, *two.tombs],
            ),
            WordTable.joined([self.words, part.words]),
            TokenTable.joined([self.tokens, part.tokens]),
            {**self.derived, **part.derived},
            {name: np.append(array, part.texts[name]) for name, array in self.texts.items()},
            births=np.concatenate([self.births, part.births]),
            ended=np.concatenate([self.ended, part.ended]),
            ends=np.concatenate([self.ends, part.ends]),
        )


@dataclass(frozen=True, slots=True)
class GrowingSegment:
    """A segment, and the part of the log that it was built of; None if it must not grow."""

    segment: Segment
    part: LogPart | None

    def has_room_for(self, part: LogPart) -> bool:
        """Whether a part that follows in the log can be added."""
        return self.part is not None and part.delta.upto - self.segment.first <= MOST


def grown(known: GrowingSegment | None, part: LogPart, after: int) -> GrowingSegment:
    """The segment of a part of the log after `after`; with what `known` has, if that has room."""
    whole = part
    if known is not None and known.part is not None and known.has_room_for(part):
        whole, after = known.part.followed_by(part), known.segment.first
    segment = build(after, whole.delta, whole.words, whole.tokens, whole.derived, whole.texts)
    rows, ends = whole.ended, whole.ends
    segment.end_rows(rows, ends)
    # Ends of earlier rows are kept in the segment as well: published files are never changed, so
    # the index must be able to apply them again.
    before = rows <= after
    segment.arrays["events.rows"] = rows[before]
    segment.arrays["events.ends"] = ends[before]
    segment.arrays["born"] = whole.births
    # What was forgotten must not be kept for later, and a long part is not worth building again.
    keeps = part.delta.upto - after <= MOST and not part.delta.tombs
    return GrowingSegment(segment, whole if keeps else None)
