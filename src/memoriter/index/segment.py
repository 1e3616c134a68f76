"""A segment: a part of the log as sorted arrays, in memory or mapped from a file.

Every lane reads segments: postings, field lengths, columns, vectors, edges, kin windows. Only
`ends` ever changes: an update ends a row for the views from then on, and a forget ends it for every
view (`GONE`). `build` makes a segment of a delta of the log, `merge` makes one of several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Rows, VectorMatrix
from memoriter.index.checked import MappedArrays
from memoriter.index.columns import NO_TIME, Arrays, dictionary_of
from memoriter.index.dictionary import Dictionary
from memoriter.index.log_arrays import sample_of
from memoriter.index.row_places import RowPlaces
from memoriter.index.sessions import SessionKeys, Sessions, session_keys
from memoriter.index.term_lists import Postings, TermLists
from memoriter.index.trigrams import Spellings
from memoriter.index.windows import Windows
from memoriter.kernel.vectors import ByteVectors, byte_vectors
from memoriter.rank.codes import NARROWEST, WIDEST, Codes, codes_of
from memoriter.rank.units import byte_lengths, byte_rest, widened

LIVE: Final = np.iinfo(np.int64).max
"""The end of a row that is its record's latest version."""
GONE: Final = 0
"""The end of a forgotten row: before every view."""
_SPELT_FROM: Final = 2_048
"""From so many surface words on, their trigrams are stored."""
_CODES: Final = ("codes.signs", "codes.steps")
WhatT = TypeVar("WhatT")
_REMEMBERED: Final = 65_536
"""How many entries each cache of a segment has at most; a full one is emptied."""


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

    def numbers(
        self, what: Sequence[WhatT], count: Callable[[list[WhatT]], Sequence[int]]
    ) -> list[int]:
        """The number for each of `what`; `count` computes those that are not known, all at once."""
        known = self.counted
        fresh = [each for each in what if each not in known]
        if not fresh:
            return [known[each] for each in what]
        made: dict[object, int] = dict(zip(fresh, count(fresh), strict=True))
        out = [made[each] if each in made else known[each] for each in what]
        if len(known) + len(fresh) >= _REMEMBERED:
            known.clear()
        known.update(made.items())
        return out


class Segment:
    """The log in (first, last], as named arrays. A "place" is an index into its rows."""

    def __init__(self, first: int, last: int, arrays: Arrays) -> None:
        self.first = first
        self.last = last
        self.arrays = arrays
        self.ends: NDArray[np.int64] = arrays["ends"]
        ended = self.ends[self.ends < LIVE]
        self._last_event = max(self.last, int(ended.max(initial=0)))
        """Every view from then on sees the same, so it can be cached."""
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
    def has_sessions(self) -> bool:
        """Whether any row belongs to a session."""
        return bool(self.sessions.any())

    @cached_property
    def session_order(self) -> Sessions:
        """The rows that belong to sessions, by session and position."""
        return Sessions.of(self.arrays)

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
        # Not by the properties, which would compute them.
        names = ("byte_vectors",) if _CODES[0] in self.arrays else ("codes", "byte_vectors")
        derived = [self.__dict__.get(name) for name in names]
        return self._stored + sum([each.nbytes for each in derived if each is not None])

    @cached_property
    def _stored(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def postings(self, term: str) -> Postings | None:
        """The posting list of a term; None if it does not occur."""
        return self.term_lists.postings(term)

    @cached_property
    def term_lists(self) -> TermLists:
        """The posting lists of all terms."""
        return TermLists(self.arrays, self.terms)

    def token_positions_of(self, first: int, last: int) -> NDArray[np.uint32]:
        """The token positions of the terms [first, last), in the order of their postings."""
        starts = self.arrays["places.starts"]
        return self.arrays["places"][int(starts[first]) : int(starts[last])].astype(np.uint32)

    def surface_docs(self, word: str) -> NDArray[np.int32]:
        """The places of the rows that contain a surface word."""
        at = self.surfaces.find(word)
        if at < 0:
            return np.zeros(0, np.int32)
        starts = self.arrays["surfaces.starts"]
        return self.arrays["surfaces.docs"][int(starts[at]) : int(starts[at + 1])].astype(np.int32)

    def places(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """(the places of those of these rows that are in this segment, a mask of which are)."""
        return self.row_places.of(rows)

    @cached_property
    def row_places(self) -> RowPlaces:
        """Where rows are in this segment."""
        return RowPlaces(self.rows)

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

    @property
    def width(self) -> int:
        """The dimension of its vectors; 0 if it has none."""
        arrays = self.arrays
        if isinstance(arrays, MappedArrays):
            return arrays.width  # without checking them
        return arrays["vectors.matrix"].shape[1]

    def vectors_at(self, at: NDArray[np.intp]) -> NDArray[np.float32]:
        """Some of its vectors."""
        return widened(self.matrix_at(at)[at])

    def matrix_at(self, at: NDArray[np.intp]) -> VectorMatrix:
        """All its vectors, for who reads only these; those of a large file are checked no further.

        A copy of some hundred vectors costs more than their dot products.
        """
        arrays = self.arrays
        return arrays.matrix(at) if isinstance(arrays, MappedArrays) else arrays["vectors.matrix"]

    @cached_property
    def codes(self) -> Codes:
        """Two-bit codes of the vectors, for the approximate scan; computed if not stored."""
        if _CODES[0] in self.arrays:
            return Codes(*(self.arrays[name] for name in _CODES))
        return codes_of(self.arrays["vectors.matrix"])

    @cached_property
    def byte_vectors(self) -> ByteVectors:
        """The vectors rounded to bytes, for the exact scan of the native kernel; as `codes`."""
        matrix = self.arrays["vectors.matrix"]
        if matrix.dtype != np.int8:
            return byte_vectors(matrix)
        rests = np.full(len(matrix), byte_rest(self.width), np.float32)
        return ByteVectors(matrix, self.byte_scales, rests, shared=True)

    @cached_property
    def byte_scales(self) -> NDArray[np.float32]:
        """For each vector in bytes the inverse of their length."""
        return (1.0 / byte_lengths(self.arrays["vectors.matrix"])).astype(np.float32)

    @cached_property
    def spellings(self) -> Spellings:
        """The trigrams of the surface words; computed if not stored."""
        return Spellings.read(self.arrays) or Spellings.of(self.surfaces)

    def stored_arrays(self) -> Arrays:
        """Its arrays as a file has them: also what a segment in memory computes on first use."""
        codes: Arrays = {}
        if NARROWEST <= self.width <= WIDEST:
            codes = dict(zip(_CODES, self.codes, strict=True))
        # Those of a small dictionary are made quicker than they are worth on the disk.
        spellings = self.spellings.arrays() if len(self.surfaces) >= _SPELT_FROM else {}
        return {**self.arrays, **spellings, **codes, "ends": self.ends}

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
        if self.in_order:
            return np.ones(len(self), np.bool_)
        return self._embedded(self.last)

    def embedded_by(self, seq: int) -> NDArray[np.bool_]:
        """The same, as a view at `seq` sees it, which may be from before a vector was computed."""
        return self.embedded if seq >= self.last else self._embedded(seq)

    def _embedded(self, seq: int) -> NDArray[np.bool_]:
        out = np.zeros(len(self), np.bool_)
        places, home = self.owners
        out[places[home & (self.arrays["vectors.seqs"] <= seq)]] = True
        none = self.arrays["vectors.none.rows"][self.arrays["vectors.none.seqs"] <= seq]
        out[self.places(none)[0]] = True
        return out

    def late_by(self, seq: int) -> Rows:
        """Rows of earlier segments whose vector, or the note that they need none, is in this one.

        As a view at `seq` sees it.
        """
        none = self.arrays["vectors.none.rows"]
        if self.in_order and not none.size:
            return none
        _, home = self.owners
        away = ~home & (self.arrays["vectors.seqs"] <= seq)
        needless = none[self.arrays["vectors.none.seqs"] <= seq]
        return np.concatenate([self.arrays["vectors.rows"][away], needless])

    def end_rows(self, rows: Rows, ends: NDArray[np.int64]) -> None:
        """End those of these rows that are in this segment: updated or forgotten ones."""
        places, here = self.places(rows)
        if places.size:
            # A copy, not in place: views of other threads go on reading the old array. The minimum,
            # because a forgotten row (GONE) must never come back.
            fresh = self.ends.copy()
            np.minimum.at(fresh, places, ends[here])
            self.ends = fresh
            self._last_event = max(self._last_event, int(ends[here].max()))
            if self._present is not None:
                self._present = self._fewer(self._present, np.unique(places))

    def _fewer(self, present: SegmentView, places: NDArray[np.intp]) -> SegmentView:
        """What the latest views see without these rows: an update need not count all others."""
        gone = places[present.mask[places]]
        mask = present.mask.copy()
        mask[gone] = False
        sums = present.lengths - self.lengths[:, gone].sum(axis=1, dtype=np.int64)
        return SegmentView(mask, present.count - gone.size, sums)

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
