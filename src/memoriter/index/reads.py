"""Attributes of some rows, read from columns: what boosts and orderings look at.

One array per attribute, in the order of the rows asked for; no record is read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.index.columns import NO_TIME, TIME_COLUMNS, dictionary_of
from memoriter.index.view import View


def numbers(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """A number, time or flag of each row; NaN where it has none.

    Times are microseconds; whole numbers are exact up to 2^53, which is the year 2255.
    """
    out = np.full(rows.size, np.nan)
    for segment in view.segments:
        places, mine = segment.places(rows)
        values = segment.arrays[name][places]
        told = values.astype(np.float64)
        if name in TIME_COLUMNS:
            told[values == NO_TIME] = np.nan
        out[mine] = told
    return out


def codes(view: View, rows: Rows, name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """(for each row the place of its string among the names, -1 where it has none; the names).

    Names are sorted, and only those that some of the rows has are there.
    """
    met = np.full(rows.size, -1)
    known: dict[str, int] = {}
    for segment in view.segments:
        places, mine = segment.places(rows)
        used, back = np.unique(segment.arrays[f"{name}.codes"][places], return_inverse=True)
        names = dictionary_of(segment.arrays, name)
        new = [-1 if n < 0 else known.setdefault(names[int(n)], len(known)) for n in used]
        met[mine] = np.array(new, np.int64)[back]
    ordered = sorted(known)
    order = np.full(len(known) + 1, -1)
    order[[known[one] for one in ordered]] = np.arange(len(known))
    return order[met], tuple(ordered)


def strings(view: View, rows: Rows, name: str) -> list[str | None]:
    """A string of each row; None where it has none."""
    met, names = codes(view, rows, name)
    return [None if code < 0 else names[code] for code in met.tolist()]


def chain_length(view: View) -> int:
    """How long the chain of a view is: one more than the highest position that it sees.

    A forgotten record leaves a hole, which counts: positions do not move, and the newest record
    stands at the very end.
    """
    highest = -1.0
    for segment, mask in zip(view.segments, view.visible, strict=True):
        highest = max(highest, float(segment.arrays["position"][mask].max(initial=-1.0)))
    return int(highest) + 1
