"""A sorted dictionary of strings in two arrays, searched without decoding, also when mapped.

Segments keep their terms, surface words and string columns in such dictionaries.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from memoriter.index.pace import unpaced
from memoriter.kernel.library import native_library
from memoriter.kernel.terms import join_terms

_EMPTY: Final = np.zeros(0, np.uint8)
_NO_OFFSETS: Final = np.zeros(1, np.int64)
_PART: Final = 2048
"""How many strings are handled before other threads may go on."""


class Dictionary(Sequence[str]):
    """Distinct strings in code point order: `blob` is their UTF-8, `at` their offsets.

    A string's ordinal is its index.
    """

    __slots__ = ("_bytes", "at", "blob")

    def __init__(self, blob: NDArray[np.uint8], at: NDArray[np.integer[Any]]) -> None:
        self.blob = blob
        self.at = at
        self._bytes = memoryview(blob)

    @classmethod
    def of(cls, strings: Iterable[str]) -> Dictionary:
        """A dictionary of these strings, given sorted and distinct."""
        strings = list(strings)
        joined = "".join(strings)
        if not joined.isascii():
            return cls.of_bytes([string.encode() for string in strings])
        at = np.zeros(len(strings) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), out=at[1:])
        return cls(np.frombuffer(joined.encode(), np.uint8) if joined else _EMPTY, at)

    @classmethod
    def of_bytes(cls, encoded: Sequence[bytes]) -> Dictionary:
        """A dictionary of these strings in UTF-8, given sorted and distinct."""
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

    def parts(self) -> Iterator[list[bytes]]:
        """All strings in UTF-8, some at a time."""
        whole = self._bytes
        for at in range(0, len(self), _PART):
            bounds = self.at[at : at + _PART + 1].tolist()
            yield [bytes(whole[a:b]) for a, b in pairwise(bounds)]

    def kept(self, keep: NDArray[np.bool_]) -> Dictionary:
        """The dictionary with only the strings under a mask."""
        if keep.all():
            return self
        lengths = np.diff(self.at.astype(np.int64))
        at = np.concatenate([_NO_OFFSETS, np.cumsum(lengths[keep])])
        return Dictionary(self.blob[np.repeat(keep, lengths)], at)

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

    def find(self, string: str, first: int = 0, last: int | None = None) -> int:
        """The ordinal of a string; -1 if it is not there.

        Who knows that it can only be in [first, last) says so.
        """
        wanted = string.encode()  # UTF-8 sorts as code points do, so bytes can be compared
        last = len(self) if last is None else min(last, len(self))
        at = bisect_left(range(len(self)), wanted, lo=first, hi=last, key=self.raw)
        return at if at < last and self.raw(at) == wanted else -1


def union(
    dictionaries: Sequence[Dictionary], pace: Callable[[], None] = unpaced
) -> tuple[Dictionary, list[NDArray[np.int64]]]:
    """(one dictionary of all strings, for each old one an array old ordinal → new ordinal)."""
    first = dictionaries[0] if dictionaries else Dictionary.of([])
    if all(map(first.equals, dictionaries[1:])):
        return first, [np.arange(len(first))] * len(dictionaries)
    fast = native_library()
    if fast is None:
        return _union(dictionaries, pace)
    pace()
    blobs, offsets = [each.blob for each in dictionaries], [each.at for each in dictionaries]
    made = join_terms(fast, blobs, offsets)
    pace()
    maps = np.split(made.numbers, np.cumsum([len(each) for each in dictionaries])[:-1])
    return Dictionary(made.blob, made.at), maps


def _union(
    dictionaries: Sequence[Dictionary], pace: Callable[[], None]
) -> tuple[Dictionary, list[NDArray[np.int64]]]:
    """`union` without the kernel."""
    strings: list[bytes] = []
    for dictionary in dictionaries:
        for some in dictionary.parts():
            strings += some
            pace()
    strings.sort()  # quick: it merges runs that are sorted already
    pace()
    place: dict[bytes, int] = {}
    for at in range(0, len(strings), _PART):
        for string in strings[at : at + _PART]:
            place.setdefault(string, len(place))
        pace()
    maps: list[NDArray[np.int64]] = []
    for dictionary in dictionaries:
        ordinals = [np.zeros(0, np.int64)]
        for some in dictionary.parts():
            ordinals.append(np.array([place[string] for string in some], np.int64))
            pace()
        maps.append(np.concatenate(ordinals))
    return Dictionary.of_bytes(list(place)), maps
