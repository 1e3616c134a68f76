"""The posting lists of a segment, by term: in which rows and fields a term occurs, how often."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.index.columns import Arrays
from memoriter.index.dictionary import Dictionary
from memoriter.kernel.calls import ListAddresses, ListArrays, list_addresses
from memoriter.kernel.library import native_library
from memoriter.kernel.terms import TermIndex, TermSpan, find_terms

_SOME: Final = 16
_REMEMBERED: Final = 4_096
"""How many terms are kept; then all are forgotten."""


@dataclass(frozen=True)
class Postings:
    """A posting list, sorted by row, then field: rows as places in the segment, term counts."""

    docs: NDArray[np.int32]
    fields: NDArray[np.uint8]
    tfs: NDArray[np.int32]

    @cached_property
    def addresses(self) -> ListAddresses:
        """The list as the native kernel takes it."""
        return list_addresses(self.docs, self.fields, self.tfs)

    @cached_property
    def distinct(self) -> int:
        """How many different rows it has."""
        docs = self.docs
        return int(np.count_nonzero(docs[1:] != docs[:-1])) + 1 if docs.size else 0

    def take(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> Postings:
        """The postings at these indices, or under this mask."""
        return Postings(self.docs[at], self.fields[at], self.tfs[at])

    def at(self, places: NDArray[np.integer]) -> Postings:
        """The postings of these rows, given ascending; by binary search, not by a scan."""
        wanted = places.astype(np.int32)  # the same dtype, or searchsorted copies all postings
        if not self.docs.size:
            return self
        low = self.docs.searchsorted(wanted)
        there = self.docs.take(low, mode="clip") == wanted
        low, wanted = low[there], wanted[there]
        if self.distinct == self.docs.size:  # no row is in two fields
            return self.take(low)
        sizes = self.docs.searchsorted(wanted, "right") - low
        shift = (low - sizes.cumsum() + sizes).repeat(sizes)
        return self.take(shift + np.arange(shift.size))


class TermLists:
    """The posting lists of a segment. Those of the last terms are kept: searches share words."""

    def __init__(self, arrays: Arrays, terms: Dictionary) -> None:
        self._arrays = arrays
        self._terms = terms
        self._postings: dict[str, Postings | None] = {}
        self._spans: dict[str, TermSpan] = {}

    def ordinal(self, term: str) -> int:
        """The ordinal of a term in the dictionary; -1 if it does not occur."""
        before = bisect_right(self._some_terms, term.encode()) - 1
        return self._terms.find(term, max(before, 0) * _SOME, (before + 1) * _SOME)

    @cached_property
    def _some_terms(self) -> list[bytes]:
        """Every 16th term: a term is found among these first."""
        return [self._terms.raw(at) for at in range(0, len(self._terms), _SOME)]

    def postings(self, term: str) -> Postings | None:
        """The posting list of a term; None if it does not occur."""
        try:
            return self._postings[term]
        except KeyError:
            pass
        if len(self._postings) >= _REMEMBERED:
            self._postings.clear()
        made = self._postings[term] = self._made(term)
        return made

    def _made(self, term: str) -> Postings | None:
        span = self._spans.get(term)
        if span is None:
            ordinal = self.ordinal(term)
            return None if ordinal < 0 else self.postings_of(ordinal, ordinal + 1)
        if not span.rows:
            return None
        made = self._in(span.first, span.last)
        vars(made).update(distinct=span.rows, addresses=self.addresses(span))
        return made

    def postings_of(self, first: int, last: int) -> Postings:
        """The posting lists of the terms with ordinals [first, last), one after the other."""
        starts = self._arrays["postings.starts"]
        return self._in(int(starts[first]), int(starts[last]))

    def _in(self, first: int, last: int) -> Postings:
        names = ("postings.docs", "postings.fields", "postings.tfs")
        return Postings(*(self._arrays[name][first:last] for name in names))

    # -- for the native kernel -----------------------------------------------------------------

    def span(self, term: str) -> TermSpan | None:
        """Where the postings of a term are; None if `look_up` has not looked for it."""
        return self._spans.get(term)

    def addresses(self, span: TermSpan) -> ListAddresses:
        """The postings of a term as the native kernel takes them."""
        return self._list_arrays.addresses(span.first, span.last)

    def every_address(self, terms: Sequence[str]) -> list[ListAddresses]:
        """The same of all these terms that occur."""
        spans = [span for term in terms if (span := self._spans.get(term)) is not None]
        if len(spans) < len(terms):  # another thread had them forgotten
            return [each.addresses for term in terms if (each := self.postings(term)) is not None]
        return [self.addresses(span) for span in spans if span.rows]

    @cached_property
    def _list_arrays(self) -> ListArrays:
        arrays = self._arrays
        return ListArrays(*(arrays[f"postings.{name}"] for name in ("docs", "fields", "tfs")))

    @cached_property
    def index(self) -> TermIndex:
        """The dictionary as the native kernel takes it."""
        starts, docs = self._arrays["postings.starts"], self._arrays["postings.docs"]
        return TermIndex(self._terms.blob, self._terms.at, starts, docs)

    def unknown(self, terms: Iterable[str]) -> set[str]:
        """The terms whose spans are not known yet."""
        return set(terms).difference(self._spans)

    def keep(self, spans: dict[str, TermSpan]) -> None:
        """Keep the spans of some terms."""
        if len(self._spans) + len(spans) > _REMEMBERED:
            self._spans.clear()
        self._spans.update(spans)


def look_up(segments: Sequence[TermLists], terms: Iterable[str]) -> None:
    """Find several terms in several segments at once, where the native kernel works."""
    fast = native_library()
    if fast is None:
        return
    fresh = list(set[str]().union(*(each.unknown(terms) for each in segments)))
    if fresh:
        by_segment = find_terms(fast, [each.index for each in segments], fresh)
        for each, spans in zip(segments, by_segment, strict=True):
            each.keep(dict(zip(fresh, spans, strict=True)))
