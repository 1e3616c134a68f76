"""Edges as arrays, and which edge of a key is in force. Used by graphs and views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask
from memoriter.index.columns import holds_at
from memoriter.rank.walk import Nodes


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges, oldest first: sources and targets are positions, kinds index `names`."""

    seqs: NDArray[np.int64]
    sources: Nodes
    targets: Nodes
    kinds: NDArray[np.int64]
    weights: NDArray[np.float64]
    since: NDArray[np.int64]
    until: NDArray[np.int64]
    names: tuple[str, ...]

    def holding(self, time: int, kinds: Sequence[str] | None = None) -> Mask:
        """A mask of the edges that are valid at a time and of these kinds (None for all)."""
        valid = holds_at(self.since, self.until, time)
        return valid if kinds is None else valid & np.isin(self.kinds, self._codes(kinds))

    def _codes(self, kinds: Sequence[str]) -> list[int]:
        return [code for code, kind in enumerate(self.names) if kind in kinds]


def latest(seqs: NDArray[np.int64], key: tuple[NDArray[np.int64], ...]) -> NDArray[np.intp]:
    """Indices of the last edge of each key, oldest first.

    Writing an edge with the same key again replaces the earlier one.
    """
    order = np.lexsort((seqs, *key))
    changes = np.zeros(max(order.size - 1, 0), np.bool_)
    for part in key:
        changes |= np.diff(part[order]) != 0
    last = order[np.append(changes, True)[: order.size]]
    return last[np.argsort(seqs[last], kind="stable")]
