"""What the word lane sees of a record, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoriter.core.words import RecordWords
from memoriter.text.port import Analyzer

Spots = dict[str, list[int]]
"""Where in one field each term stands."""


@dataclass(frozen=True)
class Page:
    """What the lane sees of one record: for each field the spots of its terms, and its length."""

    spots: Mapping[str, Spots]
    lengths: Mapping[str, int]
    surfaces: frozenset[str]


def page(
    words: RecordWords, registry: RecordWords | None, analyzer: Analyzer, wanted: Sequence[str]
) -> Page:
    """The wanted fields of a record; `registry` is what is said of its agent."""
    spots: dict[str, Spots] = {}
    lengths: dict[str, int] = {}
    for at, name in enumerate(analyzer.fields):
        spots[name] = _spots(words, at)
        if name in wanted:
            lengths[name] = words.lengths[at]
    if "agent_registry" in wanted:
        spots["agent_registry"] = {} if registry is None else _spots(registry, 0)
        lengths["agent_registry"] = 0 if registry is None else registry.lengths[0]
    return Page(spots, lengths, frozenset(words.surfaces))


def _spots(words: RecordWords, field: int) -> Spots:
    tokens = words.tokens[field]
    places = words.positions[field] if words.positions is not None else range(len(tokens))
    out: Spots = {}
    for ordinal, place in zip(tokens, places, strict=True):
        out.setdefault(words.terms[ordinal], []).append(place)
    return out
