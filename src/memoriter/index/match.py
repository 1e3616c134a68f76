"""Finds terms, prefixes, phrases and NEAR groups in a segment, as posting lists.

Every pattern gives the same kind of result (`Postings`), so that counting and scoring treat a
phrase like a term. Phrases and NEAR are decided by token positions. Called by `FieldStats`.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.index.segment import Segment
from memoriter.index.term_lists import Postings

_FIELD_BITS = 8
_PLACE_BITS = 24
Spots = NDArray[np.int64]
"""Tokens as packed integers (row, field, position), ascending: see `_spots`."""


class PhrasePattern(NamedTuple):
    """A term, or a phrase: (term, offset) tokens. With `prefix` the last term is a prefix."""

    tokens: tuple[tuple[str, int], ...]
    prefix: bool = False
    fields: frozenset[int] = frozenset()
    """Fields to look in; empty for all."""

    @property
    def is_term(self) -> bool:
        """Whether it is one whole term, in any field."""
        return len(self.tokens) == 1 and not self.prefix and not self.fields

    @property
    def width(self) -> int:
        """How many positions the phrase spans."""
        return max(place for _, place in self.tokens) + 1


class NearPattern(NamedTuple):
    """NEAR: phrases at most `distance` positions apart, in one field, in any order.

    Not chained: so many positions between the first and the last. Chained: between each phrase and
    the place of those before it, which is the earliest position.
    """

    parts: tuple[PhrasePattern, ...]
    distance: int
    chained: bool = False


def occurrences(segment: Segment, what: PhrasePattern | NearPattern) -> Postings | None:
    """The posting list of a pattern; None if it does not occur."""
    if isinstance(what, PhrasePattern) and what.is_term:
        return segment.postings(what.tokens[0][0])
    if isinstance(what, NearPattern):
        return _counted((_chained if what.chained else _close)(segment, what))
    term, *more = [term for term, _ in what.tokens]
    if more:
        return _counted(_phrase(segment, what))
    hits = _single(segment, term, prefix=what.prefix)
    if hits is None or not what.fields:
        return hits
    inside = np.isin(hits.fields, list(what.fields))
    return hits.take(inside) if inside.any() else None


def _single(segment: Segment, term: str, *, prefix: bool) -> Postings | None:
    if not prefix:
        return segment.postings(term)
    first, last = segment.terms.beginning(term)
    if last - first <= 1:
        return segment.term_lists.postings_of(first, last) if last > first else None
    # Several terms: merge their lists, adding up the counts of each row and field.
    every = segment.term_lists.postings_of(first, last)
    order = np.lexsort((every.fields, every.docs))
    every = every.take(order)
    keys = every.docs.astype(np.int64) << _FIELD_BITS | every.fields
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    return Postings(
        every.docs[begin], every.fields[begin], np.add.reduceat(every.tfs, begin, dtype=np.int32)
    )


def _phrase(segment: Segment, what: PhrasePattern) -> Spots:
    """The begins of every occurrence of a phrase."""
    known: dict[tuple[int, int], Spots] = {}
    begins: Spots | None = None
    last = len(what.tokens) - 1
    for at, (term, place) in enumerate(what.tokens):
        span = _ordinals(segment, term, prefix=what.prefix and at == last)
        if span not in known:
            known[span] = np.unique(_spots(segment, *span))
        spots = known[span]
        if begins is None:
            # The position is in the low bits, so subtracting shifts a token to the phrase's begin;
            # where it would turn negative, it would run into the bits of the field.
            begins = spots[spots & _mask(_PLACE_BITS) >= place] - place
        else:
            begins = begins[_among(begins + place, spots)]
        if not begins.size:
            break
    assert begins is not None  # noqa: S101  # a phrase has tokens
    return _inside(begins, what.fields)


def _among(wanted: Spots, spots: Spots) -> NDArray[np.bool_]:
    """A mask of the wanted spots that are among `spots`; both ascending."""
    if not spots.size:
        return np.zeros(wanted.size, np.bool_)
    at = np.minimum(np.searchsorted(spots, wanted), spots.size - 1)
    return spots[at] == wanted


def _ordinals(segment: Segment, term: str, *, prefix: bool) -> tuple[int, int]:
    if prefix:
        return segment.terms.beginning(term)
    ordinal = segment.term_lists.ordinal(term)
    return (ordinal, ordinal + 1) if ordinal >= 0 else (0, 0)


def _spots(segment: Segment, first: int, end: int) -> Spots:
    """Every token of the terms with ordinals [first, end), ascending."""
    postings = segment.term_lists.postings_of(first, end)
    keys = postings.docs.astype(np.int64) << _FIELD_BITS | postings.fields
    spots = np.repeat(keys, postings.tfs) << _PLACE_BITS | segment.token_positions_of(first, end)
    return np.sort(spots) if end - first > 1 else spots


def _inside(spots: Spots, fields: frozenset[int]) -> Spots:
    if not fields:
        return spots
    return spots[np.isin(spots >> _PLACE_BITS & _mask(_FIELD_BITS), list(fields))]


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _counted(spots: Spots) -> Postings | None:
    """A posting list of how many of these begins lie in each row and field."""
    if not spots.size:
        return None
    keys, tfs = np.unique(spots >> _PLACE_BITS, return_counts=True)
    docs = (keys >> _FIELD_BITS).astype(np.int32)
    return Postings(docs, (keys & _mask(_FIELD_BITS)).astype(np.uint8), tfs.astype(np.int32))


def _chained(segment: Segment, what: NearPattern) -> Spots:
    """The places of the parts: of each pair that is close enough, the earlier spot."""
    places = _phrase(segment, what.parts[0])
    for part in what.parts[1:]:
        spots = _phrase(segment, part)
        places = np.union1d(
            _followed(places, spots, what.distance), _followed(spots, places, what.distance)
        )
    return places


def _followed(spots: Spots, after: Spots, distance: int) -> Spots:
    """The spots with one of `after` at most `distance` positions later, in the same field."""
    if not after.size:
        return after
    following = after[np.minimum(np.searchsorted(after, spots), after.size - 1)]
    apart = following - spots
    same = following >> _PLACE_BITS == spots >> _PLACE_BITS
    return spots[same & (apart >= 0) & (apart <= distance)]


def _close(segment: Segment, what: NearPattern) -> Spots:
    """The begin of every group of parts that lie close enough together."""
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
        here = [spots[slice(*span[nth])] for spots, span in zip(lists, spans, strict=True)]
        out += _groups(here, widths, what.distance)
    return np.array(out, np.int64)


def _groups(spots: Sequence[list[int]], widths: Sequence[int], distance: int) -> list[int]:
    """Begins of the groups of one spot of each part with at most `distance` positions between.

    Starts with the first spot of each part; then always advances the part whose spot is earliest,
    and of equally early ones the narrowest, until one part has no more.
    """
    heap = [
        (part[0], width, nth) for nth, (part, width) in enumerate(zip(spots, widths, strict=True))
    ]
    heapify(heap)
    latest = max(part[0] for part in spots)
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
