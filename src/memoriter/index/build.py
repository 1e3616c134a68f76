"""Builds a segment from a part of the log: posting lists, columns, vectors, edges, kin windows.

The newest segment of the tail grows: it is built anew with each small part of the log. Building a
segment of a few dozen records takes about as long as building one of a single record, so records
that are written one by one share a segment, and searches read one instead of several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.word_table import WordTable
from memoriter.embed.port import TokenTable
from memoriter.index.columns import Arrays, record_columns
from memoriter.index.dictionary import Dictionary
from memoriter.index.log_arrays import Derivation, edge_arrays, vector_arrays
from memoriter.index.segment import LIVE, Segment
from memoriter.index.windows import windows_of
from memoriter.store.port import Delta
from memoriter.store.rows import read_tomb

MOST: Final = 64
"""So many entries of the log at most are built together; a record with its vector is two."""


class LogPart(NamedTuple):
    """A part of the log with what follows from its texts and from the rows before it."""

    delta: Delta
    words: WordTable
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
        """This part and the next one as one."""
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
            WordTable.joined([self.words, part.words]),
            TokenTable.joined([self.tokens, part.tokens]),
            self.derived.followed_by(part.derived),
            {name: np.append(array, part.texts[name]) for name, array in self.texts.items()},
            births=np.concatenate([self.births, part.births]),
            ended=np.concatenate([self.ended, part.ended]),
            ends=np.concatenate([self.ends, part.ends]),
        )


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
    segment = _built(whole, after)
    rows, ends = whole.ended, whole.ends
    segment.end_rows(rows, ends)
    # Ends of earlier rows are kept in the segment as well: published files are never changed, so
    # the index must be able to apply them again.
    before = rows <= after
    segment.arrays["events.rows"] = rows[before]
    segment.arrays["events.ends"] = ends[before]
    segment.arrays["born"] = whole.births
    # What was forgotten must not be kept for later, and a long part is not worth building again.
    keeps = part.delta.upto - after <= MOST and not part.delta.tombs
    return GrowingSegment(segment, whole if keeps else None)


def _built(part: LogPart, after: int) -> Segment:
    """The segment of a part of the log after `after`; `grown` ends updated and forgotten rows."""
    delta, records = part.delta, part.delta.records
    rows = np.array([record.row for record in records], np.int64)
    arrays: Arrays = {
        "rows": rows,
        "born": rows,
        "ends": np.full(len(records), LIVE, np.int64),
        "tombs": np.array([read_tomb(tomb).position for tomb in delta.tombs], np.int64),
        "events.rows": np.zeros(0, np.int64),
        "events.ends": np.zeros(0, np.int64),
    }
    arrays.update(word_arrays(part.words))
    arrays.update(windows_of(part.tokens.tokens, part.tokens.counts))
    arrays.update(record_columns(records))
    arrays.update(part.texts)
    arrays.update(vector_arrays(delta.vectors, part.derived))
    arrays.update(edge_arrays(delta.edges))
    return Segment(after, delta.upto, arrays)


def word_arrays(table: WordTable) -> Arrays:
    """Postings sorted by term, row and field, token positions, field lengths, surface words."""
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
        **_surfaces(table),
        "lengths": np.ascontiguousarray(table.lengths.T),
        "postings.starts": starts_of(np.bincount(terms[first], minlength=len(dictionary))),
        "postings.docs": (cells // fields).astype(np.int32),
        "postings.fields": (cells % fields).astype(np.uint8),
        "postings.tfs": tfs.astype(np.int32),
        "places.starts": starts_of(np.bincount(terms, minlength=len(dictionary))),
        "places": table.places[order],
    }


def _surfaces(table: WordTable) -> Arrays:
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
