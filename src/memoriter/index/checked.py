"""The arrays of a mapped segment, checked on first use.

A large segment is not read whole when it is opened. An array is checked against its checksum when
it is first asked for; vectors, by far the largest, block by block as they are read (`matrix`).
Damage raises Corrupt (field `SEGMENT`) and calls `on_damage`: the index then answers from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import SUM_BYTES, checksum
from memoriter.core.errors import Corrupt
from memoriter.core.ranking import VectorMatrix

SEGMENT: Final = "segment"
"""`Corrupt.field` for a damaged segment."""
VECTORS: Final = "vectors.matrix"
BLOCK_SUMS: Final = "vectors.sums"
"""The checksums of the blocks of `VECTORS`."""
BLOCK: Final = 16 * 1024
"""Bytes of a block: a search reads some hundred vectors, anywhere."""


class MappedArray(NamedTuple):
    """An array in a segment, its bytes, and their checksum."""

    array: NDArray[Any]
    blob: memoryview
    sum: bytes


def block_sums(content: memoryview) -> NDArray[np.uint64]:
    """The checksum of each block of some bytes."""
    sums = [checksum(content[at : at + BLOCK]) for at in range(0, len(content), BLOCK)]
    return np.frombuffer(b"".join(sums), f"<u{SUM_BYTES}")


class MappedArrays(dict[str, NDArray[Any]]):
    """Arrays by name; `arrays[name]` checks what was not checked yet.

    Iterating over the values does not: it serves to add up their sizes.
    """

    def __init__(self, segment: str, mapped: Mapping[str, MappedArray]) -> None:
        super().__init__({name: each.array for name, each in mapped.items()})
        self._segment = segment
        self._unchecked = dict(mapped)
        self._blob = mapped[VECTORS].blob
        self.width = mapped[VECTORS].array.shape[1]
        """The dimension of the vectors."""
        self._sound = np.zeros(-(-len(self._blob) // BLOCK), np.bool_)
        """Which blocks of the vectors were checked."""
        self.on_damage: Callable[[], None] = lambda: None

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name in self._unchecked:
            self._check(name)
        return super().__getitem__(name)

    def check(self) -> None:
        """Check everything now."""
        for name in list(self._unchecked):
            _ = self[name]

    def _check(self, name: str) -> None:
        if name == VECTORS:
            self._check_blocks(np.flatnonzero(~self._sound))
        # No lock: two threads may check the same array, with the same outcome.
        elif checksum(self._unchecked[name].blob) != self._unchecked[name].sum:
            self._raise(name)
        self._unchecked.pop(name, None)

    def matrix(self, at: NDArray[np.intp]) -> VectorMatrix:
        """All vectors, for who reads only some of them: the blocks of these are checked."""
        matrix: VectorMatrix = super().__getitem__(VECTORS)
        if VECTORS in self._unchecked and at.size:
            wide = self.width * matrix.itemsize
            first, last = at * wide // BLOCK, (at * wide + wide - 1) // BLOCK
            for nth in range(int((last - first).max()) + 1):
                touched = np.minimum(first + nth, last)
                fresh = touched[~self._sound[touched]]
                if fresh.size:
                    self._check_blocks(np.unique(fresh))
        return matrix

    def _check_blocks(self, blocks: NDArray[np.intp]) -> None:
        sums = self[BLOCK_SUMS]
        for block in blocks.tolist():
            now = checksum(self._blob[block * BLOCK : (block + 1) * BLOCK])
            if now != sums[block].tobytes():
                self._raise(VECTORS)
        self._sound[blocks] = True

    def _raise(self, name: str) -> None:
        self.on_damage()
        raise Corrupt(
            f"index segment {self._segment} is damaged: {name} does not match its checksum",
            hint="no memory is lost: repeat the call, which then reads the log; `memoriter doctor`"
            " rebuilds the segment",
            field=SEGMENT,
        )
