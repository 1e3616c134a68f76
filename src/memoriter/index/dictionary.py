"""A sorted dictionary of strings in two arrays, searched without decoding, also when mapped.

Segments keep their terms, surface words and string columns in such dictionaries.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

_EMPTY: Final = np.zeros(0, np.uint8)
_NO_OFFSETS: Final = np.zeros(1, np.int64)


class Dictionary(Sequence[str]):
    """Distinct strings in code point order: `blob` is their UTF-8, `at` their offsets.

    A string's ordinal is its index.
    """

    __slots__ = ("_bytes", "at", "blob")

    def __init__(self, blob: NDArray[np.uint8], at: NDArray[np.int64]) -> None:
        self.blob = blob
        self.at = at
        self._bytes = memoryview(blob)

    @classmethod
    def of(cls, strings: Iterable[str]) -> Dictionary:
        """A dictionary of these strings, given sorted and distinct."""
        encoded = [string.encode() for string in strings]
        if not encoded:
            return cls(_EMPTY, _NO_OFFSETS)
        at = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(e) for e in encoded], out=at[1:])
        joined = b"".join(encoded)
        return cls(np.frombuffer(joined, np.uint8) if joined else _EMPTY, at)

    def __len__(self) -> int:
        return self.at.size - 1

    def raw(self, ordinal: int) -> bytes:
        """The UTF-8 bytes of a string; their order is code point order."""
        return bytes(self._bytes[self.at[ordinal] : self.at[ordinal + 1]])

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> list[str]: ...
    def __getitem__(self, ordinal: int | slice) -> str | list[str]:
        if isinstance(ordinal, slice):
            return [self[n] for n in range(*ordinal.indices(len(self)))]
        if not 0 <= ordinal < len(self):
            raise IndexError(ordinal)
        return self.raw(ordinal).decode()

    def many(self, ordinals: NDArray[np.integer[Any]]) -> list[str]:
        """The strings at these ordinals."""
        whole = self._bytes
        begins, ends = self.at[ordinals].tolist(), self.at[ordinals + 1].tolist()
        return [str(whole[a:b], "utf-8") for a, b in zip(begins, ends, strict=True)]

    def equals(self, other: Dictionary) -> bool:
        """Whether it has the same strings as another."""
        if (self.blob.size, self.at.size) != (other.blob.size, other.at.size):
            return False
        return np.array_equal(self.at, other.at) and np.array_equal(self.blob, other.blob)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The two arrays, under the names that a segment stores them by."""
        return {f"{name}.blob": self.blob, f"{name}.at": self.at}

    def beginning(self, prefix: str) -> tuple[int, int]:
        """The ordinals [first, last) of the strings that begin with a prefix."""
        wanted = prefix.encode()
        size = len(wanted)
        every = range(len(self))
        first = bisect_left(every, wanted, key=self.raw)
        return first, bisect_right(every, wanted, lo=first, key=lambda n: self.raw(n)[:size])

    def find(self, string: str) -> int:
        """The ordinal of a string; -1 if it is not there."""
        wanted = string.encode()  # UTF-8 sorts as code points do, so bytes can be compared
        at = bisect_left(range(len(self)), wanted, key=self.raw)
        return at if at < len(self) and self.raw(at) == wanted else -1


def union(dictionaries: Sequence[Dictionary]) -> tuple[Dictionary, list[NDArray[np.int64]]]:
    """(one dictionary of all strings, for each old one an array old ordinal → new ordinal)."""
    everything = sorted({string for dictionary in dictionaries for string in dictionary})
    place = {string: n for n, string in enumerate(everything)}
    maps = [
        np.fromiter((place[string] for string in dictionary), np.int64, len(dictionary))
        for dictionary in dictionaries
    ]
    return Dictionary.of(everything), maps
