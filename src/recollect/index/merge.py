"""Neighbouring segments as one: the only way segments grow. A rebuild merges everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.index.columns import Arrays, dictionary_of, joined
from recollect.index.dictionary import Dictionary, union
from recollect.index.segment import GONE, Segment

FACTOR: Final = 8
"""How many segments of one size make one of the next."""


def merge(segments: Sequence[Segment], floor: int) -> Segment:
    """One segment of neighbours, oldest first, without rows that ended at or before `floor`."""
    keeps = [segment.ends > max(floor, GONE) for segment in segments]
    parts = [segment.arrays for segment in segments]
    arrays: Arrays = {
        "rows": np.concatenate([s.rows[k] for s, k in zip(segments, keeps, strict=True)]),
        "ends": np.concatenate([s.ends[k] for s, k in zip(segments, keeps, strict=True)]),
        "tombs": np.concatenate([part["tombs"] for part in parts]),
    }
    arrays.update(_postings(segments, keeps))
    arrays.update(joined(parts, keeps))
    arrays.update(_vectors(segments, keeps))
    arrays.update(_edges(parts, arrays["tombs"]))
    arrays.update(_events(parts, segments[0].first))
    return Segment(segments[0].first, segments[-1].last, arrays)


def _events(parts: Sequence[Arrays], first: int) -> Arrays:
    """Ends of rows that lie before the merged stretch; those inside have been applied."""
    rows = np.concatenate([part["events.rows"] for part in parts])
    ends = np.concatenate([part["events.ends"] for part in parts])
    before = rows <= first
    return {"events.rows": rows[before], "events.ends": ends[before]}


def _postings(segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]]) -> Arrays:
    """Postings term by term: each segment's follow the ones before, so rows stay in order."""
    dictionary, maps = union([segment.terms for segment in segments])
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64], Arrays]] = []
    counts = np.zeros((len(segments), len(dictionary)), np.int64)
    offset = 0
    for n, (segment, keep, new) in enumerate(zip(segments, keeps, maps, strict=True)):
        arrays = segment.arrays
        sizes = np.diff(arrays["postings.starts"].astype(np.int64))
        alive = keep[arrays["postings.docs"]]
        terms = np.repeat(new, sizes)[alive]
        place = np.cumsum(keep, dtype=np.int64) - 1 + offset
        counts[n] = np.bincount(terms, minlength=len(dictionary))
        taken: Arrays = {key: arrays[f"postings.{key}"][alive] for key in ("docs", "fields", "tfs")}
        pieces.append((terms, place[taken["docs"]], taken))
        offset += int(keep.sum())
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))])
    out: Arrays = {
        "postings.docs": np.zeros(starts[-1], np.int32),
        "postings.fields": np.zeros(starts[-1], np.uint8),
        "postings.tfs": np.zeros(starts[-1], np.int32),
    }
    begin = starts[:-1].copy()
    for n, (terms, docs, taken) in enumerate(pieces):
        within = np.arange(terms.size) - np.repeat(np.cumsum(counts[n]) - counts[n], counts[n])
        at = begin[terms] + within
        out["postings.docs"][at] = docs.astype(np.int32)
        out["postings.fields"][at] = taken["fields"]
        out["postings.tfs"][at] = taken["tfs"]
        begin += counts[n]
    lengths = [s.lengths[:, keep] for s, keep in zip(segments, keeps, strict=True)]
    return {
        **out,
        **_without_unused(dictionary, starts),
        "lengths": np.concatenate(lengths, axis=1),
    }


def _without_unused(dictionary: Dictionary, starts: NDArray[np.int64]) -> Arrays:
    """The dictionary and the starts of its postings, without terms that no kept row has."""
    used = np.diff(starts) > 0
    if not used.all():
        dictionary = Dictionary.of([dictionary[int(n)] for n in np.flatnonzero(used)])
    return {
        "terms.blob": dictionary.blob,
        "terms.at": dictionary.at,
        "postings.starts": np.concatenate([starts[:1], starts[1:][used]]),
    }


def _vectors(segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]]) -> Arrays:
    """Vectors of the rows that stay; one that came late moves in with its row."""
    alive = np.concatenate([s.rows[k] for s, k in zip(segments, keeps, strict=True)])
    dead = np.setdiff1d(np.concatenate([s.rows for s in segments]), alive)
    matrices = [s.arrays["vectors.matrix"] for s in segments]
    width = max(matrix.shape[1] for matrix in matrices)
    rows = np.concatenate([s.arrays["vectors.rows"] for s in segments])
    seqs = np.concatenate([s.arrays["vectors.seqs"] for s in segments])
    matrix = np.concatenate(
        [m if m.shape[0] else np.zeros((0, width), np.float32) for m in matrices]
    )
    kept = ~np.isin(rows, dead)
    return {
        "vectors.rows": rows[kept],
        "vectors.seqs": seqs[kept],
        "vectors.matrix": matrix[kept],
    }


def _edges(parts: Sequence[Arrays], tombs: NDArray[np.int64]) -> Arrays:
    """All edges but those at forgotten positions."""
    dictionary, maps = union([dictionary_of(part, "edges.kinds") for part in parts])
    keys = ("seqs", "sources", "targets", "weights", "from", "until")
    out: Arrays = {
        f"edges.{key}": np.concatenate([p[f"edges.{key}"] for p in parts]) for key in keys
    }
    codes = [new[part["edges.kinds.codes"]] for part, new in zip(parts, maps, strict=True)]
    out["edges.kinds.codes"] = np.concatenate(codes).astype(np.int32)
    kept = ~(np.isin(out["edges.sources"], tombs) | np.isin(out["edges.targets"], tombs))
    out = {key: array[kept] for key, array in out.items()}
    return {**out, "edges.kinds.blob": dictionary.blob, "edges.kinds.at": dictionary.at}


def due(sizes: Sequence[int], factor: int = FACTOR) -> slice | None:
    """Which neighbours to merge: a run of `factor` of about one size, and all newer ones.

    None when none is due. Sizes are row counts, oldest first. Each row is merged about
    log(n) / log(factor) times.

    >>> due([100, 1, 1, 1, 1], factor=4)
    slice(1, 5, None)
    >>> due([100, 1, 1], factor=4) is None
    True
    """
    for start in range(len(sizes) - factor + 1):
        run = sizes[start : start + factor]
        if run[0] <= sum(run[1:]):
            return slice(start, len(sizes))
    return None
