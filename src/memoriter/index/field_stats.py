"""Statistics of some fields of a view: postings, term and document frequencies, field lengths.

BM25 and its fuzzy rung read these. The fields are those of the analyzer, and
`agent_registry`: the registry's text about a record's agent. That text is analysed per agent and
joined by the agent column, so that an edit of the registry re-indexes no record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.words import RecordWords
from memoriter.index.columns import dictionary_of
from memoriter.index.match import NearPattern, PhrasePattern, occurrences
from memoriter.index.segment import Segment
from memoriter.index.term_lists import Postings
from memoriter.index.view import View
from memoriter.kernel.calls import ListAddresses, RowLengths
from memoriter.kernel.terms import TermSpan
from memoriter.text.port import Analyzer

REGISTRY: Final = "agent_registry"
_KEPT: Final = 4_096
"""How many words each cache of a view has at most; a full one is emptied."""
T = TypeVar("T")
Among = Literal["all", "worded"]
"""Which records BM25 counts: all of a view, or those with a word in a listed field."""
Named = Literal["registered", "every"]
"""Which agents have a text: those of the registry, or every one, whose name then is its id."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """What bounds a score in one field: the highest term frequency and the shortest length."""

    field: int
    tf: int
    length: int


class FieldStats:
    """Statistics of a view over the fields that a search looks at."""

    def __init__(
        self,
        view: View,
        fields: Sequence[str],
        analyzer: Analyzer,
        among: Among = "all",
        named: Named = "registered",
    ) -> None:
        self.view = view
        self.names = (*view.fields, REGISTRY)
        self._analyzer = analyzer
        self._among: Among = among
        self.listed = tuple(n for n, name in enumerate(self.names) if name in fields)
        texts: Mapping[str, str] = {}
        if REGISTRY in fields:
            texts = view.every_agent if named == "every" else view.agents
        self._texts = texts
        self._registry = len(view.fields) if texts else None
        # Part of every cache key: a segment outlives a view, but the registry may change.
        self._registry_hash = hash(tuple(texts.items())) if texts else 0
        self._own = tuple(n for n in self.listed if n < len(view.fields))
        self._whole = len(self._own) == len(view.fields)
        self._wanted = np.zeros(256, np.bool_)
        self._wanted[list(self._own)] = True
        self._dfs: dict[PhrasePattern | NearPattern, int] = {}
        self._lists: dict[PhrasePattern | NearPattern, Mapping[int, ListAddresses]] = {}

    # -- how much there is ---------------------------------------------------------------------

    @cached_property
    def total(self) -> int:
        """How many records count (N of BM25)."""
        if self._among == "all":
            return self.view.total
        return sum(
            int((seen.mask & (self.row_lengths(n) > 0)).sum())
            for n, seen in enumerate(self.view.seen)
        )

    @cached_property
    def means(self) -> dict[int, float]:
        """The mean length of each listed field."""
        sums = {field: sum(int(s.lengths[field]) for s in self.view.seen) for field in self._own}
        if self._registry is not None:
            sums[self._registry] = sum(
                int(self._registry_lengths[n][seen.mask].sum())
                for n, seen in enumerate(self.view.seen)
            )
        return {n: sums.get(n, 0) / self.total if self.total else 0.0 for n in self.listed}

    @cached_property
    def row_mean(self) -> float:
        """The mean length of all listed fields together."""
        return sum(self.means.values())

    def df(self, what: PhrasePattern | NearPattern) -> int:
        """The document frequency: records of the view with a match in any listed field."""
        known = self._dfs.get(what)
        return _kept(self._dfs, what, self._counted(what)) if known is None else known

    def _counted(self, what: PhrasePattern | NearPattern) -> int:
        count = 0
        for n, seen in enumerate(self.view.seen):
            span = self._span(n, what)
            if span is not None and seen.count == seen.mask.size:
                count += span.rows
                continue
            key = (self._own, self._registry_hash, what)
            count += seen.number(key, lambda n=n: self._df(n, what))
        return count

    def _df(self, n: int, what: PhrasePattern | NearPattern) -> int:
        hits = self.occurrences(n, what)
        if hits is None:
            return 0
        seen = self.view.seen[n]
        whole = seen.count == seen.mask.size
        return hits.distinct if whole else int(seen.mask[distinct(hits.docs)].sum())

    # -- where something occurs ----------------------------------------------------------------

    def occurrences(self, n: int, what: PhrasePattern | NearPattern) -> Postings | None:
        """The matches in the listed fields of the n-th segment; None if there are none."""
        segment = self.view.segments[n]
        hits = occurrences(segment, what)
        named = isinstance(what, PhrasePattern) and bool(what.fields)
        if hits is not None and not self._whole and not named:
            hits = hits.take(self._wanted[hits.fields])
            hits = hits if hits.docs.size else None
        if self._registry is None or isinstance(what, NearPattern):
            return hits
        return _joined(hits, self._by_registry(segment, what, self._registry))

    def lists(self, what: PhrasePattern | NearPattern) -> Mapping[int, ListAddresses]:
        """The matches by the number of the segment, for the native kernel."""
        known = self._lists.get(what)
        if known is not None:
            return known
        made: dict[int, ListAddresses] = {}
        for n, segment in enumerate(self.view.segments):
            span = self._span(n, what)
            hits = self.occurrences(n, what) if span is None else None
            if span is not None and span.rows:
                made[n] = segment.term_lists.addresses(span)
            elif hits is not None:
                made[n] = hits.addresses
        return _kept(self._lists, what, made)

    def _span(self, n: int, what: PhrasePattern | NearPattern) -> TermSpan | None:
        """Where the matches in the n-th segment are, if they are the postings of a term."""
        if self._registry is not None or not self._whole or isinstance(what, NearPattern):
            return None
        return self.view.segments[n].term_lists.span(what.tokens[0][0]) if what.is_term else None

    def extremes(self, n: int, what: PhrasePattern | NearPattern) -> tuple[Extremes, ...]:
        """The extremes for each field of the n-th segment with a match; cached on the segment."""
        segment = self.view.segments[n]
        key = (self._own, self._registry_hash, what)
        known = segment.memo.get(key)
        if known is None:
            hits = self.occurrences(n, what)
            known = () if hits is None else tuple(self._extremes(n, hits))
            segment.remember(key, known)
        return known

    def _extremes(self, n: int, hits: Postings) -> list[Extremes]:
        out: list[Extremes] = []
        fields = np.flatnonzero(np.bincount(hits.fields)).tolist()
        for field in fields:
            some = hits if len(fields) == 1 else hits.take((hits.fields == field).nonzero()[0])
            shortest = int(self.lengths(n, field, some.docs).min())
            out.append(Extremes(field, int(some.tfs.max()), shortest))
        return out

    # -- how long fields are -------------------------------------------------------------------

    def lengths(self, n: int, field: int, docs: NDArray[np.int32]) -> NDArray[np.int32]:
        """The length of a field of these rows of the n-th segment, in tokens."""
        if field == self._registry:
            return self._registry_lengths[n][docs]
        return self.view.segments[n].lengths[field, docs]

    @cached_property
    def rows_for_kernel(self) -> list[RowLengths]:
        """The rows of each segment, for the native kernel."""
        return list(map(self._rows_for_kernel, range(len(self.view.segments))))

    def _rows_for_kernel(self, n: int) -> RowLengths:
        """The rows of the n-th segment with the lengths of listed fields, for the native kernel."""
        segment = self.view.segments[n]
        known = segment.memo.get(("lengths", self._own)) if self._registry is None else None
        if known is None:
            lengths = {field: segment.lengths[field] for field in self._own}
            if self._registry is not None:
                lengths[self._registry] = self._registry_lengths[n]
                return RowLengths(segment.rows, lengths)
            known = RowLengths(segment.rows, lengths)
            segment.remember(("lengths", self._own), known)
        return known

    def row_lengths(self, n: int) -> NDArray[np.int64]:
        """For each row of the n-th segment the summed length of all listed fields."""
        segment = self.view.segments[n]
        out = segment.lengths[list(self._own)].sum(axis=0, dtype=np.int64)
        return out if self._registry is None else out + self._registry_lengths[n]

    # -- the registry --------------------------------------------------------------------------

    @cached_property
    def _agents(self) -> dict[str, RecordWords]:
        return {agent: _analysed(self._analyzer, text) for agent, text in self._texts.items()}

    @cached_property
    def _registry_lengths(self) -> list[NDArray[np.int32]]:
        out: list[NDArray[np.int32]] = []
        for segment in self.view.segments:
            lengths = np.zeros(len(dictionary_of(segment.arrays, "agent")) + 1, np.int32)
            for agent, code in _codes(segment).items():
                if agent in self._agents:
                    lengths[code] = self._agents[agent].lengths[0]
            # No agent is code -1, which picks the last entry: 0.
            out.append(lengths[segment.arrays["agent.codes"]])
        return out

    def _by_registry(self, segment: Segment, what: PhrasePattern, field: int) -> Postings | None:
        if what.fields and field not in what.fields:
            return None
        counts = {agent: _times(words, what) for agent, words in self._agents.items()}
        if not any(counts.values()):
            return None
        tfs = np.zeros(len(dictionary_of(segment.arrays, "agent")) + 1, np.int32)
        for agent, code in _codes(segment).items():
            tfs[code] = counts.get(agent, 0)
        row_tfs = tfs[segment.arrays["agent.codes"]]
        docs = np.flatnonzero(row_tfs).astype(np.int32)
        return Postings(docs, np.full(docs.size, field, np.uint8), row_tfs[docs])


def _kept(
    cache: dict[PhrasePattern | NearPattern, T], what: PhrasePattern | NearPattern, value: T
) -> T:
    """The value, which the cache has from now on."""
    if len(cache) >= _KEPT:
        cache.clear()
    cache[what] = value
    return value


def field_stats_of(
    view: View,
    fields: Sequence[str],
    analyzer: Analyzer,
    among: Among = "all",
    named: Named = "registered",
) -> FieldStats:
    """The statistics of some fields of a view; every search asks for the same, so they are kept."""
    key = ("field stats", tuple(fields), analyzer.fingerprint, among, named)
    known = view.memo.get(key)
    if known is None:
        known = view.memo[key] = FieldStats(view, fields, analyzer, among, named)
    return known


@lru_cache(maxsize=4096)
def _analysed(analyzer: Analyzer, text: str) -> RecordWords:
    return analyzer.analyse({"text": (text,)})


def _codes(segment: Segment) -> dict[str, int]:
    return {agent: code for code, agent in enumerate(dictionary_of(segment.arrays, "agent"))}


def _times(words: RecordWords, what: PhrasePattern) -> int:
    """How often a phrase occurs in the first field of some words."""
    if not words.tokens[0]:
        return 0
    places = words.positions[0] if words.positions else range(len(words.tokens[0]))
    spots: dict[str, set[int]] = {}
    for ordinal, place in zip(words.tokens[0], places, strict=True):
        spots.setdefault(words.terms[ordinal], set()).add(place)
    begins: set[int] | None = None
    last = len(what.tokens) - 1
    for at, (term, offset) in enumerate(what.tokens):
        open_ended = what.prefix and at == last
        here = [s for t, s in spots.items() if t == term or (open_ended and t.startswith(term))]
        shifted = {place - offset for some in here for place in some}
        begins = shifted if begins is None else begins & shifted
    return len(begins or ())


def _joined(first: Postings | None, second: Postings | None) -> Postings | None:
    if first is None or second is None or not second.docs.size:
        return first if second is None or not second.docs.size else second
    docs = np.concatenate([first.docs, second.docs])
    order = np.argsort(docs, kind="stable")
    fields = np.concatenate([first.fields, second.fields])
    tfs = np.concatenate([first.tfs, second.tfs])
    return Postings(docs[order], fields[order], tfs[order])


def distinct(docs: NDArray[np.int32]) -> NDArray[np.int32]:
    """The distinct values of a sorted array (quicker than np.unique, which sorts)."""
    fresh = np.ones(docs.size, np.bool_)
    np.not_equal(docs[1:], docs[:-1], out=fresh[1:])
    return docs[fresh]
