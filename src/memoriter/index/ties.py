"""How equals are put in order: by attributes of records, in the end by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.index.columns import NUMBER_COLUMNS, STRING_COLUMNS, TIME_COLUMNS
from memoriter.index.reads import codes, numbers, strings
from memoriter.index.view import View
from memoriter.rank.top import Keys, by_row

ATTRIBUTES: Final = ("path", *STRING_COLUMNS, *NUMBER_COLUMNS, *TIME_COLUMNS, "row")
"""What a tie may go by; a leading minus turns it round."""


def tie_keys(view: View, names: Sequence[str]) -> Keys:
    """The keys of rows under these names; those that name no attribute say nothing here."""
    told = [name for name in names if name.removeprefix("-") in ATTRIBUTES]
    if not told or told[0] == "row":  # no two rows are equal in it: nothing after it counts
        return by_row
    return lambda rows: [tie_key(view, rows, name) for name in told]


def tie_key(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """One key of rows, smallest first; what is absent comes last either way."""
    key, down = _key(view, rows, name.removeprefix("-")), name.startswith("-")
    return np.where(np.isnan(key), np.inf, -key if down else key)


def _key(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """A number per row whose order is the attribute's; NaN where the record has none."""
    if name == "row":
        return rows.astype(np.float64)
    if name in (*NUMBER_COLUMNS, *TIME_COLUMNS):
        return numbers(view, rows, name)
    if name != "path":
        met, _ = codes(view, rows, name)
        return np.where(met < 0, np.nan, met)
    paths, ids = strings(view, rows, "source.path"), strings(view, rows, "id")
    values = [one if path is None else path for path, one in zip(paths, ids, strict=True)]
    place = {value: float(n) for n, value in enumerate(sorted(set(values), key=str))}
    return np.array([place[value] for value in values], np.float64)
