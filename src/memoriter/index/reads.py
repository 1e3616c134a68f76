"""Reads attributes and neighbours of some rows from columns, for boosts and orderings.

Each function returns one value per row, in the order of the rows; no record is read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.index.columns import NO_TIME, TEXT_ENDS, TIME_COLUMNS, dictionary_of
from memoriter.index.segment import Segment
from memoriter.index.sessions import SessionKeys
from memoriter.index.view import View

_TEXT: Final = 0
"""The place of `text` among the fields of a segment."""
_LAST: Final = np.iinfo(np.int64).max
"""Sorts behind every position."""


def numbers(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """A number, time or flag of each row; NaN if it has none.

    Times are microseconds; whole numbers are exact up to 2^53, which is the year 2255.
    """
    out = np.full(rows.size, np.nan)
    for segment in view.segments:
        places, here = segment.places(rows)
        values = segment.arrays[name][places]
        floats = values.astype(np.float64)
        if name in TIME_COLUMNS:
            floats[values == NO_TIME] = np.nan
        if places.size == rows.size:  # a row is in one segment
            return floats
        out[here] = floats
    return out


def text_lengths(view: View, rows: Rows) -> NDArray[np.float64]:
    """The number of words of each row's text, at least 1."""
    out = np.ones(rows.size)
    for segment in view.segments:
        places, here = segment.places(rows)
        lengths = segment.lengths[_TEXT][places]
        if places.size == rows.size:  # a row is in one segment
            return np.maximum(lengths, 1.0)
        out[here] = lengths
    return np.maximum(out, 1.0, out=out)


def text_ends(view: View, rows: Rows) -> NDArray[np.uint32]:
    """(2, rows): a number for the first words of each row's text, and one for the last."""
    out = np.zeros((2, rows.size), np.uint32)
    for segment in view.segments:
        places, here = segment.places(rows)
        if places.size == rows.size:  # a row is in one segment
            return np.array([segment.arrays[name][places] for name in TEXT_ENDS], np.uint32)
        if places.size:
            out[:, here] = [segment.arrays[name][places] for name in TEXT_ENDS]
    return out


def codes(view: View, rows: Rows, name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """(for each row the index of its string in the names, -1 for none; the names).

    The names are sorted, and contain only strings that some of these rows have. So codes compare
    like the strings, also across segments, whose dictionaries differ.
    """
    met = np.full(rows.size, -1)
    known: dict[str, int] = {}
    for segment in view.segments:
        places, here = segment.places(rows)
        used, back = np.unique(segment.arrays[f"{name}.codes"][places], return_inverse=True)
        names = dictionary_of(segment.arrays, name)
        new = [-1 if n < 0 else known.setdefault(names[int(n)], len(known)) for n in used]
        met[here] = np.array(new, np.int64)[back]
    ordered = sorted(known)
    order = np.full(len(known) + 1, -1)
    order[[known[one] for one in ordered]] = np.arange(len(known))
    return order[met], tuple(ordered)


def strings(view: View, rows: Rows, name: str) -> list[str | None]:
    """A string of each row; None if it has none."""
    met, names = codes(view, rows, name)
    return [None if code < 0 else names[code] for code in met.tolist()]


def has_value(view: View, name: str, values: Collection[str]) -> bool:
    """Whether any record, also of the past, has one of these strings."""
    return any(_has_value(segment, name, value) for segment in view.segments for value in values)


def _has_value(segment: Segment, name: str, value: str) -> bool:
    known = segment.memo.get((name, value))
    if known is None:
        known = dictionary_of(segment.arrays, name).find(value) >= 0
        segment.remember((name, value), known)
    return known


def has_values(view: View, name: str) -> bool:
    """Whether any record, also of the past, has a string of this attribute."""
    return any(_has_values(segment, name) for segment in view.segments)


def _has_values(segment: Segment, name: str) -> bool:
    known = segment.memo.get((name,))
    if known is None:
        known = len(dictionary_of(segment.arrays, name)) > 0
        segment.remember((name,), known)
    return known


def has_sessions(view: View) -> bool:
    """Whether any row belongs to a session; most stores have none."""
    return any(segment.has_sessions for segment in view.segments)


def chain_length(view: View) -> int:
    """The length of a view's chain of records: one more than the highest position that it sees.

    A forgotten record leaves a gap, which counts: positions are never reassigned.
    """
    highest = -1.0
    for segment, mask in zip(view.segments, view.visible, strict=True):
        highest = max(highest, float(segment.arrays["position"][mask].max(initial=-1.0)))
    return int(highest) + 1


class Turns(NamedTuple):
    """For some rows the rows one, two … turns away in their sessions, (distance × rows).

    -1 where there is none.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]


def turns_around(view: View, rows: Rows, reach: int) -> Turns:
    """The rows up to `reach` turns before and after each of these in its session.

    Only rows visible in the view count, in the order in which they were first written.
    """
    out = np.full((2 * reach, rows.size), -1)
    if has_sessions(view):
        keys = np.zeros(rows.size, np.uint64)
        for segment in view.segments:
            places, inside = segment.places(rows)
            keys[inside] = segment.sessions[places]
        known = np.flatnonzero(keys)
        if known.size:
            out[:, known] = _around(view, keys[known], rows[known], reach)
    return Turns(out[:reach], out[reach:])


def _around(view: View, keys: SessionKeys, rows: Rows, reach: int) -> NDArray[np.int64]:
    """The rows before and after, one below the other; sessions may span several segments."""
    own = numbers(view, rows, "position").astype(np.int64)
    positions = np.full((2 * reach, rows.size), -1)
    out = positions.copy()
    for segment, seen in zip(view.segments, view.visible, strict=True):
        near = segment.session_order.visible(seen).around(keys, own, reach)
        if near is None:
            continue
        here = np.where(near[1] >= 0, segment.rows[near[1]], -1)
        for half, sign in ((slice(0, reach), -1), (slice(reach, None), 1)):
            fresh = np.flatnonzero(here[half][0] >= 0)
            both = fresh[out[half][0, fresh] >= 0]
            alone = fresh[out[half][0, fresh] < 0]
            positions[half, alone] = near[0][half, alone]
            out[half, alone] = here[half, alone]
            if both.size:
                every = np.concatenate([positions[half, both], near[0][half, both]])
                order = np.argsort(np.where(every >= 0, sign * every, _LAST), axis=0)[:reach]
                positions[half, both] = np.take_along_axis(every, order, 0)
                joined = np.concatenate([out[half, both], here[half, both]])
                out[half, both] = np.take_along_axis(joined, order, 0)
    return out
