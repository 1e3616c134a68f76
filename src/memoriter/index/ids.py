"""Ids of rows and rows of ids in a view, from the id column: no record is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Rows
from memoriter.index.columns import dictionary_of
from memoriter.index.reads import numbers
from memoriter.index.view import ReplacingEdges, View


def ids_of(view: View, rows: Rows) -> list[str]:
    """The ids of these rows, in their order; KeyError for a row that is not in the view."""
    ids: dict[int, str] = {}
    for segment in view.segments:
        places, here = segment.places(rows)
        names = dictionary_of(segment.arrays, "id").many(segment.arrays["id.codes"][places])
        ids.update(zip(rows[here].tolist(), names, strict=True))
    return [ids[row] for row in rows.tolist()]


def rows_by_id(view: View, ids: Sequence[str], masks: Sequence[Mask]) -> dict[str, int]:
    """The row of each of these ids inside the masks; ids without one are left out."""
    rows: dict[str, int] = {}
    for segment, mask in zip(view.segments, masks, strict=True):
        names = dictionary_of(segment.arrays, "id")
        wanted = {code: one for one in ids if (code := names.find(one)) >= 0}
        codes = segment.arrays["id.codes"]
        for at in np.flatnonzero(mask & np.isin(codes, list(wanted))).tolist():
            rows[wanted[int(codes[at])]] = int(segment.rows[at])
    return rows


def replacing_ids(
    view: View, rows: Rows, edges: ReplacingEdges, masks: Sequence[Mask]
) -> list[tuple[str, ...]]:
    """For each of these rows the ids of records inside the masks that supersede it.

    `edges` come from `View.replacing_edges_at`; the oldest edge comes first.
    """
    if not edges.targets.size:
        return [()] * rows.size
    positions = numbers(view, rows, "position").astype(np.int64)
    edges = edges.take(np.isin(edges.targets, positions))
    names = _ids_at_positions(view, edges.sources, masks)
    superseding: dict[int, dict[str, None]] = {}
    for target, source in zip(edges.targets.tolist(), edges.sources.tolist(), strict=True):
        if source in names:
            superseding.setdefault(target, {})[names[source]] = None
    return [tuple(superseding.get(position, ())) for position in positions.tolist()]


def _ids_at_positions(
    view: View, positions: NDArray[np.int64], masks: Sequence[Mask]
) -> dict[int, str]:
    """The id at each of these positions inside the masks; positions without one are left out."""
    out: dict[int, str] = {}
    if not positions.size:
        return out
    for segment, mask in zip(view.segments, masks, strict=True):
        at = np.flatnonzero(mask & np.isin(segment.arrays["position"], positions))
        codes, names = segment.arrays["id.codes"][at], dictionary_of(segment.arrays, "id")
        for place, code in zip(segment.arrays["position"][at].tolist(), codes, strict=True):
            out[int(place)] = names[int(code)]
    return out
