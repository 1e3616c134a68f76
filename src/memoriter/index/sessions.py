"""The records before and after a record in its session, in the order of writing.

`Segment.session_order` holds one `Sessions`; `turns_around` looks up neighbours in all of a view.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask
from memoriter.index.columns import Arrays, dictionary_of

SessionKeys = NDArray[np.uint64]
"""Sessions as 64-bit hashes of their names, 0 for none; comparable between segments."""

_STRIDE: Final = 2**32
"""More than the position of any record."""
TurnsHere = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(positions, places) of turns, (distance × lookups), nearest first; -1 where there is none."""


def session_keys(arrays: Arrays) -> SessionKeys:
    """The session key of each row of a segment."""
    names = dictionary_of(arrays, "session")
    hashes = [hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names]
    # One more entry of zeros: code -1, no session, picks the last.
    table = np.frombuffer(b"".join([*hashes, bytes(8)]), "<u8")
    return table[arrays["session.codes"]]


@dataclass(frozen=True, slots=True)
class Sessions:
    """The rows of a segment that belong to a session, sorted by session and position."""

    keys: SessionKeys
    positions: NDArray[np.int64]
    places: NDArray[np.intp]
    marks: NDArray[np.int64]
    """Index of the session's first row · stride + position: ascending, so one search finds both."""

    @classmethod
    def of(cls, arrays: Arrays) -> Sessions:
        """The session rows of a segment, from its columns."""
        keys, positions = session_keys(arrays), arrays["position"].astype(np.int64)
        places = np.flatnonzero(keys)
        places = places[np.lexsort((positions[places], keys[places]))]
        return cls._sorted(keys[places], positions[places], places)

    @classmethod
    def _sorted(
        cls, keys: SessionKeys, positions: NDArray[np.int64], places: NDArray[np.intp]
    ) -> Sessions:
        index = np.arange(keys.size)
        begins = np.ones(keys.size, np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=begins[1:])
        first = np.maximum.accumulate(np.where(begins, index, 0))
        return cls(keys, positions, places, first * _STRIDE + positions)

    def visible(self, seen: Mask) -> Sessions:
        """Those of the rows that a view sees."""
        shown = seen[self.places]
        if shown.all():
            return self
        return self._sorted(self.keys[shown], self.positions[shown], self.places[shown])

    def around(
        self, keys: SessionKeys, positions: NDArray[np.int64], reach: int
    ) -> TurnsHere | None:
        """(before, after): the rows up to `reach` turns away, for each (session key, position).

        The first `reach` distances are those before, the others those after. None if no row here
        belongs to one of the sessions.
        """
        low = np.searchsorted(self.keys, keys, "left")
        high = np.searchsorted(self.keys, keys, "right")
        if not (low < high).any():
            return None
        marks = low * _STRIDE + positions
        before = np.searchsorted(self.marks, marks, "left")
        after = np.searchsorted(self.marks, marks, "right")
        away = np.arange(reach)[:, None]
        at = np.concatenate([before - 1 - away, after + away])
        inside = (at >= low) & (at < high)
        at = np.where(inside, at, 0)
        return np.where(inside, self.positions[at], -1), np.where(inside, self.places[at], -1)
