"""Finds the terms of a question in the dictionary of a segment, all at once, in C."""

from __future__ import annotations

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


def find_terms(
    fast: Library, segments: Sequence[TermIndex], terms: Sequence[str]
) -> list[list[TermSpan]]:
    """By segment, the span of each of some terms."""
    encoded = [term.encode() for term in terms]
    ends = np.array([0, *accumulate(map(len, encoded))], np.int64)
    blob = np.frombuffer(bytearray(b"".join(encoded) + b"\0"), np.uint8)
    table = np.array([each.given for each in segments], np.int64)
    out = np.empty((len(segments), len(encoded), 3), np.int64)
    wanted = (address(blob), address(ends), len(encoded))
    fast.call("find", (address(table), len(segments), *wanted, address(out)), 0)
    return [list(map(TermSpan._make, spans)) for spans in out.tolist()]
