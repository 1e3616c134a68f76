"""`python -m tools.kin`: writes the nearest words of every word of the packaged table.

It takes a minute or so, and is run only when the table changes; `memoriter.embed.kin` then pins the
sha256 that it prints.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.kin import NEIGHBOURS, cosines
from memoriter.embed.static import table

BLOCK = 256
SPARE = 16
"""Nearest ones beyond the list, so that ties at its end are seen; checked below."""


def nearest(first: int, last: int) -> NDArray[np.uint16]:
    """Each word of [first, last) itself, then the others: nearest first, ties by row."""
    rows = table().rows
    # A dot product of two rows is an integer below 2^24: float32 has it exactly, in any order.
    wide = rows.astype(np.float32)
    dots = wide[first:last] @ wide.T
    squares = (rows.astype(np.int64) ** 2).sum(axis=1)
    near = cosines(dots.astype(np.float64), squares[first:last, np.newaxis], squares)
    own = np.arange(first, last)
    near[own - first, own] = np.inf
    out = np.zeros((last - first, NEIGHBOURS), np.uint16)
    for at, scores in enumerate(near):
        some = np.argpartition(-scores, NEIGHBOURS + SPARE)[: NEIGHBOURS + SPARE]
        some = some[np.lexsort((some, -scores[some]))]
        if scores[some[NEIGHBOURS - 1]] == scores[some[-1]]:
            raise ValueError(f"row {first + at}: more ties than are looked at")
        out[at] = some[:NEIGHBOURS]
    return out


def main() -> int:
    """Write the file and print its sha256."""
    total = len(table().rows)
    blocks = [nearest(at, min(at + BLOCK, total)) for at in range(0, total, BLOCK)]
    path = Path("src/memoriter/embed/static_en/kin.npy")
    np.save(path, np.concatenate(blocks))
    sys.stdout.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
