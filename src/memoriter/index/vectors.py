"""The vectors of some rows, one for each: the middle of its parts where a text was split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows
from memoriter.index.view import View
from memoriter.rank.cluster import middle
from memoriter.rank.grid import cosines


def _engine(view: View, rows: Rows) -> tuple[Rows, NDArray[np.float32]]:
    """(owners, vectors) of every part of these rows that the view sees, owners ascending."""
    parts = [
        (segment.arrays["vectors.rows"][seen], segment.arrays["vectors.matrix"][seen])
        for segment in view.segments
        if (
            seen := np.isin(segment.arrays["vectors.rows"], rows)
            & (segment.arrays["vectors.seqs"] <= view.seq)
        ).any()
    ]
    if not parts:
        return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    owners = np.concatenate([mine for mine, _ in parts])
    order = np.argsort(owners, kind="stable")
    return owners[order], np.concatenate([each for _, each in parts])[order]


def row_vectors(view: View, rows: Rows) -> tuple[Rows, NDArray[np.float32]]:
    """(those of these rows that have a vector in the view, ascending; the unit vectors)."""
    owners, matrix = _engine(view, rows)
    found, starts, counts = np.unique(owners, return_index=True, return_counts=True)
    out, kept = matrix[starts], np.ones(found.size, np.bool_)
    for at in np.flatnonzero(counts > 1).tolist():
        centre = middle(matrix[starts[at] : starts[at] + counts[at]])
        kept[at] = centre is not None
        out[at] = 0.0 if centre is None else centre
    return found[kept], out[kept]


def unit_vectors(view: View, rows: Rows) -> tuple[NDArray[np.float32], Mask]:
    """(a unit vector for each of these rows, which of them have one; zeros where not)."""
    found, matrix = row_vectors(view, rows)
    known = np.isin(rows, found)
    out = np.zeros((rows.size, matrix.shape[1]), np.float32)
    out[known] = matrix[np.searchsorted(found, rows[known])]
    return out, known


def best_parts(
    view: View, rows: Rows, query: NDArray[np.float32]
) -> dict[int, NDArray[np.float32]]:
    """Of each of these rows that has vectors the part nearest to a query, the first of equals."""
    owners, matrix = _engine(view, rows)
    near = cosines(matrix, query) if owners.size else np.zeros(0)
    order = np.lexsort((np.arange(owners.size), -near, owners))
    found, first = np.unique(owners[order], return_index=True)
    return {int(row): matrix[order[at]] for row, at in zip(found, first, strict=True)}
