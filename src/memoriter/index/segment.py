"""A stretch of the log as sorted arrays: the one thing that every lane reads, in memory or mapped.

A segment never changes but for `ends`: a later version, or a forget, ends a row. A row ended by a
forget is invisible to every view (`GONE`), one ended by an update to the views from then on.
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
"""The end of a row that has not ended."""
GONE: Final = 0
"""The end of a row that was forgotten: before every view."""
_REMEMBERED: Final = 65_536
"""How many answers of a dictionary, or counts of a view, are kept at most."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term occurs: row places, fields and counts, by place, then field."""

    docs: NDArray[np.int32]
    fields: NDArray[np.uint8]
    tfs: NDArray[np.int32]

    def take(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> Postings:
        """These of them, in order."""
        return Postings(self.docs[at], self.fields[at], self.tfs[at])

    def at(self, places: NDArray[np.integer]) -> Postings:
        """Those of these rows, given ascending: found by search, however many there are."""
        wanted = places.astype(np.int32)  # of one kind, or the search copies the list
        low = np.searchsorted(self.docs, wanted)
        there = low < self.docs.size
        there[there] = self.docs[low[there]] == wanted[there]
        low, wanted = low[there], wanted[there]
        sizes = np.searchsorted(self.docs, wanted, "right") - low
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.take(np.repeat(low, sizes) + within)


@dataclass(frozen=True, slots=True)
class SegmentView:
    """What a view sees of a segment: which rows, how many, and how long their fields are."""

    mask: NDArray[np.bool_]
    count: int
    lengths: NDArray[np.int64]
    counted: dict[object, int] = field(default_factory=dict[object, int])
    """Numbers that were counted before, by what they count."""

    def number(self, what: object, count: Callable[[], int]) -> int:
        """A number of this view: counted once, then remembered."""
        known = self.counted.get(what)
        if known is None:
            if len(self.counted) >= _REMEMBERED:
                self.counted.clear()
            known = self.counted[what] = count()
        return known


class Segment:
    """The log in (first, last], as arrays."""

    def __init__(self, first: int, last: int, arrays: Arrays) -> None:
        self.first = first
        self.last = last
        self.arrays = arrays
        self.ends: NDArray[np.int64] = arrays["ends"]
        self._settle()

    def _settle(self) -> None:
        """Note from when on every view sees the same of this segment."""
        ended = self.ends[self.ends < LIVE]
        self._last_event = max(self.last, int(ended.max(initial=0)))
        self._present: SegmentView | None = None

    def __len__(self) -> int:
        return self.rows.size

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The row numbers, ascending: each is also the row's begin."""
        return self.arrays["rows"]

    @property
    def born(self) -> NDArray[np.int64]:
        """The row of the first version of each row's record: when the record was appended."""
        return self.arrays["born"]

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The positions of the records."""
        return self.arrays["position"].astype(np.int64)

    @cached_property
    def terms(self) -> Dictionary:
        """The terms of all fields."""
        return dictionary_of(self.arrays, "terms")

    @cached_property
    def surfaces(self) -> Dictionary:
        """The words of all fields as people wrote them, folded."""
        return dictionary_of(self.arrays, "surfaces")

    @cached_property
    def windows(self) -> Windows:
        """The words of the kin table, window by window."""
        return Windows(self.arrays)

    @cached_property
    def sessions(self) -> SessionKeys:
        """The session of each row."""
        return session_keys(self.arrays)

    @cached_property
    def session_order(self) -> Sessions:
        """The rows in sessions, in the order of writing."""
        return Sessions.of(self.arrays)

    @cached_property
    def _ordinals(self) -> dict[str, int]:
        """Terms met before, so that a repeated question does not search the dictionary again."""
        return {}

    @cached_property
    def memo(self) -> dict[object, Any]:
        """What scoring found out about this segment and may ask again."""
        return {}

    def remember(self, what: object, value: object) -> None:
        """Keep something under `bounds`."""
        if len(self.memo) >= _REMEMBERED:
            self.memo.clear()
        self.memo[what] = value

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """(fields × rows) field lengths."""
        return self.arrays["lengths"]

    @property
    def nbytes(self) -> int:
        """Roughly what the segment takes, its codes too once there are any."""
        made = self.__dict__.get("codes")
        return self._stored + (made.nbytes if isinstance(made, Codes) else 0)

    @cached_property
    def _stored(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def ordinal(self, term: str) -> int:
        """The place of a term in the dictionary; -1 where it does not occur."""
        known = self._ordinals.get(term)
        if known is None:
            if len(self._ordinals) >= _REMEMBERED:
                self._ordinals.clear()
            known = self._ordinals[term] = self.terms.find(term)
        return known

    def postings(self, term: str) -> Postings | None:
        """Where a term occurs; None where it does not."""
        ordinal = self.ordinal(term)
        return None if ordinal < 0 else self.postings_of(ordinal, ordinal + 1)

    def postings_of(self, first: int, last: int) -> Postings:
        """Where the terms [first, last) occur, term by term."""
        starts = self.arrays["postings.starts"]
        span = slice(int(starts[first]), int(starts[last]))
        return Postings(
            self.arrays["postings.docs"][span],
            self.arrays["postings.fields"][span],
            self.arrays["postings.tfs"][span],
        )

    def places_of(self, first: int, last: int) -> NDArray[np.uint32]:
        """The positions of the tokens of the terms [first, last), as their postings come."""
        starts = self.arrays["places.starts"]
        return self.arrays["places"][int(starts[first]) : int(starts[last])]

    def surface_docs(self, word: str) -> NDArray[np.int32]:
        """The rows with a surface word."""
        at = self.surfaces.find(word)
        if at < 0:
            return np.zeros(0, np.int32)
        starts = self.arrays["surfaces.starts"]
        return self.arrays["surfaces.docs"][int(starts[at]) : int(starts[at + 1])]

    def places(self, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """(where those of these rows stand that are here, which of them are here)."""
        if not len(self):
            return np.zeros(0, np.intp), np.zeros(rows.size, np.bool_)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self) - 1)
        mine = self.rows[at] == rows
        return at[mine], mine

    @cached_property
    def owners(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """(where the row of each vector stands, whether it is in this segment at all)."""
        rows = self.arrays["vectors.rows"]
        places = np.zeros(rows.size, np.intp)
        found, mine = self.places(rows)
        places[mine] = found
        return places, mine

    @cached_property
    def in_order(self) -> bool:
        """Whether every row has exactly one vector, and it stands where its row does."""
        return np.array_equal(self.arrays["vectors.rows"], self.rows)

    @cached_property
    def codes(self) -> Codes:
        """Two bits for each number of each vector; made when first asked for."""
        return codes_of(self.arrays["vectors.matrix"])

    @cached_property
    def sampled(self) -> NDArray[np.intp]:
        """One vector in sixteen: which ones their rows decide, whatever segment they are in."""
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
        """End those of these rows that are here; a row forgotten stays forgotten."""
        places, mine = self.places(rows)
        if places.size:
            fresh = self.ends.copy()
            np.minimum.at(fresh, places, ends[mine])
            self.ends = fresh
            self._settle()

    def seen(self, seq: int) -> SegmentView:
        """What a view at `seq` sees of this segment; remembered for the present."""
        if seq < self._last_event:
            return self._count(seq)
        if self._present is None:
            self._present = self._count(seq)
        return self._present

    def _count(self, seq: int) -> SegmentView:
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
    """A segment of one stretch of the log.

    `analysed` holds the encoded words of every record, `kin` its tokens in the kin table. Rows that
    an update or a forget ends are the caller's to end, and the row that a record was born as is the
    caller's to tell: it knows the rows before.
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
    """Where every term occurs, sorted by term, row, field and position; lengths; surface words."""
    sketches = [Sketch.of(body) for body in bodies]
    dictionary, terms = _named([sketch.terms for sketch in sketches])
    ordinals = [sketch.ordinals for sketch in sketches]
    known = np.array([len(sketch.terms) for sketch in sketches], np.int64)
    tokens = np.array([mine.size for mine in ordinals], np.int64)
    local = np.concatenate([np.zeros(0, np.int64), *ordinals])
    terms = terms[np.repeat(np.cumsum(known) - known, tokens) + local]
    counts = np.array([sketch.counts for sketch in sketches], np.int64).reshape(len(bodies), fields)
    lengths = np.array([sketch.lengths for sketch in sketches], np.int32).reshape(
        len(bodies), fields
    )
    docs = np.repeat(np.arange(len(bodies)), counts.sum(axis=1))
    where = np.repeat(np.tile(np.arange(fields), len(bodies)), counts.ravel())
    keys = (terms * len(bodies) + docs) * fields + where
    order = np.argsort(keys, kind="stable")  # tokens come by position, and stay so
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
    """In which rows every surface word stands."""
    dictionary, names = _named(lists)
    docs = np.repeat(np.arange(len(lists), dtype=np.int32), [len(words) for words in lists])
    return {
        **dictionary.arrays("surfaces"),
        "surfaces.starts": starts_of(np.bincount(names, minlength=len(dictionary))),
        "surfaces.docs": docs[np.argsort(names, kind="stable")],
    }


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some neighbouring runs begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _named(lists: Sequence[Sequence[str]]) -> tuple[Dictionary, NDArray[np.int64]]:
    """(all strings of some lists, sorted; the ordinal of each string of each list among them)."""
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
        if sketch.places is not None:
            out[end - sketch.places.size : end] = sketch.places
    return out
