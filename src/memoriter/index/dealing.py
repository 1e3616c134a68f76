"""Groups the entries of several sorted lists by their owner, block by block, for merges.

A segment has lists of entries one behind the other: the postings of each term, the windows of each
token. Merging lays the lists of several segments together. A sort of all entries would take several
times their size in memory; here each block of entries goes to its place at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

BLOCK: Final = 1 << 20
"""How many entries are dealt at a time."""


class ListBlock(NamedTuple):
    """Some entries of the lists of a segment."""

    at: slice
    """Where they are among all entries."""
    alive: NDArray[np.bool_]
    """Which of them belong to something that is kept."""
    owners: NDArray[np.integer]
    """Of each that is kept the new number of its list, ascending."""
    places: NDArray[np.int32]
    """Of each that is kept the new place of what it is about."""


class SegmentLists:
    """The lists of one segment. An entry names something by its place: a row, or a window."""

    def __init__(
        self,
        starts: NDArray[np.integer],
        owners: NDArray[np.integer],
        entries: NDArray[np.integer],
        keep: NDArray[np.bool_],
        before: int,
    ) -> None:
        """`starts` has the begin of each list and the end of the last, `owners` its new number.

        `keep` says which places are kept, `before` how many are kept of earlier segments.
        """
        self._starts, self._owners, self._entries, self._keep = starts, owners, entries, keep
        self._new = (np.cumsum(keep, dtype=np.int64) - 1 + before).astype(np.int32)

    def blocks(self) -> Iterator[ListBlock]:
        """The entries, in blocks."""
        for low in range(0, self._entries.size, BLOCK):
            high = min(low + BLOCK, self._entries.size)
            first = int(np.searchsorted(self._starts, low, "right")) - 1
            last = int(np.searchsorted(self._starts, high, "left"))
            sizes = np.diff(np.clip(self._starts[first : last + 1], low, high))
            places = self._entries[low:high]
            alive = self._keep[places]
            owners = np.repeat(self._owners[first:last], sizes)[alive]
            yield ListBlock(slice(low, high), alive, owners, self._new[places[alive]])

    def counts(self, owners: int) -> NDArray[np.int64]:
        """How many entries that are kept each of so many owners has."""
        out = np.zeros(owners, np.int64)
        for block in self.blocks():
            out += np.bincount(block.owners, minlength=owners)
        return out


class Dealt:
    """Arrays with room for the entries of every owner, one owner behind the other."""

    def __init__(self, counts: NDArray[np.int64], dtypes: Mapping[str, DTypeLike]) -> None:
        self.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        """The begin of each owner's entries, and the end of the last."""
        self.arrays = {name: np.empty(self.starts[-1], dtype) for name, dtype in dtypes.items()}
        self._next = self.starts[:-1].copy()

    def add(self, owners: NDArray[np.integer], **values: NDArray[Any]) -> None:
        """Put entries behind those that their owners have; the owners ascend."""
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        sizes, met = np.diff(first, append=owners.size), owners[first]
        at = np.repeat(self._next[met] - first, sizes) + np.arange(owners.size)
        self._next[met] += sizes
        for name, array in values.items():
            self.arrays[name][at] = array


def deal(lists: Sequence[SegmentLists], owners: int, pace: Callable[[], None]) -> Dealt:
    """The lists of several segments as one: `places` has the new places, by owner."""
    counts = np.sum([each.counts(owners) for each in lists], axis=0)
    dealt = Dealt(counts, {"places": np.int32})
    for each in lists:
        for block in each.blocks():
            dealt.add(block.owners, places=block.places)
            pace()
    return dealt
