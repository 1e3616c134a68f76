"""Ids and rows of a view, from the index alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.core.ranking import Mask, Rows
from recollect.index.columns import dictionary_of
from recollect.index.reading import Reading


def ids_of(reading: Reading, rows: Rows) -> list[str]:
    """The ids of these rows."""
    found: dict[int, str] = {}
    for segment in reading.segments:
        places, mine = segment.places(rows)
        codes, names = segment.arrays["id.codes"], dictionary_of(segment.arrays, "id")
        for row, place in zip(rows[mine].tolist(), places.tolist(), strict=True):
            found[row] = names[int(codes[place])]
    return [found[row] for row in rows.tolist()]


def rows_of(reading: Reading, ids: Sequence[str], masks: Sequence[Mask]) -> dict[str, int]:
    """The row inside the masks of each of these ids; one that has none is left out."""
    found: dict[str, int] = {}
    for segment, mask in zip(reading.segments, masks, strict=True):
        names = dictionary_of(segment.arrays, "id")
        wanted = {code: one for one in ids if (code := names.find(one)) >= 0}
        codes = segment.arrays["id.codes"]
        for at in np.flatnonzero(mask & np.isin(codes, list(wanted))).tolist():
            found[wanted[int(codes[at])]] = int(segment.rows[at])
    return found
