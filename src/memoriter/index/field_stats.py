"""Some fields of a view: where something occurs in them, how often, and how long they are.

The fields are those of the analyzer, and `agent_registry`: what the registry says of a record's
agent. The registry is read once per agent and joined by the agent column, so an edit of it shows
in the next search and indexes nothing anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.words import RecordWords
from memoriter.index.columns import dictionary_of
from memoriter.index.match import NearPattern, PhrasePattern, occurrences
from memoriter.index.segment import Postings, Segment
from memoriter.index.view import View
from memoriter.text.port import Analyzer

REGISTRY: Final = "agent_registry"
Among = Literal["all", "worded"]
"""Which records count as records: all of a view, or those with a word in one of the fields."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """In one field: the most often that something occurs, and the shortest such field."""

    field: int
    tf: int
    length: int


class FieldStats:
    """A view through the fields that a search looks at."""

    def __init__(
        self, view: View, fields: Sequence[str], analyzer: Analyzer, among: Among = "all"
    ) -> None:
        self.view = view
        self.names = (*view.fields, REGISTRY)
        self._analyzer = analyzer
        self._among: Among = among
        self.listed = tuple(n for n, name in enumerate(self.names) if name in fields)
        wanted = REGISTRY in fields and bool(view.agents)
        self._registry = len(view.fields) if wanted else None
        self._said = hash(tuple(view.agents.items())) if wanted else 0
        self._own = tuple(n for n in self.listed if n < len(view.fields))
        self._whole = len(self._own) == len(view.fields)
        self._wanted = np.zeros(256, np.bool_)
        self._wanted[list(self._own)] = True

    # -- how much there is ---------------------------------------------------------------------

    @cached_property
    def total(self) -> int:
        """How many records there are."""
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
        """In how many records of the view it occurs, in any listed field."""
        count = 0
        for n, seen in enumerate(self.view.seen):
            key = (self._own, self._said, what)
            count += seen.number(key, lambda n=n: self._df(n, what))
        return count

    def _df(self, n: int, what: PhrasePattern | NearPattern) -> int:
        found = self.occurrences(n, what)
        return 0 if found is None else int(self.view.seen[n].mask[distinct(found.docs)].sum())

    # -- where something occurs ----------------------------------------------------------------

    def occurrences(self, n: int, what: PhrasePattern | NearPattern) -> Postings | None:
        """Where it occurs in the listed fields of the n-th segment; None where it does not."""
        segment = self.view.segments[n]
        found = occurrences(segment, what)
        named = isinstance(what, PhrasePattern) and bool(what.fields)
        if found is not None and not self._whole and not named:
            found = found.take(self._wanted[found.fields])
            found = found if found.docs.size else None
        if self._registry is None or isinstance(what, NearPattern):
            return found
        return _joined(found, self._by_registry(segment, what, self._registry))

    def bounds(self, n: int, what: PhrasePattern | NearPattern) -> tuple[Bounds, ...]:
        """For each field of the n-th segment where it occurs, the most it can amount to."""
        segment = self.view.segments[n]
        key = (self._own, self._said, what)
        known = segment.memo.get(key)
        if known is None:
            found = self.occurrences(n, what)
            known = () if found is None else tuple(self._bounds(n, found))
            segment.remember(key, known)
        return known

    def _bounds(self, n: int, found: Postings) -> list[Bounds]:
        out: list[Bounds] = []
        for field in np.flatnonzero(np.bincount(found.fields)).tolist():
            at = found.fields == field
            shortest = int(self.lengths(n, field, found.docs[at]).min())
            out.append(Bounds(field, int(found.tfs[at].max()), shortest))
        return out

    # -- how long fields are -------------------------------------------------------------------

    def lengths(self, n: int, field: int, docs: NDArray[np.int32]) -> NDArray[np.int32]:
        """How long a field of these rows of the n-th segment is."""
        if field == self._registry:
            return self._registry_lengths[n][docs]
        return self.view.segments[n].lengths[field, docs]

    def row_lengths(self, n: int) -> NDArray[np.int64]:
        """How long all listed fields of each row of the n-th segment are together."""
        segment = self.view.segments[n]
        out = segment.lengths[list(self._own)].sum(axis=0, dtype=np.int64)
        return out if self._registry is None else out + self._registry_lengths[n]

    # -- the registry --------------------------------------------------------------------------

    @cached_property
    def _agents(self) -> dict[str, RecordWords]:
        told = self.view.agents
        return {agent: self._analyzer.analyse({"text": (text,)}) for agent, text in told.items()}

    @cached_property
    def _registry_lengths(self) -> list[NDArray[np.int32]]:
        out: list[NDArray[np.int32]] = []
        for segment in self.view.segments:
            lengths = np.zeros(len(dictionary_of(segment.arrays, "agent")) + 1, np.int32)
            for agent, code in _codes(segment).items():
                if agent in self._agents:
                    lengths[code] = self._agents[agent].lengths[0]
            out.append(lengths[segment.arrays["agent.codes"]])  # -1, no agent, is the last: 0
        return out

    def _by_registry(self, segment: Segment, what: PhrasePattern, place: int) -> Postings | None:
        if what.fields and place not in what.fields:
            return None
        counts = {agent: _times(words, what) for agent, words in self._agents.items()}
        if not any(counts.values()):
            return None
        tfs = np.zeros(len(dictionary_of(segment.arrays, "agent")) + 1, np.int32)
        for agent, code in _codes(segment).items():
            tfs[code] = counts.get(agent, 0)
        mine = tfs[segment.arrays["agent.codes"]]
        docs = np.flatnonzero(mine).astype(np.int32)
        return Postings(docs, np.full(docs.size, place, np.uint8), mine[docs])


def _codes(segment: Segment) -> dict[str, int]:
    return {agent: code for code, agent in enumerate(dictionary_of(segment.arrays, "agent"))}


def _times(words: RecordWords, what: PhrasePattern) -> int:
    """How often something occurs in the first field of some words."""
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
    """Each row once, of rows in order."""
    fresh = np.ones(docs.size, np.bool_)
    np.not_equal(docs[1:], docs[:-1], out=fresh[1:])
    return docs[fresh]
