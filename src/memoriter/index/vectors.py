"""Vectors of given rows, for reflection, MMR, collapse, receipts and calibration.

A long text is embedded in parts; where one vector is wanted, its row has the middle of theirs. The
vector lane scans whole segments instead: see `view_vectors`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows
from memoriter.index.view import View
from memoriter.rank.cluster import middle
from memoriter.rank.grid import exact_cosines


def part_vectors(view: View, rows: Rows) -> tuple[Rows, NDArray[np.float32]]:
    """(rows, vectors) of every part of these rows that the view sees, rows ascending."""
    parts = [
        (segment.arrays["vectors.rows"][seen], segment.vectors_at(np.flatnonzero(seen)))
        for segment in view.segments
        if (
            seen := np.isin(segment.arrays["vectors.rows"], rows)
            & (segment.arrays["vectors.seqs"] <= view.seq)
        ).any()
    ]
    if not parts:
        return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
    owners = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(owners, kind="stable")
    return owners[order], np.concatenate([each for _, each in parts])[order]


def embedded_rows(view: View) -> Rows:
    """The visible rows of a view that have a vector, ascending."""
    visible = [s.rows[mask] for s, mask in zip(view.segments, view.visible, strict=True)]
    owners = [
        segment.arrays["vectors.rows"][segment.arrays["vectors.seqs"] <= view.seq]
        for segment in view.segments
    ]
    none = np.zeros(0, np.int64)
    return np.intersect1d(np.concatenate([none, *visible]), np.concatenate([none, *owners]))


def row_vectors(view: View, rows: Rows) -> tuple[Rows, NDArray[np.float32]]:
    """(those of these rows that have a vector in the view, ascending; their unit vectors)."""
    owners, matrix = part_vectors(view, rows)
    distinct, starts, counts = np.unique(owners, return_index=True, return_counts=True)
    out, kept = matrix[starts], np.ones(distinct.size, np.bool_)
    for at in np.flatnonzero(counts > 1).tolist():
        # Parts that cancel out have no middle: the row then counts as one without a vector.
        centre = middle(matrix[starts[at] : starts[at] + counts[at]])
        kept[at] = centre is not None
        out[at] = 0.0 if centre is None else centre
    return distinct[kept], out[kept]


def unit_vectors(view: View, rows: Rows) -> tuple[NDArray[np.float32], Mask]:
    """(a unit vector for each of these rows or zeros, a mask of the rows that have one)."""
    having, matrix = row_vectors(view, rows)
    known = np.isin(rows, having)
    out = np.zeros((rows.size, matrix.shape[1]), np.float32)
    out[known] = matrix[np.searchsorted(having, rows[known])]
    return out, known


def best_parts(
    view: View, rows: Rows, query: NDArray[np.float32]
) -> dict[int, NDArray[np.float32]]:
    """For each of these rows with vectors the part nearest to a query; of equals the first."""
    owners, matrix = part_vectors(view, rows)
    near = exact_cosines(matrix, query) if owners.size else np.zeros(0)
    order = np.lexsort((np.arange(owners.size), -near, owners))
    distinct, first = np.unique(owners[order], return_index=True)
    return {int(row): matrix[order[at]] for row, at in zip(distinct, first, strict=True)}
