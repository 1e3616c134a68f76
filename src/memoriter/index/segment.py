"""A segment: a part of the log as sorted arrays, in memory or mapped from a file.

Every lane reads segments: postings, field lengths, columns, vectors, edges, kin windows. Only
`ends` ever changes: an update ends a row for the views from then on, and a forget ends it for every
view (`GONE`). `build` makes a segment from a delta of the log; `merge` makes one from several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.core.words import Sketch
from memoriter.index.columns import NO_TIME, Arrays, dictionary_of, record_columns
from memoriter.index.dictionary import Dictionary
from memoriter.index.log_arrays import edge_arrays, sample_of, vector_arrays
from memoriter.index.sessions import SessionKeys, Sessions, session_keys
from memoriter.index.windows import Windows, windows_of
from memoriter.rank.codes import Codes, codes_of
from memoriter.store.port import Delta
from memoriter.store.rows import read_tomb

LIVE: Final = np.iinfo(np.int64).max
"""The end of a row that is its record's latest version."""
GONE: Final = 0
"""The end of a forgotten row: before every view."""
_REMEMBERED: Final = 65_536
"""How many entries each cache of a segment has at most; a full one is emptied."""


@dataclass(frozen=True, slots=True)
class Postings:
    """A posting list, sorted by row, then field: rows as places in the segment, term counts."""

    docs: NDArray[np.int32]
    fields: NDArray[np.uint8]
    tfs: NDArray[np.int32]

    def take(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> Postings:
        """The postings at these indices, or under this mask."""
        return Postings(self.docs[at], self.fields[at], self.tfs[at])

    def at(self, places: NDArray[np.integer]) -> Postings:
        """The postings of these rows, given ascending; by binary search, not by a scan."""
        wanted = places.astype(np.int32)  # the same dtype, or searchsorted copies all postings
        low = np.searchsorted(self.docs, wanted)
        there = low < self.docs.size
        there[there] = self.docs[low[there]] == wanted[there]
        low, wanted = low[there], wanted[there]
        sizes = np.searchsorted(self.docs, wanted, "right") - low
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.take(np.repeat(low, sizes) + within)


@dataclass(frozen=True, slots=True)
class SegmentView:
    """What a view sees of a segment: a mask of rows, their count, and sums of field lengths."""

    mask: NDArray[np.bool_]
    count: int
    lengths: NDArray[np.int64]
    counted: dict[object, int] = field(default_factory=dict[object, int])
    """Cached numbers (such as document frequencies), by what they count."""

    def number(self, what: object, count: Callable[[], int]) -> int:
        """The number for `what`, computed by `count` on first use."""
        known = self.counted.get(what)
        if known is None:
            if len(self.counted) >= _REMEMBERED:
                self.counted.clear()
            known = self.counted[what] = count()
        return known


class Segment:
    """The log in (first, last], as named arrays. A "place" is an index into its rows."""

    def __init__(self, first: int, last: int, arrays: Arrays) -> None:
        self.first = first
        self.last = last
        self.arrays = arrays
        self.ends: NDArray[np.int64] = arrays["ends"]
        self._forget_present()

    def _forget_present(self) -> None:
        """Note the last event: every view after it sees the same, so it can be cached."""
        ended = self.ends[self.ends < LIVE]
        self._last_event = max(self.last, int(ended.max(initial=0)))
        self._present: SegmentView | None = None

    def __len__(self) -> int:
        return self.rows.size

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row numbers, ascending; each is the sequence number at which the row begins."""
        return self.arrays["rows"]

    @property
    def born(self) -> NDArray[np.int64]:
        """For each row the row of its record's first version: when it was appended."""
        return self.arrays["born"]

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The position of each row's record."""
        return self.arrays["position"].astype(np.int64)

    @cached_property
    def terms(self) -> Dictionary:
        """The terms (stems) of all fields."""
        return dictionary_of(self.arrays, "terms")

    @cached_property
    def surfaces(self) -> Dictionary:
        """The surface words of all fields: as written, case-folded, not stemmed."""
        return dictionary_of(self.arrays, "surfaces")

    @cached_property
    def windows(self) -> Windows:
        """The inverted index of kin-table tokens, by window of text."""
        return Windows(self.arrays)

    @cached_property
    def sessions(self) -> SessionKeys:
        """The session key of each row; 0 for none."""
        return session_keys(self.arrays)

    @cached_property
    def session_order(self) -> Sessions:
        """The rows that belong to sessions, by session and position."""
        return Sessions.of(self.arrays)

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        """Cache of term ordinals: a lookup in the dictionary is a binary search over bytes."""
        return {}

    @cached_property
    def memo(self) -> dict[object, Any]:
        """Cache of what lanes derive from this segment alone, such as score bounds."""
        return {}

    def remember(self, what: object, value: object) -> None:
        """Store a value in `memo`."""
        if len(self.memo) >= _REMEMBERED:
            self.memo.clear()
        self.memo[what] = value

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """(fields × rows) field lengths."""
        return self.arrays["lengths"]

    @property
    def nbytes(self) -> int:
        """Roughly the bytes of the segment, with its vector codes once they were computed."""
        codes = self.__dict__.get("codes")  # not the property, which would compute them
        return self._stored + (codes.nbytes if isinstance(codes, Codes) else 0)

    @cached_property
    def _stored(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def ordinal(self, term: str) -> int:
        """The ordinal of a term in the dictionary; -1 if it does not occur."""
        known = self._ordinals.get(term)
        if known is None:
            if len(self._ordinals) >= _REMEMBERED:
                self._ordinals.clear()
            known = self._ordinals[term] = self.terms.find(term)
        return known

    def postings(self, term: str) -> Postings | None:
        """The posting list of a term; None if it does not occur."""
        ordinal = self.ordinal(term)
        return None if ordinal < 0 else self.postings_of(ordinal, ordinal + 1)

    def postings_of(self, first: int, last: int) -> Postings:
        """The posting lists of the terms with ordinals [first, last), one after the other."""
        starts = self.arrays["postings.starts"]
        span = slice(int(starts[first]), int(starts[last]))
        return Postings(
            self.arrays["postings.docs"][span],
            self.arrays["postings.fields"][span],
            self.arrays["postings.tfs"][span],
        )

    def places_of(self, first: int, last: int) -> NDArray[np.uint32]:
        """The token positions of the terms [first, last), in the order of their postings."""
        starts = self.arrays["places.starts"]
        return self.arrays["places"][int(starts[first]) : int(starts[last])]

    def surface_docs(self, word: str) -> NDArray[np.int32]:
        """The places of the rows that contain a surface word."""
        at = self.surfaces.find(word)
        if at < 0:
            return np.zeros(0, np.int32)
        starts = self.arrays["surfaces.starts"]
        return self.arrays["surfaces.docs"][int(starts[at]) : int(starts[at + 1])]

    def places(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """(the places of those of these rows that are in this segment, a mask of which are)."""
        if not len(self):
            return np.zeros(0, np.intp), np.zeros(rows.size, np.bool_)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self) - 1)
        here = self.rows[at] == rows
        return at[here], here

    @cached_property
    def owners(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """For each vector (the place of its row, whether that row is in this segment)."""
        rows = self.arrays["vectors.rows"]
        places = np.zeros(rows.size, np.intp)
        places_here, here = self.places(rows)
        places[here] = places_here
        return places, here

    @cached_property
    def in_order(self) -> bool:
        """Whether the n-th vector is the only vector of the n-th row, for all rows."""
        return np.array_equal(self.arrays["vectors.rows"], self.rows)

    @cached_property
    def codes(self) -> Codes:
        """Two-bit codes of the vectors, for the approximate scan; computed on first use."""
        return codes_of(self.arrays["vectors.matrix"])

    @cached_property
    def sampled(self) -> NDArray[np.intp]:
        """One vector in sixteen, chosen by row number, so that merging does not change it."""
        return sample_of(self.arrays["vectors.rows"])

    @cached_property
    def has_archived(self) -> bool:
        """Whether any row is archived."""
        return bool(self.arrays["archived"].any())

    @cached_property
    def has_expiry(self) -> bool:
        """Whether any row ever expires."""
        return bool((self.arrays["expires"] != NO_TIME).any())

    @cached_property
    def embedded(self) -> NDArray[np.bool_]:
        """Which rows have a vector in this segment, or are known to have nothing to embed."""
        out = np.zeros(len(self), np.bool_)
        places, home = self.owners
        out[places[home]] = True
        out[self.places(self.arrays["vectors.none.rows"])[0]] = True
        return out

    def end_rows(self, rows: Rows, ends: NDArray[np.int64]) -> None:
        """End those of these rows that are in this segment: updated or forgotten ones."""
        places, here = self.places(rows)
        if places.size:
            # A copy, not in place: views of other threads go on reading the old array. The minimum,
            # because a forgotten row (GONE) must never come back.
            fresh = self.ends.copy()
            np.minimum.at(fresh, places, ends[here])
            self.ends = fresh
            self._forget_present()

    def seen(self, seq: int) -> SegmentView:
        """What a view at `seq` sees of this segment: rows with `row <= seq < end`."""
        if seq < self._last_event:
            return self._count(seq)
        if self._present is None:
            self._present = self._count(seq)
        return self._present

    def _count(self, seq: int) -> SegmentView:
        # The visibility rule: begun by `seq`, and not ended by an update or a forget.
        mask = (self.rows <= seq) & (seq < self.ends)
        sums = self.lengths[:, mask].sum(axis=1, dtype=np.int64)
        return SegmentView(mask, int(mask.sum()), sums)


def build(
    after: int,
    delta: Delta,
    fields: Sequence[str],
    analysed: Mapping[int, bytes],
    kin: Sequence[Sequence[int]],
) -> Segment:
    """A segment of the log after `after`.

    `analysed` has the encoded words of every record by row, `kin` its tokens in the kin table. The
    caller, who knows earlier rows, then ends updated and forgotten rows and sets "born" and
    "events": see `TenantIndex._append`.
    """
    records = delta.records
    rows = np.array([record.row for record in records], np.int64)
    arrays: Arrays = {
        "rows": rows,
        "born": rows,
        "ends": np.full(len(records), LIVE, np.int64),
        "tombs": np.array([read_tomb(tomb).position for tomb in delta.tombs], np.int64),
        "events.rows": np.zeros(0, np.int64),
        "events.ends": np.zeros(0, np.int64),
    }
    arrays.update(_postings([analysed[record.row] for record in records], len(fields)))
    arrays.update(windows_of(kin))
    arrays.update(record_columns(records))
    arrays.update(vector_arrays(delta.vectors))
    arrays.update(edge_arrays(delta.edges))
    return Segment(after, delta.upto, arrays)


def _postings(bodies: Sequence[bytes], fields: int) -> Arrays:
    """Postings sorted by term, row and field, token positions, field lengths, surface words."""
    sketches = [Sketch.of(body) for body in bodies]
    dictionary, terms = _named([sketch.terms for sketch in sketches])
    ordinals = [sketch.ordinals for sketch in sketches]
    known = np.array([len(sketch.terms) for sketch in sketches], np.int64)
    tokens = np.array([each.size for each in ordinals], np.int64)
    local = np.concatenate([np.zeros(0, np.int64), *ordinals])
    terms = terms[np.repeat(np.cumsum(known) - known, tokens) + local]
    counts = np.array([sketch.counts for sketch in sketches], np.int64).reshape(len(bodies), fields)
    lengths = np.array([sketch.lengths for sketch in sketches], np.int32).reshape(
        len(bodies), fields
    )
    docs = np.repeat(np.arange(len(bodies)), counts.sum(axis=1))
    where = np.repeat(np.tile(np.arange(fields), len(bodies)), counts.ravel())
    # One integer per token sorts by term, row and field at once; stable, so that tokens of one
    # posting stay in the order of their positions.
    keys = (terms * len(bodies) + docs) * fields + where
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, tfs = keys[first], np.diff(first, append=keys.size)
    spread = np.bincount(keys // (fields * max(len(bodies), 1)), minlength=len(dictionary))
    return {
        **dictionary.arrays("terms"),
        **_surfaces([sketch.surfaces for sketch in sketches]),
        "lengths": np.ascontiguousarray(lengths.T),
        "postings.starts": starts_of(spread),
        "postings.docs": (keys // fields % max(len(bodies), 1)).astype(np.int32),
        "postings.fields": (keys % fields).astype(np.uint8),
        "postings.tfs": tfs.astype(np.int32),
        "places.starts": starts_of(np.bincount(terms, minlength=len(dictionary))),
        "places": _places(sketches, counts)[order],
    }


def _surfaces(lists: Sequence[Sequence[str]]) -> Arrays:
    """For every surface word the rows that contain it."""
    dictionary, names = _named(lists)
    docs = np.repeat(np.arange(len(lists), dtype=np.int32), [len(words) for words in lists])
    return {
        **dictionary.arrays("surfaces"),
        "surfaces.starts": starts_of(np.bincount(names, minlength=len(dictionary))),
        "surfaces.docs": docs[np.argsort(names, kind="stable")],
    }


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of consecutive runs of these sizes: each begin, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _named(lists: Sequence[Sequence[str]]) -> tuple[Dictionary, NDArray[np.int64]]:
    """(dictionary of all strings of the lists, ordinal of each string of each list in it)."""
    ordered = sorted(set[str]().union(*lists))
    place = {one: n for n, one in enumerate(ordered)}.__getitem__
    names = np.fromiter(map(place, chain.from_iterable(lists)), np.int64, sum(map(len, lists)))
    return Dictionary.of(ordered), names


def _places(sketches: Sequence[Sketch], counts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The position of every token in its field, in the order of the tokens."""
    sizes = counts.ravel()
    plain = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    out = plain.astype(np.uint32)
    ends = np.cumsum(counts.sum(axis=1))
    for end, sketch in zip(ends.tolist(), sketches, strict=True):
        # Positions are stored only where they are not 0, 1, 2 … (a dropped word leaves a gap).
        if sketch.places is not None:
            out[end - sketch.places.size : end] = sketch.places
    return out
