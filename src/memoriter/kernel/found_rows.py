"""What searches find together, and values of these rows, computed in the same call of the kernel.

A pass with `complete` asks every lane about the rows that the others found. These questions are
jobs behind the searches (`Started.about_found`), so that no thread that searches keeps others from
their turns meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.kernel.library import Job, Search, address

_MOST: Final = 4_096
"""Found rows of which jobs compute values. Where there are more, each lane is asked afterwards."""
_MANY: Final = 512
"""As many rows as searches find usually."""


class Wanted:
    """The rows that a job is about, ascending: its arguments, and room for a value of each."""

    def __init__(
        self, rows: NDArray[np.int64], count: Job | None = None, known: Search | None = None
    ) -> None:
        """`count` is the job that fills `rows`, and returns how many there are; None: all.

        The rows that the search `known` finds have its scores as values.
        """
        self._rows = np.ascontiguousarray(rows, np.int64)
        self.size = rows.size if count is None else _MANY
        """About so many rows."""
        self._size = np.array([rows.size])
        self.values = np.empty(rows.size)
        given = address(self._size) if count is None else count
        own = (0, 0, 0) if known is None else known.outputs
        self.given = (address(self._rows), given, *own, address(self.values))

    def trim(self, rows: NDArray[np.int64]) -> None:
        """These are the rows after all: drop the room for more, and what the job needed."""
        self._rows, self.values, self.given = rows, self.values[: rows.size].copy(), ()

    def of(
        self,
        rows: NDArray[np.int64],
        others: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """The values of some rows, after the job; `others` computes those that it was not about."""
        known = self._rows
        if not known.size:
            return others(rows)
        at = np.minimum(known.searchsorted(rows), known.size - 1)
        out, missing = self.values[at], (known[at] != rows).nonzero()[0]
        if missing.size:
            out[missing] = others(rows[missing])
        return out


class FoundRows:
    """The rows that some searches find, all together."""

    def __init__(self, searches: Sequence[Search]) -> None:
        self._rows = np.empty(_MOST, np.int64)
        outputs = [each for search in searches for each in search.outputs]
        given = (len(searches), _MOST, address(self._rows), *outputs)
        self.job = Job("found_rows", given, _MOST, (self._rows, searches))
        self._wanted: list[Wanted] = []

    def wanted(self, known: Search | None = None) -> Wanted:
        """For a job about these rows; those that the search `known` finds have its scores."""
        made = Wanted(self._rows, self.job, known)
        self._wanted.append(made)
        return made

    def trim(self) -> None:
        """After the jobs: drop the room that they did not need."""
        rows = self._rows[: self.job.done].copy()
        for each in self._wanted:
            each.trim(rows)
