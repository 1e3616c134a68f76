"""Reads attributes and neighbours of some rows from columns, for boosts and orderings.

Each function returns one value per row, in the order of the rows; no record is read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.index.columns import NO_TIME, TIME_COLUMNS, dictionary_of
from memoriter.index.sessions import SessionKeys
from memoriter.index.view import View


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
        out[here] = floats
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


def chain_length(view: View) -> int:
    """The length of a view's chain of records: one more than the highest position that it sees.

    A forgotten record leaves a gap, which counts: positions are never reassigned.
    """
    highest = -1.0
    for segment, mask in zip(view.segments, view.visible, strict=True):
        highest = max(highest, float(segment.arrays["position"][mask].max(initial=-1.0)))
    return int(highest) + 1


def session_neighbours(view: View, rows: Rows) -> tuple[Rows, Rows]:
    """(rows before, rows after) each of these in its session; -1 if there is none.

    Only rows visible in the view count, in the order in which they were first written.
    """
    keys = np.zeros(rows.size, np.uint64)
    for segment in view.segments:
        places, inside = segment.places(rows)
        keys[inside] = segment.sessions[places]
    if not keys.any():  # most stores have no sessions
        return np.full(rows.size, -1), np.full(rows.size, -1)
    positions = numbers(view, rows, "position")
    return _nearest(view, keys, positions, -1), _nearest(view, keys, positions, 1)


def _nearest(view: View, keys: SessionKeys, positions: NDArray[np.float64], step: int) -> Rows:
    best, out = np.full(keys.size, np.nan), np.full(keys.size, -1)
    for segment, seen in zip(view.segments, view.visible, strict=True):
        near, places = segment.session_order.nearest(keys, positions, seen, step)
        closer = ~np.isnan(near) & (np.isnan(best) | (step * (best - near) > 0.0)) & (keys > 0)
        best = np.where(closer, near, best)
        if len(segment):
            out = np.where(closer, segment.rows[np.where(closer, places, 0)], out)
    return out
