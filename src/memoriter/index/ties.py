"""Sort keys for records with equal scores: attributes that a recipe names, finally the row."""

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
"""What a tie may be broken by; a leading minus reverses it."""


def tie_keys(view: View, names: Sequence[str]) -> Keys:
    """A function from rows to their sort keys; names that are not attributes are ignored."""
    known = [name for name in names if name.removeprefix("-") in ATTRIBUTES]
    if not known or known[0] == "row":  # rows are distinct, so later keys would not matter
        return by_row
    return lambda rows: [tie_key(view, rows, name) for name in known]


def tie_key(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """One sort key per row, ascending; rows without the attribute come last either way."""
    key, down = _key(view, rows, name.removeprefix("-")), name.startswith("-")
    return np.where(np.isnan(key), np.inf, -key if down else key)


def _key(view: View, rows: Rows, name: str) -> NDArray[np.float64]:
    """A number per row that sorts like the attribute; NaN if the record has none."""
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
