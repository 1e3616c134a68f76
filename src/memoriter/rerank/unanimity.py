"""How far two lanes agree on the best rows. If they agree enough, the reranker is not called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

RowNumbers = Sequence[int] | NDArray[np.int64]
AgreeBy = Literal["positional", "overlap"]
"""Whether a row counts if it has the same rank in both lists, or if it is in both heads."""

DEPTH: Final = 3
"""How many of the first rows of each ranking are compared."""
ENOUGH: Final = 2
"""From so many agreements on the reranker is not called."""


def agreement(
    first: RowNumbers, second: RowNumbers, depth: int = DEPTH, kind: AgreeBy = "positional"
) -> int:
    """How many of the first `depth` rows two rankings share; 0 if one has fewer rows.

    >>> agreement([1, 2, 3], [2, 1, 3]), agreement([1, 2, 3], [2, 1, 3], kind="overlap")
    (1, 3)
    """
    if min(len(first), len(second)) < depth:
        return 0
    one, two = ([int(row) for row in rows[:depth]] for rows in (first, second))
    if kind == "overlap":
        return len(set(one) & set(two))
    return sum(each == other for each, other in zip(one, two, strict=True))
