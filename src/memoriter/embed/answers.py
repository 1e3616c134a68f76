"""What came back from somebody else's model: is it what was asked for?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.models.texts import encodable
from memoriter.rank.units import units


def checked(answer: object, count: int, dimension: int | None) -> NDArray[np.floating]:
    """The answer as a table of one row per text; a ValueError says what is wrong with it.

    >>> checked([[3, 4], [0, 1]], count=2, dimension=2).shape
    (2, 2)
    """
    try:
        table = np.asarray(answer)
    except (TypeError, ValueError):
        raise ValueError("the vectors are not lists of numbers of one length") from None
    if table.ndim != 2 or table.dtype.kind not in "fiu":  # noqa: PLR2004  # rows and columns
        raise ValueError("the vectors are not lists of numbers of one length")
    if len(table) != count:
        raise ValueError(f"{len(table)} vectors came back for {count} texts")
    if dimension is not None and table.shape[1] != dimension:
        raise ValueError(f"expected vectors of {dimension} numbers, got {table.shape[1]}")
    if table.shape[1] == 0:
        raise ValueError("the vectors are empty")
    if not np.isfinite(table).all():
        raise ValueError("a vector holds NaN or infinity")
    return table.astype(np.float64)


def placed(
    table: NDArray[np.floating], at: Sequence[int], total: int
) -> list[NDArray[np.float32] | None]:
    """The rows at unit length on the grid, each at its place among all texts; None elsewhere."""
    out: list[NDArray[np.float32] | None] = [None] * total
    for place, vector in zip(at, units(table), strict=True):
        if vector.any():
            out[place] = vector.copy()
    return out


def told(texts: Sequence[str], prefix: str) -> tuple[list[int], list[str]]:
    """(the places of the texts that are not blank, these texts behind their prefix).

    >>> told(["red", " ", "blue"], "query: ")
    ([0, 2], ['query: red', 'query: blue'])
    """
    at = [nth for nth, text in enumerate(texts) if text.strip()]
    return at, [prefix + encodable(texts[nth]) for nth in at]
