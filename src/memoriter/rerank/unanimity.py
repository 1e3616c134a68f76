"""When two lanes agree about the best rows, nobody needs to read them once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Rows = Sequence[int] | NDArray[np.int64]
Kind = Literal["positional", "overlap"]
"""Do the same rows stand at the same places, or in both heads at all?"""

DEPTH: Final = 3
"""Rows of each head that are compared."""
ENOUGH: Final = 2
"""Agreements with which a reranker need not be asked."""


def agreement(first: Rows, second: Rows, depth: int = DEPTH, kind: Kind = "positional") -> int:
    """How many of the first `depth` rows two rankings share; 0 when one is shorter than that.

    >>> agreement([1, 2, 3], [2, 1, 3]), agreement([1, 2, 3], [2, 1, 3], kind="overlap")
    (1, 3)
    """
    if min(len(first), len(second)) < depth:
        return 0
    one, two = ([int(row) for row in rows[:depth]] for rows in (first, second))
    if kind == "overlap":
        return len(set(one) & set(two))
    return sum(each == other for each, other in zip(one, two, strict=True))
