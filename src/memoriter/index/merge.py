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

from memoriter.core.ranking import VectorMatrix
from memoriter.index.checked import VECTORS
from memoriter.index.columns import Arrays, dictionary_of, merged_columns
from memoriter.index.dealing import Dealt, SegmentLists, deal
from memoriter.index.dictionary import Dictionary, union
from memoriter.index.pace import unpaced
from memoriter.index.segment import GONE, Segment
from memoriter.index.vector_stream import VectorStream
from memoriter.index.windows import merged_windows

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
    arrays[VECTORS] = cast("VectorMatrix", stream) if streamed else stream[:]
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
    dealt, places = _dealt_postings(segments, keeps, maps, len(dictionary), pace)
    used = np.diff(dealt.starts) > 0
    lengths = [s.lengths[:, keep] for s, keep in zip(segments, keeps, strict=True)]
    return {
        **{f"postings.{key}": array for key, array in dealt.arrays.items()},
        **places.arrays,
        "postings.starts": _used_starts(dealt, used),
        "places.starts": _used_starts(places, used),
        **dictionary.kept(used).arrays("terms"),
        **_surfaces(segments, keeps, pace),
        "lengths": np.concatenate(lengths, axis=1),
    }


def _dealt_postings(
    segments: Sequence[Segment],
    keeps: Sequence[NDArray[np.bool_]],
    maps: Sequence[NDArray[np.integer]],
    terms: int,
    pace: Callable[[], None],
) -> tuple[Dealt, Dealt]:
    """(postings, token positions) by term."""
    lists = _lists(segments, keeps, maps, "postings")
    postings, positions = np.zeros(terms, np.int64), np.zeros(terms, np.int64)
    for segment, own in zip(segments, lists, strict=True):
        tfs = segment.arrays["postings.tfs"]
        for at, alive, owners, _ in own.blocks():
            postings += np.bincount(owners, minlength=terms)
            positions += np.bincount(owners, tfs[at][alive], minlength=terms).astype(np.int64)
            pace()
    dealt = Dealt(postings, {"docs": np.int32, "fields": np.uint8, "tfs": np.int32})
    places = Dealt(positions, {"places": np.uint32})
    for segment, own in zip(segments, lists, strict=True):
        arrays, begin = segment.arrays, 0
        fields, tfs = arrays["postings.fields"], arrays["postings.tfs"]
        for at, alive, owners, docs in own.blocks():
            every, often = tfs[at], tfs[at][alive]
            dealt.add(owners, docs=docs, fields=fields[at][alive], tfs=often)
            end = begin + int(every.sum())
            of_alive = arrays["places"][begin:end][np.repeat(alive, every)]
            places.add(np.repeat(owners, often), places=of_alive)
            begin = end
            pace()
    return dealt, places


def _lists(
    segments: Sequence[Segment],
    keeps: Sequence[NDArray[np.bool_]],
    maps: Sequence[NDArray[np.integer]],
    name: str,
) -> list[SegmentLists]:
    """The posting lists, or those of surface words, of each segment."""
    out: list[SegmentLists] = []
    before = 0
    for segment, keep, new in zip(segments, keeps, maps, strict=True):
        starts, docs = segment.arrays[f"{name}.starts"], segment.arrays[f"{name}.docs"]
        out.append(SegmentLists(starts, new, docs, keep, before))
        before += int(keep.sum())
    return out


def _used_starts(dealt: Dealt, used: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The starts without terms that no kept row has."""
    return np.concatenate([dealt.starts[:1], dealt.starts[1:][used]])


def _surfaces(
    segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]], pace: Callable[[], None]
) -> Arrays:
    """The surface words of the kept rows."""
    dictionary, maps = union([segment.surfaces for segment in segments], pace)
    lists = _lists(segments, keeps, maps, "surfaces")
    dealt = deal(lists, len(dictionary), pace)
    used = np.diff(dealt.starts) > 0
    return {
        "surfaces.docs": dealt.arrays["places"],
        "surfaces.starts": _used_starts(dealt, used),
        **dictionary.kept(used).arrays("surfaces"),
    }


def _vectors(
    segments: Sequence[Segment], keeps: Sequence[NDArray[np.bool_]], gone: NDArray[np.int64]
) -> tuple[Arrays, VectorStream]:
    """The vectors of the kept rows, and late ones of rows in earlier segments, by row."""
    dropped = [s.rows[~k] for s, k in zip(segments, keeps, strict=True)]
    # Rows of earlier segments that a tombstone in these ones erases: their late vectors go too.
    forgotten = [s.arrays["events.rows"][s.arrays["events.ends"] == GONE] for s in segments]
    dead = np.concatenate([gone, *dropped, *forgotten])
    rows = np.concatenate([s.arrays["vectors.rows"] for s in segments])
    seqs = np.concatenate([s.arrays["vectors.seqs"] for s in segments])
    # Not "in alive": a vector may belong to a row of an earlier segment that is not merged here.
    kept = np.flatnonzero(~np.isin(rows, dead))
    if (np.diff(rows[kept]) < 0).any():  # searches are fastest where each is at its row's place
        kept = kept[np.argsort(rows[kept], kind="stable")]
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
    merged, unless the oldest of them has nearly all: each segment costs a search some time, however
    few rows it has.

    >>> due([100, 1, 1, 1, 1], factor=4)
    slice(1, 5, None)
    >>> due([100, 1, 1], factor=4) is None
    True
    >>> due([100, 8, 2], factor=4, small=10)
    slice(1, 3, None)
    >>> due([100, 9, 1], factor=4, small=10) is None
    True
    """
    for start in range(len(sizes) - factor + 1):
        run = sizes[start : start + factor]
        if run[0] <= sum(run[1:]):
            return slice(start, len(sizes))
    start = next((n for n in range(len(sizes)) if sum(sizes[n:]) <= small), len(sizes))
    # A few new rows are not worth writing many others again.
    joins = sum(sizes[start + 1 :]) * FACTOR >= sum(sizes[start:])
    return slice(start, len(sizes)) if len(sizes) - start > 1 and joins else None
