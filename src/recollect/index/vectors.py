"""The vectors of given rows, in the space that serves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.core.ranking import Mask, Rows
from recollect.index.reading import Reading


def units_of(reading: Reading, rows: Rows) -> tuple[NDArray[np.float32], Mask]:
    """(a unit vector per row, which rows have one); of a text in parts the first part's."""
    width = max((s.arrays["vectors.matrix"].shape[1] for s in reading.segments), default=0)
    out = np.zeros((rows.size, width), np.float32)
    known = np.zeros(rows.size, np.bool_)
    for segment in reading.segments:
        owners = segment.arrays["vectors.rows"]
        there = segment.arrays["vectors.seqs"] <= reading.seq
        seen = np.flatnonzero(there & np.isin(owners, rows))
        first = {int(owners[at]): int(at) for at in seen[::-1]}
        for at, row in enumerate(rows.tolist()):
            if row in first and not known[at]:
                out[at], known[at] = segment.arrays["vectors.matrix"][first[row]], True
    return out, known
