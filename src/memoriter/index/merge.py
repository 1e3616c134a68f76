"""Merges consecutive segments into one; a rebuild merges all of them.

`TenantIndex` merges the tail in memory, `upkeep` and `erase` what is published. A merge drops rows
that ended at or before the floor, forgotten rows whatever the floor, and everything that belongs to
them: no string, vector or edge of theirs is left in the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.index.checked import VECTORS
from memoriter.index.columns import Arrays, dictionary_of, merged_columns
from memoriter.index.dictionary import Dictionary, union
from memoriter.index.pace import unpaced
from memoriter.index.segment import GONE, Segment
from memoriter.index.vector_stream import VectorStream
from memoriter.index.windows import merged_windows

BLOCK: Final = 1 << 20
"""How many postings are dealt at a time: their new places are eight bytes each."""
FACTOR: Final = 8
"""How many segment files of about one size are merged into one."""


class Gone(NamedTuple):
    """Forgotten records: the rows of their versions, and their positions."""

    rows: NDArray[np.int64]
    positions: NDArray[np.int64]


_NONE: Final = Gone(np.zeros(0, np.int64), np.zeros(0, np.int64))


def merge(
    segments: Sequence[Segment],
    floor: int,
    gone: Gone = _NONE,
    pace: Callable[[], None] = unpaced,
    *,
    streamed: bool = False,
) -> Segment:
    """One segment of consecutive ones, oldest first, without rows that ended by `floor`.

    If it is `streamed`, its vectors are a `VectorStream`: it can be saved, and not searched.
    Tombstones inside the segments count; `gone` names what later ones erase. `pace` is called every
    few milliseconds.
    """
    # At least GONE: forgotten rows are dropped whatever the floor.
    keeps = [
        (segment.ends > max(floor, GONE)) & ~np.isin(segment.rows, gone.rows)
        for segment in segments
    ]
    parts = [segment.arrays for segment in segments]
    arrays: Arrays = {
        "rows": np.concatenate([s.rows[k] for s, k in zip(segments, keeps, strict=True)]),
        "ends": np.concatenate([s.ends[k] for s, k in zip(segments, keeps, strict=True)]),
        "born": np.concatenate([s.born[k] for s, k in zip(segments, keeps, strict=True)]),
        "tombs": np.concatenate([part["tombs"] for part in parts]),
    }
    arrays.update(_postings(segments, keeps, pace))
    arrays.update(merged_windows(parts, keeps, pace))
    arrays.update(merged_columns(parts, keeps, pace))
    pace()
    of_vectors, stream = _vectors(segments, keeps, gone.rows)
    arrays.update(of_vectors)
    arrays[VECTORS] = cast("NDArray[np.float32]", stream) if streamed else stream[:]
    arrays.update(_edges(parts, np.concatenate([arrays["tombs"], gone.positions])))
    arrays.update(_events(parts, segments[0].first))
    return Segment(segments[0].first, segments[-1].last, arrays)


def _events(parts: Sequence[Arrays], first: int) -> Arrays:
    """Ends of rows before the merged span; ends of rows inside it have been applied."""
    rows = np.concatenate([part["events.rows"] for part in parts])
    ends = np.concatenate([part["events.ends"] for part in parts])
    before = rows <= first
    return {"events.rows": rows[before], "events.ends": ends[before]}


def _postings(
    segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]], pace: Callable[[], None]
) -> Arrays:
    """The merged posting lists, positions, lengths and surface words.

    Within a term each segment's postings follow those of the one before, so rows stay sorted.
    """
    dictionary, maps = union([segment.terms for segment in segments], pace)
    pieces: list[tuple[NDArray[np.int32], Arrays]] = []
    offset = 0
    for segment, keep, new in zip(segments, keeps, maps, strict=True):
        arrays = segment.arrays
        sizes = np.diff(arrays["postings.starts"].astype(np.int64))
        alive = keep[arrays["postings.docs"]]
        taken: Arrays = {key: arrays[f"postings.{key}"][alive] for key in ("docs", "fields", "tfs")}
        # Old place → new place; only entries of kept rows are read.
        place = (np.cumsum(keep, dtype=np.int64) - 1 + offset).astype(np.int32)
        taken["docs"] = place[taken["docs"]]
        of_alive = np.repeat(alive, arrays["postings.tfs"])
        taken["places"] = arrays["places"][of_alive].astype(np.uint32)
        pieces.append((np.repeat(new.astype(np.int32), sizes)[alive], taken))
        offset += int(keep.sum())
        pace()
    starts, dealt = _dealt(pieces, ("docs", "fields", "tfs"), len(dictionary), pace)
    place_starts, places = _dealt(pieces, ("places",), len(dictionary), pace, "tfs")
    used = np.diff(starts) > 0
    lengths = [s.lengths[:, keep] for s, keep in zip(segments, keeps, strict=True)]
    return {
        **{f"postings.{key}": array for key, array in dealt.items()},
        **places,
        "postings.starts": np.concatenate([starts[:1], starts[1:][used]]),
        "places.starts": np.concatenate([place_starts[:1], place_starts[1:][used]]),
        **dictionary.kept(used).arrays("terms"),
        **_surfaces(segments, keeps, pace),
        "lengths": np.concatenate(lengths, axis=1),
    }


def _dealt(
    pieces: Sequence[tuple[NDArray[np.int32], Arrays]],
    keys: Sequence[str],
    terms: int,
    pace: Callable[[], None],
    times: str = "",
) -> tuple[NDArray[np.int64], Arrays]:
    """(offset of each term, some arrays of all pieces grouped by term).

    Each piece is sorted by term; this is a counting sort over all of them. The arrays have an entry
    for each owner, or as many as the array `times` says.
    """
    counts = [
        np.bincount(owners, arrays[times] if times else None, minlength=terms).astype(np.int64)
        for owners, arrays in pieces
    ]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.sum(counts, axis=0))])
    out: Arrays = {key: np.zeros(starts[-1], pieces[0][1][key].dtype) for key in keys}
    begin = starts[:-1].copy()
    for (named, arrays), count in zip(pieces, counts, strict=True):
        owners = np.repeat(named, arrays[times]) if times else named
        moved = begin - (np.cumsum(count) - count)  # from places in the piece to those in `out`
        for low in range(0, owners.size, BLOCK):
            high = min(low + BLOCK, owners.size)
            at = moved[owners[low:high]] + np.arange(low, high)
            for key in keys:
                out[key][at] = arrays[key][low:high]
            pace()
        begin += count
    return starts, out


def _surfaces(
    segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]], pace: Callable[[], None]
) -> Arrays:
    """The surface words of the kept rows."""
    dictionary, maps = union([segment.surfaces for segment in segments], pace)
    pieces: list[tuple[NDArray[np.int32], Arrays]] = []
    offset = 0
    for segment, keep, new in zip(segments, keeps, maps, strict=True):
        docs = segment.arrays["surfaces.docs"]
        alive = keep[docs]
        place = (np.cumsum(keep, dtype=np.int64) - 1 + offset).astype(np.int32)
        owners = np.repeat(
            new.astype(np.int32), np.diff(segment.arrays["surfaces.starts"].astype(np.int64))
        )[alive]
        pieces.append((owners, {"surfaces.docs": place[docs[alive]]}))
        offset += int(keep.sum())
    starts, dealt = _dealt(pieces, ("surfaces.docs",), len(dictionary), pace)
    used = np.diff(starts) > 0
    used_starts = np.concatenate([starts[:1], starts[1:][used]])
    return {**dealt, "surfaces.starts": used_starts, **dictionary.kept(used).arrays("surfaces")}


def _vectors(
    segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]], gone: NDArray[np.int64]
) -> tuple[Arrays, VectorStream]:
    """The vectors of the kept rows, and late ones of rows in earlier segments."""
    dropped = [s.rows[~k] for s, k in zip(segments, keeps, strict=True)]
    # Rows of earlier segments that a tombstone in these ones erases: their late vectors go too.
    forgotten = [s.arrays["events.rows"][s.arrays["events.ends"] == GONE] for s in segments]
    dead = np.concatenate([gone, *dropped, *forgotten])
    rows = np.concatenate([s.arrays["vectors.rows"] for s in segments])
    seqs = np.concatenate([s.arrays["vectors.seqs"] for s in segments])
    # Not "in alive": a vector may belong to a row of an earlier segment that is not merged here.
    kept = ~np.isin(rows, dead)
    none_rows = np.concatenate([s.arrays["vectors.none.rows"] for s in segments])
    none_seqs = np.concatenate([s.arrays["vectors.none.seqs"] for s in segments])
    still = ~np.isin(none_rows, dead)
    return {
        "vectors.none.rows": none_rows[still],
        "vectors.none.seqs": none_seqs[still],
        "vectors.rows": rows[kept],
        "vectors.seqs": seqs[kept],
    }, VectorStream(segments, kept)


def _edges(parts: Sequence[Arrays], tombs: NDArray[np.int64]) -> Arrays:
    """All edges except those of forgotten records."""
    dictionary, maps = union([dictionary_of(part, "edges.kinds") for part in parts])
    keys = ("seqs", "sources", "targets", "weights", "from", "until")
    out: Arrays = {
        f"edges.{key}": np.concatenate([p[f"edges.{key}"] for p in parts]) for key in keys
    }
    codes = [new[part["edges.kinds.codes"]] for part, new in zip(parts, maps, strict=True)]
    kept = ~(np.isin(out["edges.sources"], tombs) | np.isin(out["edges.targets"], tombs))
    out = {key: array[kept] for key, array in out.items()}
    used, places = np.unique(np.concatenate(codes)[kept], return_inverse=True)
    out["edges.kinds.codes"] = places.astype(np.int32)
    kinds = Dictionary.of([dictionary[int(n)] for n in used])
    return {**out, **kinds.arrays("edges.kinds")}


def due(sizes: Sequence[int], factor: int = FACTOR, small: int = 0) -> slice | None:
    """Which segments to merge: a run of `factor` of about one size, and all newer ones.

    None if none is due. Sizes are row counts, oldest first. Each row is merged about
    log(n) / log(factor) times. Otherwise the newest that have at most `small` rows together are
    merged: each segment costs a search some time, however few rows it has.

    >>> due([100, 1, 1, 1, 1], factor=4)
    slice(1, 5, None)
    >>> due([100, 1, 1], factor=4) is None
    True
    >>> due([100, 8, 2], factor=4, small=10)
    slice(1, 3, None)
    """
    for start in range(len(sizes) - factor + 1):
        run = sizes[start : start + factor]
        if run[0] <= sum(run[1:]):
            return slice(start, len(sizes))
    start = next((n for n in range(len(sizes)) if sum(sizes[n:]) <= small), len(sizes))
    return slice(start, len(sizes)) if len(sizes) - start > 1 else None
