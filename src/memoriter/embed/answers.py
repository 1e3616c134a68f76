"""Prepares texts for a model and checks the vectors that it returns.

Shared by the embedders that call a function, a server or a local model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.models.texts import encodable
from memoriter.rank.units import units


def checked_vectors(answer: object, count: int, dimension: int | None) -> NDArray[np.floating]:
    """The answer as a table of one row per text; raises ValueError if it is anything else.

    >>> checked_vectors([[3, 4], [0, 1]], count=2, dimension=2).shape
    (2, 2)
    """
    try:
        table = np.asarray(answer)
    except (TypeError, ValueError):
        raise ValueError("the vectors are not lists of numbers, or differ in length") from None
    if table.ndim != 2 or table.dtype.kind not in "fiu":  # noqa: PLR2004  # rows and columns
        raise ValueError("the vectors are not lists of numbers, or differ in length")
    if len(table) != count:
        raise ValueError(f"{len(table)} vectors came back for {count} texts")
    if dimension is not None and table.shape[1] != dimension:
        raise ValueError(f"expected vectors of {dimension} numbers, got {table.shape[1]}")
    if table.shape[1] == 0:
        raise ValueError("the vectors have no numbers")
    if not np.isfinite(table).all():
        raise ValueError("a vector contains NaN or infinity")
    return table.astype(np.float64)


def place_vectors(
    table: NDArray[np.floating], at: Sequence[int], total: int
) -> list[NDArray[np.float32] | None]:
    """A list of `total` vectors with row n of the table, at unit length on the grid, at `at[n]`.

    The other places, and those of zero vectors, hold None.
    """
    out: list[NDArray[np.float32] | None] = [None] * total
    for place, vector in zip(at, units(table), strict=True):
        if vector.any():
            out[place] = vector.copy()  # a view would keep the whole table in memory
    return out


def prepare_texts(texts: Sequence[str], prefix: str) -> tuple[list[int], list[str]]:
    """(the places of the texts that are not blank, these texts with the prefix before them).

    >>> prepare_texts(["red", " ", "blue"], "query: ")
    ([0, 2], ['query: red', 'query: blue'])
    """
    at = [nth for nth, text in enumerate(texts) if text.strip()]
    return at, [prefix + encodable(texts[nth]) for nth in at]
