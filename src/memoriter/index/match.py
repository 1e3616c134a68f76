"""Where do words, beginnings of words, phrases and neighbours occur? As postings of a segment.

Whatever is looked for, the answer has one form, so that everything above counts and scores one
thing. Positions decide phrases; they lie in the segment beside the postings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from memoriter.index.segment import Postings, Segment

_FIELD_BITS = 8
_PLACE_BITS = 24
Spots = NDArray[np.int64]
"""Row, field and position of tokens, packed: ascending."""


@dataclass(frozen=True, slots=True)
class PhrasePattern:
    """Tokens that must stand as they do here; with `prefix`, the last one may go on."""

    tokens: tuple[tuple[str, int], ...]
    prefix: bool = False
    fields: frozenset[int] = frozenset()
    """Only in these fields; none means all."""

    @property
    def width(self) -> int:
        """How many positions it fills."""
        return max(place for _, place in self.tokens) + 1


@dataclass(frozen=True, slots=True)
class NearPattern:
    """Several things at most `distance` positions apart, in one field, in any order."""

    parts: tuple[PhrasePattern, ...]
    distance: int


def occurrences(segment: Segment, what: PhrasePattern | NearPattern) -> Postings | None:
    """Where it occurs; None where it does not."""
    if isinstance(what, NearPattern):
        return _counted(_close(segment, what))
    term, *more = [term for term, _ in what.tokens]
    if more:
        return _counted(_phrase(segment, what))
    found = _single(segment, term, prefix=what.prefix)
    if found is None or not what.fields:
        return found
    inside = np.isin(found.fields, list(what.fields))
    return found.take(inside) if inside.any() else None


def _single(segment: Segment, term: str, *, prefix: bool) -> Postings | None:
    if not prefix:
        return segment.postings(term)
    first, last = segment.terms.beginning(term)
    if last - first <= 1:
        return segment.postings_of(first, last) if last > first else None
    every = segment.postings_of(first, last)
    order = np.lexsort((every.fields, every.docs))
    every = every.take(order)
    keys = every.docs.astype(np.int64) << _FIELD_BITS | every.fields
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    return Postings(
        every.docs[begin], every.fields[begin], np.add.reduceat(every.tfs, begin, dtype=np.int32)
    )


def _phrase(segment: Segment, what: PhrasePattern) -> Spots:
    """Where the phrase begins."""
    known: dict[tuple[int, int], Spots] = {}
    found: Spots | None = None
    last = len(what.tokens) - 1
    for at, (term, place) in enumerate(what.tokens):
        span = _ordinals(segment, term, prefix=what.prefix and at == last)
        if span not in known:
            known[span] = np.unique(_spots(segment, *span))
        spots = known[span]
        if found is None:
            found = spots[spots & _mask(_PLACE_BITS) >= place] - place
        else:
            found = found[_among(found + place, spots)]
        if not found.size:
            break
    assert found is not None  # noqa: S101  # a phrase has tokens
    return _inside(found, what.fields)


def _among(wanted: Spots, spots: Spots) -> NDArray[np.bool_]:
    """Which of these are there; both ascending."""
    if not spots.size:
        return np.zeros(wanted.size, np.bool_)
    at = np.minimum(np.searchsorted(spots, wanted), spots.size - 1)
    return spots[at] == wanted


def _ordinals(segment: Segment, term: str, *, prefix: bool) -> tuple[int, int]:
    if prefix:
        return segment.terms.beginning(term)
    ordinal = segment.ordinal(term)
    return (ordinal, ordinal + 1) if ordinal >= 0 else (0, 0)


def _spots(segment: Segment, first: int, end: int) -> Spots:
    """Every token of the terms [first, end), ascending."""
    postings = segment.postings_of(first, end)
    keys = postings.docs.astype(np.int64) << _FIELD_BITS | postings.fields
    spots = np.repeat(keys, postings.tfs) << _PLACE_BITS | segment.places_of(first, end)
    return np.sort(spots) if end - first > 1 else spots


def _inside(spots: Spots, fields: frozenset[int]) -> Spots:
    if not fields:
        return spots
    return spots[np.isin(spots >> _PLACE_BITS & _mask(_FIELD_BITS), list(fields))]


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _counted(spots: Spots) -> Postings | None:
    """How often something begins in each row and field."""
    if not spots.size:
        return None
    keys, tfs = np.unique(spots >> _PLACE_BITS, return_counts=True)
    docs = (keys >> _FIELD_BITS).astype(np.int32)
    return Postings(docs, (keys & _mask(_FIELD_BITS)).astype(np.uint8), tfs.astype(np.int32))


def _close(segment: Segment, what: NearPattern) -> Spots:
    """Where the parts stand close together: one spot for each group, at its beginning."""
    every = [_phrase(segment, part) for part in what.parts]
    shared = every[0] >> _PLACE_BITS
    for spots in every[1:]:
        shared = np.intersect1d(shared, spots >> _PLACE_BITS)
    keys = np.unique(shared)
    widths = [part.width for part in what.parts]
    cuts = [np.searchsorted(s, (keys << _PLACE_BITS, keys + 1 << _PLACE_BITS)) for s in every]
    spans = [list(zip(*cut.tolist(), strict=True)) for cut in cuts]
    lists = [spots.tolist() for spots in every]
    out: list[int] = []
    for nth in range(keys.size):
        mine = [spots[slice(*span[nth])] for spots, span in zip(lists, spans, strict=True)]
        out += _groups(mine, widths, what.distance)
    return np.array(out, np.int64)


def _groups(spots: Sequence[list[int]], widths: Sequence[int], distance: int) -> list[int]:
    """Beginnings of groups of one spot each with at most `distance` positions between them.

    Takes the earliest spot of each part; whatever they span, the earliest part moves on, and of
    equally early ones the narrowest.
    """
    heap = [
        (mine[0], width, nth) for nth, (mine, width) in enumerate(zip(spots, widths, strict=True))
    ]
    heapify(heap)
    latest = max(mine[0] for mine in spots)
    at = [0] * len(spots)
    out: list[int] = []
    while True:
        first, width, nth = heap[0]
        if latest - first - width <= distance:
            out.append(first)
        at[nth] += 1
        if at[nth] == len(spots[nth]):
            return out
        spot = spots[nth][at[nth]]
        latest = max(latest, spot)
        heapreplace(heap, (spot, width, nth))
