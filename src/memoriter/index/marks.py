"""Small numbers that a step of a search derives from records, kept for each row of a segment.

A record version never changes, so what was derived once holds as long as the segment; a segment
that is rewritten, because a record in it was forgotten, starts without any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.index.segment import Segment
from memoriter.index.view import View

Marks = NDArray[np.uint32]
"""(rows, 2): two numbers for each row; 0 is unknown."""
_MARKS: Final = "marks"


def row_marks(
    view: View, rows: Rows, what: object, derive: Callable[[Rows], Sequence[tuple[int, int]]]
) -> Marks:
    """The marks of each row; `derive` is called for those that are not known yet.

    It returns 0 where a row has none, such as a forgotten one.
    """
    out = np.zeros((rows.size, 2), np.uint32)
    kept: list[tuple[Marks, Segment]] = []
    for segment in view.segments:
        places, here = segment.places(rows)
        if places.size:
            known = cast("Marks | None", segment.memo.get((_MARKS, what)))
            if known is None:
                known = np.zeros((len(segment), 2), np.uint32)
                segment.remember((_MARKS, what), known)
            out[here] = known[places]
            kept.append((known, segment))
    fresh = np.flatnonzero(out[:, 0] == 0)
    if fresh.size:  # read together, whatever segments they are in
        out[fresh] = derive(rows[fresh])
        for known, segment in kept:
            places, here = segment.places(rows)
            known[places] = out[here]
    return out


def carry_marks(before: Segment, grown: Segment) -> None:
    """Keep the marks of a segment for the one that begins with the same rows."""
    for key, marks in before.memo.items():
        if isinstance(key, tuple) and key[0] == _MARKS:
            more = np.zeros((len(grown), 2), np.uint32)
            more[: len(before)] = marks
            grown.remember(cast("tuple[object, ...]", key), more)
