"""An inverted index from tokens of the kin table to windows of text, for the kin lane.

A text is cut into overlapping windows of 64 tokens, one every 32, so that words count as close
together however long the text is. A segment keeps for each token the windows that contain it, and
for each row the range of its windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.index.columns import Arrays
from memoriter.index.dealing import SegmentLists, deal
from memoriter.kernel.calls import WindowIndex
from memoriter.kernel.library import native_library

WINDOW: Final = 64
STRIDE: Final = 32
"""Half a window: a token is in two windows at most."""
_TOKENS: Final = 1 << 16
"""More than any token's number."""
_BITS: Final = 32
_MASK: Final = (1 << _BITS) - 1


class Windows:
    """The windows of a segment."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._tokens: NDArray[np.uint16] = arrays["kin.tokens"]
        self._starts: NDArray[np.int64] = arrays["kin.starts"]
        self.holding: NDArray[np.int32] = arrays["kin.windows"]
        """For each token in turn the windows that contain it, ascending."""
        self.begins: NDArray[np.int32] = arrays["kin.begins"]
        """For each row its first window; the last entry is the number of windows."""

    def __len__(self) -> int:
        return int(self.begins[-1])

    @cached_property
    def for_kernel(self) -> WindowIndex:
        """The same for the native kernel."""
        rows = self._arrays["rows"]
        lists = (self._tokens, self._starts, self.holding)
        return WindowIndex(*lists, self.owners, self.begins, rows)

    @cached_property
    def owners(self) -> NDArray[np.int32]:
        """For each window the place of its row."""
        return np.repeat(np.arange(self.begins.size - 1, dtype=np.int32), np.diff(self.begins))

    @cached_property
    def _firsts(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """(which windows are the first of their row, where rows without one are inserted)."""
        none = self.begins[1:] == self.begins[:-1]
        firsts = np.zeros(len(self), np.bool_)
        firsts[self.begins[:-1][~none]] = True
        empty = np.flatnonzero(none)
        return firsts, empty - np.arange(empty.size)

    @cached_property
    def _several(self) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
        """The rows with several windows; all these windows; where those of each row begin there."""
        sizes = np.diff(self.begins).astype(np.int64)
        rows = np.flatnonzero(sizes > 1)
        return rows, np.flatnonzero(sizes[self.owners] > 1), _starts(sizes[rows])[:-1]

    def best_of_rows(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """From scores of windows to those of rows: the largest; 0 for a row without a window."""
        # Most rows have one window.
        firsts, empty = self._firsts
        out = scores[firsts]
        if empty.size:
            out = np.insert(out, empty, 0.0)
        rows, at, begins = self._several
        if rows.size:
            out[rows] = np.maximum.reduceat(scores[at], begins)
        return out

    def spans(self, tokens: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(begin, end) in `holding` of the windows of each of these tokens; empty if unknown."""
        at = np.searchsorted(self._tokens, tokens.astype(np.uint16))
        known = at < self._tokens.size
        known[known] = self._tokens[at[known]] == tokens[known]
        first = self._starts[np.where(known, at, 0)]
        return first, np.where(known, self._starts[np.where(known, at + 1, 0)], first)

    def row_counts(self, tokens: Sequence[int], mask: NDArray[np.bool_] | None = None) -> list[int]:
        """How many rows inside a mask (None: all) contain each of these tokens."""
        fast = native_library()
        if fast is not None:
            return self.for_kernel.row_counts(fast, tokens, mask)
        out: list[int] = []
        for first, last in zip(*self.spans(np.array(tokens, np.int64)), strict=True):
            rows = self.owners.take(self.holding[first:last])
            fresh = np.ones(rows.size, np.bool_)
            np.not_equal(rows[1:], rows[:-1], out=fresh[1:])
            out.append(int(np.count_nonzero(fresh if mask is None else fresh & mask[rows])))
        return out


def _counts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many windows texts of these lengths have; an empty text has none."""
    return np.where(lengths > 0, 1 + np.maximum(-(-(lengths - WINDOW) // STRIDE), 0), 0)


def windows_of(tokens: NDArray[np.uint16], lengths: NDArray[np.int64]) -> Arrays:
    """The arrays of the window index of texts: all their tokens, and how many each one has."""
    counts = _counts(lengths)
    begins = _starts(counts)
    places = np.arange(tokens.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    base = np.repeat(begins[:-1], lengths)
    # A token is in the last window that begins at or before it (capped at the text's last window),
    # and in the one before that. Duplicates are removed below.
    nth = places // STRIDE
    later = base + np.minimum(nth, np.repeat(counts - 1, lengths))
    twice = nth > 0
    keys = np.concatenate(
        [
            _key(tokens, later),
            _key(tokens[twice], base[twice] + nth[twice] - 1),
        ]
    )
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return _arrays((keys >> _BITS).astype(np.uint16), keys & _MASK, begins)


def _key(tokens: NDArray[np.uint16], windows: NDArray[np.int64]) -> NDArray[np.int64]:
    return tokens.astype(np.int64) << _BITS | windows


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _arrays(
    tokens: NDArray[np.uint16], windows: NDArray[np.integer], begins: NDArray[np.int64]
) -> Arrays:
    """The arrays of (token, window) pairs that are sorted by both."""
    first = np.flatnonzero(np.diff(tokens.astype(np.int32), prepend=-1))
    return {
        "kin.tokens": tokens[first],
        "kin.starts": np.append(first, tokens.size).astype(np.int64),
        "kin.windows": windows.astype(np.int32, copy=False),
        "kin.begins": begins.astype(np.int32),
    }


def merged_windows(
    parts: Sequence[Arrays], keeps: Sequence[NDArray[np.bool_]], pace: Callable[[], None]
) -> Arrays:
    """The window index of several segments as one, with only the rows under `keeps`."""
    lists: list[SegmentLists] = []
    counts: list[NDArray[np.int64]] = []
    before = 0
    for part, keep in zip(parts, keeps, strict=True):
        sizes = np.diff(part["kin.begins"]).astype(np.int64)
        tokens, stays = part["kin.tokens"].astype(np.int32), np.repeat(keep, sizes)
        lists.append(SegmentLists(part["kin.starts"], tokens, part["kin.windows"], stays, before))
        counts.append(sizes[keep])
        before += int(stays.sum())
    dealt = deal(lists, _TOKENS, pace)
    used = np.flatnonzero(np.diff(dealt.starts))
    return {
        "kin.tokens": used.astype(np.uint16),
        "kin.starts": np.append(dealt.starts[used], dealt.starts[-1]),
        "kin.windows": dealt.arrays["places"],
        "kin.begins": _starts(np.concatenate(counts)).astype(np.int32),
    }
