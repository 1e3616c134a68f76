"""Reads records for filters and searches: no row twice, counted as work, some megabytes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import Json
from memoriter.core.record import Record
from memoriter.core.work_limit import WorkLimit

Fetch = Callable[[Sequence[int]], Sequence[Record | None]]
"""Reads record versions by row."""
_STEPS_PER_READ: Final = 10
"""How many steps the reading of a record takes."""
_BYTES_PER_STEP: Final = 512
"""How many bytes of a stored record are read in the time of a step."""
_ENTRIES_PER_STEP: Final = 2
"""How many entries of lists and objects in metadata are decoded and counted in that time."""
HELD_BYTES: Final = 2**21
"""How many bytes of stored records are held at a time; nested lists take twenty times as much."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads record versions by row, and tells how many bytes they take before it reads them."""

    records: Fetch
    sizes: Callable[[Sequence[int]], Sequence[int]]

    def __call__(self, rows: Sequence[int]) -> Sequence[Record | None]:
        """The records of these rows; None for one that was forgotten."""
        return self.records(rows)


class EachOnce:
    """Reads records as another function does, and no row twice; reading counts as work, if asked.

    With a limit on work it holds some megabytes at most, and raises `BlockTooLarge` for more.
    """

    def __init__(self, fetch: Fetch, work: WorkLimit | None = None) -> None:
        self._fetch = fetch
        self._work = work
        self._known: dict[int, Record | None] = {}
        self._held = 0

    def __call__(self, rows: Sequence[int]) -> Sequence[Record | None]:
        """The records of these rows; None for one that was forgotten."""
        if fresh := [row for row in rows if row not in self._known]:
            read = self._fetch(fresh) if self._work is None else self._counted(fresh, self._work)
            self._known.update(zip(fresh, read, strict=True))
        return [self._known[row] for row in rows]

    def sizes(self, rows: Sequence[int]) -> Sequence[int]:
        """How many bytes each record takes; zeros if that is not known."""
        inner = self._fetch
        return inner.sizes(rows) if isinstance(inner, Reader | EachOnce) else [0] * len(rows)

    def anew(self) -> EachOnce:
        """The same, with nothing read yet: what was forgotten since is not found any more."""
        return EachOnce(self._fetch)

    def _counted(self, fresh: Sequence[int], work: WorkLimit) -> Sequence[Record | None]:
        sizes = self.sizes(fresh)
        self._held += sum(sizes)
        if self._held > HELD_BYTES and len(self._known) + len(fresh) > 1:
            raise BlockTooLarge
        work.spend(sum(_STEPS_PER_READ + size // _BYTES_PER_STEP for size in sizes))
        read = self._fetch(fresh)
        work.spend(sum(_entries(r.metadata) // _ENTRIES_PER_STEP for r in read if r is not None))
        return read


class BlockTooLarge(Exception):  # not an error: a block of records is then halved
    """The records of a block are too large to be held at a time."""


def _entries(value: Json) -> int:
    """How many entries the lists and objects in a value have."""
    if not isinstance(value, dict | list):
        return 0
    return len(value) + sum(map(_entries, value.values() if isinstance(value, dict) else value))
