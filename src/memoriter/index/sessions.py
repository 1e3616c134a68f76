"""Who was said just before and after whom: the records of a session, in the order of writing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask
from memoriter.index.columns import Arrays, dictionary_of

SessionKeys = NDArray[np.uint64]
"""Sessions as 64-bit digests of their names, 0 for none: equal in every segment."""


def session_keys(arrays: Arrays) -> SessionKeys:
    """The session of each row of a segment."""
    names = dictionary_of(arrays, "session")
    spelled = [hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names]
    table = np.frombuffer(b"".join([*spelled, bytes(8)]), "<u8")
    return table[arrays["session.codes"]]


@dataclass(frozen=True, slots=True)
class Sessions:
    """The rows of a segment that stand in a session, by session and position."""

    keys: SessionKeys
    positions: NDArray[np.float64]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, arrays: Arrays) -> Sessions:
        """The talks of a segment's columns."""
        keys, positions = session_keys(arrays), arrays["position"]
        places = np.flatnonzero(keys)
        places = places[np.lexsort((positions[places], keys[places]))]
        return cls(keys[places], positions[places], places)

    def nearest(
        self, keys: SessionKeys, positions: NDArray[np.float64], seen: Mask, step: int
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """(position, place) of the nearest row before (step -1) or after (step 1); NaN and -1."""
        low = np.searchsorted(self.keys, keys, "left")
        high = np.searchsorted(self.keys, keys, "right")
        side = "left" if step < 0 else "right"
        at = self._between(low, high, positions, side) - (1 if step < 0 else 0)
        shown = seen[self.places]
        while True:
            inside = (at >= low) & (at < high)
            hidden = inside & ~shown[np.where(inside, at, 0)] if shown.size else inside
            if not hidden.any():
                break
            at = np.where(hidden, at + step, at)
        safe = np.where(inside, at, 0)
        if not self.places.size:
            return np.full(keys.size, np.nan), np.full(keys.size, -1)
        found = np.where(inside, self.positions[safe], np.nan)
        return found, np.where(inside, self.places[safe], -1)

    def _between(
        self,
        low: NDArray[np.intp],
        high: NDArray[np.intp],
        positions: NDArray[np.float64],
        side: str,
    ) -> NDArray[np.intp]:
        """Where each position belongs between its two bounds: a binary search for all at once."""
        low, high = low.copy(), high.copy()
        while (open_ := low < high).any():
            middle = (low + high) // 2
            there = self.positions[np.where(open_, middle, 0)]
            below = there < positions if side == "left" else there <= positions
            low = np.where(open_ & below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        return low
