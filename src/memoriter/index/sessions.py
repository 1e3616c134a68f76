"""The records before and after a record in its session, in the order of writing.

`Segment.session_order` holds one `Sessions`; the session boost looks up neighbours in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask
from memoriter.index.columns import Arrays, dictionary_of

SessionKeys = NDArray[np.uint64]
"""Sessions as 64-bit hashes of their names, 0 for none; comparable between segments."""


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
    positions: NDArray[np.float64]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, arrays: Arrays) -> Sessions:
        """The session rows of a segment, from its columns."""
        keys, positions = session_keys(arrays), arrays["position"]
        places = np.flatnonzero(keys)
        places = places[np.lexsort((positions[places], keys[places]))]
        return cls(keys[places], positions[places], places)

    def nearest(
        self, keys: SessionKeys, positions: NDArray[np.float64], seen: Mask, step: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """(positions, places) of the nearest visible row before (step -1) or after (step 1).

        One for each (session key, position); NaN and -1 if there is none.
        """
        low = np.searchsorted(self.keys, keys, "left")
        high = np.searchsorted(self.keys, keys, "right")
        side = "left" if step < 0 else "right"
        at = self._between(low, high, positions, side) - (1 if step < 0 else 0)
        shown = seen[self.places]
        # Step on over hidden rows, all lookups at once, until each is at a visible one or outside.
        while True:
            inside = (at >= low) & (at < high)
            hidden = inside & ~shown[np.where(inside, at, 0)] if shown.size else inside
            if not hidden.any():
                break
            at = np.where(hidden, at + step, at)
        safe = np.where(inside, at, 0)
        if not self.places.size:
            return np.full(keys.size, np.nan), np.full(keys.size, -1)
        near = np.where(inside, self.positions[safe], np.nan)
        return near, np.where(inside, self.places[safe], -1)

    def _between(
        self,
        low: NDArray[np.intp],
        high: NDArray[np.intp],
        positions: NDArray[np.float64],
        side: str,
    ) -> NDArray[np.intp]:
        """Insertion index of each position between its bounds: one binary search for all."""
        low, high = low.copy(), high.copy()
        while (open_ := low < high).any():
            middle = (low + high) // 2
            probe = self.positions[np.where(open_, middle, 0)]
            below = probe < positions if side == "left" else probe <= positions
            low = np.where(open_ & below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        return low
