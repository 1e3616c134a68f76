"""Overwrites what is left of deleted rows in the free space of a store file's pages.

`PRAGMA secure_delete` zeroes what SQLite frees. But when SQLite spreads the rows of a page over its
neighbours, the page may keep copies of rows that moved, in the space between its list of cells and
the first of them. Once such a row is deleted where it lives, its copy stays behind. That space
belongs to no row and no reader looks at it, so it can be zeroed in place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import Unsupported
from memoriter.store.sqlite.openers import OPENERS

CHUNK_BYTES: Final = 4 * 1024**2
_HEADER: Final = 100
"""Bytes of the file's header, before the first page's own."""
_LARGEST_ROOT: Final = 52
"""Where the header has the largest root page; it is 0 unless the file uses auto-vacuum."""
_TREES: Final = np.array([2, 5, 10, 13], np.uint8)
"""First bytes of pages that hold cells: inner pages (2, 5) and leaves (10, 13)."""
_INNER: Final = 5
_MOST_PAGES: Final = 2**25
"""In larger files a page of a long value may begin with one of these bytes, too."""


def zero_free_space(path: Path) -> int:
    """Zero the free space of every page; returns how many pages held anything there.

    The caller holds the write lock, and the write-ahead log is empty: nothing else writes the file.
    """
    with OPENERS.beside(path) as file:
        size = file.xFileSize()
        page = int.from_bytes(file.xRead(2, 16), "big")
        page = 65536 if page == 1 else page
        # With auto-vacuum, which we never use, other pages may begin like one that holds cells.
        vacuums = any(file.xRead(4, _LARGEST_ROOT))
        if size // page >= _MOST_PAGES or vacuums:
            raise Unsupported(
                f"{path.name} is too large, or uses auto-vacuum, so what was forgotten cannot be"
                " erased from it",
                hint="export the tenant and load it into a new store",
            )
        zeroed = 0
        for at in range(0, size, CHUNK_BYTES):
            pages = np.frombuffer(file.xRead(min(CHUNK_BYTES, size - at), at), np.uint8)
            for begin, end in _dirty(pages.reshape(-1, page), first=at == 0):
                file.xWrite(bytes(end - begin), at + begin)
                zeroed += 1
        if zeroed:
            file.xSync(apsw.SQLITE_SYNC_FULL)
        return zeroed


def _dirty(pages: NDArray[np.uint8], *, first: bool) -> list[tuple[int, int]]:
    """(begin, end) of the free space of each page in which something is not zero."""
    at = np.zeros(len(pages), np.int64)
    at[0] = _HEADER if first else 0
    kind = _byte(pages, at)
    begin = at + np.where(kind <= _INNER, 12, 8) + 2 * _number(pages, at + 3)
    end = _number(pages, at + 5)
    width = pages.shape[1]
    end = np.where(end == 0, 65536, end)
    trees = np.isin(kind, _TREES) & (begin < end) & (end <= width)
    at_trees = np.flatnonzero(trees)
    bounds = np.stack([begin[at_trees], end[at_trees]], axis=1) + (at_trees * width)[:, None]
    if not bounds.size:
        return []
    # The bytes from each begin to its end as one, or-ed; a zero byte, since the last end may be
    # that of the whole.
    every = np.append(pages.reshape(-1), np.uint8(0))
    held = np.bitwise_or.reduceat(every, bounds.reshape(-1))[::2]
    return [(int(low), int(high)) for low, high in bounds[held != 0]]


def _byte(pages: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[Any]:
    return pages[np.arange(len(pages)), at]


def _number(pages: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """The two-byte number at a place of each page."""
    return _byte(pages, at).astype(np.int64) << 8 | _byte(pages, at + 1)
