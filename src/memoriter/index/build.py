"""Builds a segment from a part of the log: posting lists, columns, vectors, edges, kin windows.

The newest segment of the tail grows: it is built anew with each small part of the log. Building a
segment of a few dozen records takes about as long as building one of a single record, so records
that are written one by one share a segment, and searches read one instead of several. Of a segment
that may grow, only those arrays are made that a search reads (`PartArrays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.word_table import WordTable
from memoriter.core.words import Sketch
from memoriter.embed.port import TokenTable
from memoriter.index.columns import COLUMNS, Arrays, column_arrays, text_columns
from memoriter.index.dictionary import Dictionary
from memoriter.index.log_arrays import NOTHING_DERIVED, Derivation, edge_arrays, vector_arrays
from memoriter.index.segment import LIVE, Segment
from memoriter.index.windows import windows_of
from memoriter.store.port import Delta
from memoriter.store.rows import read_tomb

MOST: Final = 64
"""So many entries of the log at most are built together; a record with its vector is two."""


class LogPart(NamedTuple):
    """A part of the log with what follows from its texts and from the rows before it."""

    delta: Delta
    words: WordTable | list[Sketch]
    """The words of all records; of a small part record by record, so that it can grow."""
    fields: int
    """How many fields the analyzer has."""
    tokens: TokenTable
    """The kin-table tokens of every record."""
    derived: Derivation
    texts: Arrays
    """The columns that are read off the texts."""
    births: NDArray[np.int64]
    """For each record version the row of its record's first version."""
    ended: NDArray[np.int64]
    """The rows that this part ends, and the sequence number at which each ends."""
    ends: NDArray[np.int64]

    def followed_by(self, part: LogPart) -> LogPart:
        """This part and the next one as one; both are small."""
        one, two = self.delta, part.delta
        return LogPart(
            Delta(
                two.upto,
                [*one.records, *two.records],
                words={},
                vectors=[*one.vectors, *two.vectors],
                edges=[*one.edges, *two.edges],
                tombs=[*one.tombs, *two.tombs],
            ),
            [*_sketches(self), *_sketches(part)],
            self.fields,
            TokenTable.joined([self.tokens, part.tokens]),
            derived=self.derived.followed_by(part.derived),
            texts={
                name: np.concatenate([ours, part.texts[name]]) for name, ours in self.texts.items()
            },
            births=np.concatenate([self.births, part.births]),
            ended=np.concatenate([self.ended, part.ended]),
            ends=np.concatenate([self.ends, part.ends]),
        )


def _sketches(part: LogPart) -> list[Sketch]:
    if isinstance(part.words, WordTable):
        raise InvariantError("internal error: a large part of the log cannot grow")
    return part.words


@dataclass(frozen=True, slots=True)
class GrowingSegment:
    """A segment, and the part of the log that it was built of; None if it must not grow."""

    segment: Segment
    part: LogPart | None

    def has_room_for(self, part: LogPart) -> bool:
        """Whether a part that follows in the log can be added."""
        return self.part is not None and part.delta.upto - self.segment.first <= MOST


def grown(known: GrowingSegment | None, part: LogPart, after: int) -> GrowingSegment:
    """The segment of a part of the log after `after`; with what `known` has, if that has room."""
    whole = part
    if known is not None and known.part is not None and known.has_room_for(part):
        whole, after = known.part.followed_by(part), known.segment.first
    arrays = PartArrays(whole, after)
    # What was forgotten must not be kept for later, and a long part is not worth building again.
    keeps = part.delta.upto - after <= MOST and not part.delta.tombs
    if not keeps:
        arrays.complete()
    elif known is not None:
        # Searches read the same arrays again.
        arrays.make(list(known.segment.arrays))
    segment = Segment(after, whole.delta.upto, arrays)
    if whole.ended.size:
        segment.end_rows(whole.ended, whole.ends)
    return GrowingSegment(segment, whole if keeps else None)


class PartArrays(dict[str, NDArray[Any]]):
    """The arrays of a part of the log after `after`, each made when it is first read.

    No lock: two threads may make the same array, with the same values.
    """

    def __init__(self, part: LogPart, after: int) -> None:
        super().__init__()
        self._source: tuple[LogPart, int] | None = (part, after)

    def __missing__(self, name: str) -> NDArray[Any]:
        source = self._source
        if source is None:
            raise KeyError(name)
        self.update(_makers()[name](*source))
        return self[name]

    def complete(self) -> None:
        """Make every array, and keep the part of the log no longer."""
        if self._source is not None:
            self.make(_makers())
        self._source = None

    def make(self, names: Iterable[str]) -> None:
        """Make these arrays."""
        for name in names:
            _ = self[name]


_Maker = Callable[[LogPart, int], Arrays]


def _rows(part: LogPart, after: int) -> Arrays:
    """Row numbers, and the ends of rows: those of earlier rows are kept in the segment as well.

    Published files are never changed, so the index must be able to apply them again.
    """
    before = part.ended <= after
    records = part.delta.records
    return {
        "rows": np.array([record.row for record in records], np.int64),
        "born": part.births,
        "ends": np.full(len(records), LIVE, np.int64),
        "tombs": np.array([read_tomb(tomb).position for tomb in part.delta.tombs], np.int64),
        "events.rows": part.ended[before],
        "events.ends": part.ends[before],
    }


def _words(part: LogPart, _: int) -> Arrays:
    known = part.words
    is_table = isinstance(known, WordTable)
    return word_arrays(known if is_table else WordTable.of(known, part.fields, spelled=False))


def _surfaces(part: LogPart, _: int) -> Arrays:
    known = part.words
    is_table = isinstance(known, WordTable)
    return surface_arrays(known if is_table else WordTable.of(known, part.fields))


def _column(name: str) -> _Maker:
    return lambda part, _: column_arrays(name, part.delta.records)


_MAKERS: Final[tuple[_Maker, ...]] = (
    _rows,
    _words,
    _surfaces,
    lambda part, _: windows_of(*part.tokens),
    *(_column(name) for name in COLUMNS),
    lambda part, _: part.texts,
    lambda part, _: vector_arrays(part.delta.vectors, part.derived),
    lambda part, _: edge_arrays(part.delta.edges),
)
"""Functions that make the arrays of a part of the log after an entry, each some of them."""


@cache
def _makers() -> dict[str, _Maker]:
    """By array the function that makes it."""
    none = np.zeros(0, np.int64)
    tokens, texts = TokenTable(np.zeros(0, np.uint16), none), text_columns([])
    nothing = LogPart(
        Delta(0),
        [],
        1,
        tokens,
        derived=NOTHING_DERIVED,
        texts=texts,
        births=none,
        ended=none,
        ends=none,
    )
    return {name: make for make in _MAKERS for name in make(nothing, 0)}


def word_arrays(table: WordTable) -> Arrays:
    """Postings sorted by term, row and field, token positions, field lengths."""
    dictionary, ranks = _sorted(table.terms)
    fields = int(table.counts.shape[1])
    # Tokens come by row and field, and those of one field in the order of their positions: sorted
    # by term they stay so.
    terms = ranks[table.tokens]
    order = _order(terms, len(dictionary))
    cells = np.repeat(np.arange(table.counts.size), table.counts.ravel())[order]
    terms = terms[order]
    first = _changes(terms, cells)
    cells, tfs = cells[first], np.diff(first, append=terms.size)
    return {
        **dictionary.arrays("terms"),
        "lengths": np.ascontiguousarray(table.lengths.T),
        "postings.starts": starts_of(np.bincount(terms[first], minlength=len(dictionary))),
        "postings.docs": (cells // fields).astype(np.int32),
        "postings.fields": (cells % fields).astype(np.uint8),
        "postings.tfs": tfs.astype(np.int32),
        "places.starts": starts_of(np.bincount(terms, minlength=len(dictionary))),
        "places": table.places[order],
    }


def surface_arrays(table: WordTable) -> Arrays:
    """For every surface word the rows that contain it."""
    dictionary, ranks = _sorted(table.surfaces)
    words, docs = ranks[table.spelled], table.spelled_in
    order = _order(words, len(dictionary))
    words, docs = words[order], docs[order]
    first = _changes(words, docs)
    return {
        **dictionary.arrays("surfaces"),
        "surfaces.starts": starts_of(np.bincount(words[first], minlength=len(dictionary))),
        "surfaces.docs": docs[first].astype(np.int32),
    }


def _order(numbers: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """The order of numbers below `size`, of which equal ones keep theirs."""
    # By 16 bits at a time: numpy sorts these by radix, several times as fast as longer numbers.
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    if size > 1 << 16:
        upper = (numbers >> 16).astype(np.uint16)
        order = order[np.argsort(upper[order], kind="stable")]
    return order


def _changes(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where one of two columns differs from the entry before; the first entry always does."""
    fresh = np.ones(one.size, np.bool_)
    np.not_equal(one[1:], one[:-1], out=fresh[1:])
    fresh[1:] |= other[1:] != other[:-1]
    return np.flatnonzero(fresh)


def _sorted(strings: Sequence[str]) -> tuple[Dictionary, NDArray[np.int64]]:
    """(the dictionary of distinct strings, the ordinal of each of them in it)."""
    order = sorted(range(len(strings)), key=strings.__getitem__)
    ranks = np.empty(len(strings), np.int64)
    ranks[order] = np.arange(len(strings))
    return Dictionary.of([strings[n] for n in order]), ranks


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of consecutive runs of these sizes: each begin, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
