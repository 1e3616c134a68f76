"""The dictionaries of segments in C: finds the terms of a question in them, joins several."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.kernel.library import Library, address


class TermSpan(NamedTuple):
    """Where the postings of a term begin and end, and how many rows they have; 0 if none."""

    first: int
    last: int
    rows: int


class WantedTerms:
    """Terms to find, as the library takes them."""

    def __init__(self, terms: Sequence[str]) -> None:
        encoded = [term.encode() for term in terms]
        self._ends = array("q", accumulate(map(len, encoded), initial=0))
        self.given = (b"".join(encoded), self._ends.buffer_info()[0], len(encoded))


class TermIndex:
    """Dictionary and posting lists of a segment, as the library takes them."""

    def __init__(
        self,
        blob: NDArray[np.uint8],
        at: NDArray[Any],
        starts: NDArray[Any],
        docs: NDArray[Any],
    ) -> None:
        blob, docs = np.ascontiguousarray(blob), np.ascontiguousarray(docs, np.int32)
        at, starts = (np.ascontiguousarray(each, np.int64) for each in (at, starts))
        self._held = (blob, at, starts, docs)
        strings = (address(blob), address(at), at.size - 1)
        self.given = (*strings, address(starts), address(docs))


class JoinedTerms(NamedTuple):
    """Distinct strings in order, their offsets, and the number of each string that was joined."""

    blob: NDArray[np.uint8]
    at: NDArray[np.int64]
    numbers: NDArray[np.int64]


def join_terms(
    fast: Library, blobs: Sequence[NDArray[np.uint8]], offsets: Sequence[NDArray[Any]]
) -> JoinedTerms:
    """The strings of several sorted dictionaries as one."""
    counts = np.array([each.size - 1 for each in offsets], np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    blob = np.concatenate([*blobs, np.zeros(1, np.uint8)])
    begins = np.cumsum([0, *(each.size for each in blobs)]).tolist()
    ends = [each[1:].astype(np.int64) + n for each, n in zip(offsets, begins, strict=False)]
    at = np.concatenate([np.zeros(1, np.int64), *ends])
    out, out_at, numbers = np.empty_like(blob), np.empty_like(at), np.empty(at.size, np.int64)
    given = (address(blob), address(at), address(first), counts.size)
    made = (address(out), address(out_at), address(numbers))
    distinct = fast.call("union", (*given, *made), blob.size + 4 * at.size)
    del blob, at  # of a large merge these are many
    out_at = out_at[: distinct + 1].copy()
    return JoinedTerms(out[: int(out_at[-1])].copy(), out_at, numbers[:-1])


def find_terms(
    fast: Library, segments: Sequence[TermIndex], terms: Sequence[str]
) -> list[list[TermSpan]]:
    """By segment, the span of each of some terms."""
    wanted, many = WantedTerms(terms), len(terms)
    table = array("q", [number for each in segments for number in each.given])
    out = array("q", bytes(8 * 3 * many * len(segments)))
    given = (table.buffer_info()[0], len(segments), *wanted.given, out.buffer_info()[0])
    fast.call("find", given, 0)
    spans = list(map(TermSpan, out[0::3], out[1::3], out[2::3]))
    return [spans[n * many : (n + 1) * many] for n in range(len(segments))]
