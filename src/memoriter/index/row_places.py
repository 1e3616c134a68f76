"""Where rows are in a segment. The steps of a search ask for the same rows again and again."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows

_Places = NDArray[np.intp]
Located = tuple[_Places, Mask]
"""The places of those of some rows that are in the segment, and a mask of which are."""

_KEPT: Final = 16
"""How many answers are kept."""
_CANDIDATES: Final = 4_096
"""The places of more rows than a search has candidates are not kept."""


_TABLE_FROM: Final = 4_096
"""With fewer rows, a binary search is as quick."""
_SPARSE: Final = 8
"""A table is made if not more than one number in so many is a row."""


class RowPlaces:
    """Finds rows among those of a segment, which ascend. Threads may share it."""

    def __init__(self, own: Rows) -> None:
        self._own = own
        # By the identity of an array, which its entry keeps alive. Nobody writes into such arrays.
        self._known: dict[int, tuple[Rows, _Places, Mask]] = {}

    def of(self, rows: Rows) -> Located:
        """Where some rows are."""
        known = self._known.get(id(rows))
        if known is not None:
            return known[1], known[2]
        if not self._own.size:
            return np.zeros(0, np.intp), np.zeros(rows.size, np.bool_)
        table = self._table
        if table is None:
            at = self._own.searchsorted(rows)
            np.minimum(at, self._own.size - 1, out=at)
        else:
            guess = np.minimum(np.maximum(rows - self._own[0], 0), table.size - 1)
            at = table[guess].astype(np.intp)
        here = self._own[at] == rows
        return self._keep(rows, at if here.all() else at[here], here)

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """The place of each row from the first to the last; None if that is not worth it.

        Looking up some hundred rows is several times as fast as searching for each.
        """
        own = self._own
        if own.size < _TABLE_FROM or (span := int(own[-1] - own[0]) + 1) > _SPARSE * own.size:
            return None
        table = np.zeros(span, np.int32)
        table[own - own[0]] = np.arange(own.size, dtype=np.int32)
        return table

    def note_part(self, rows: Rows, chosen: Mask | _Places, part: Rows) -> None:
        """`part` is rows[chosen]: where it is follows from where the rows are, if that is known."""
        known = self._known.get(id(rows))
        if known is None:
            return
        _, at, here = known
        if at.size < rows.size:
            every = np.zeros(rows.size, np.intp)
            every[here] = at
            at = every
        at, here = at[chosen], here[chosen]
        self._keep(part, at if here.all() else at[here], here)

    def _keep(self, rows: Rows, at: _Places, here: Mask) -> Located:
        if rows.size <= _CANDIDATES:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[id(rows)] = (rows, at, here)
        return at, here
