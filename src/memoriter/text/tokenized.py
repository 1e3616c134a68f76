"""Readings: what a piece of text is read as, and how the readings of a record become `RecordWords`.

An analyzer differs from another in how it reads one text. The rest is the same for all of them and
stands here: positions, the gap between two tags, lengths, the distinct terms, the fingerprint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import ClassVar, Final, NamedTuple

import apsw.unicode

from memoriter.core.canonical import canonical, digest
from memoriter.core.words import RecordWords
from memoriter.text.chunk import LONGEST

FIELDS: Final = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
"""The fields that most analyzers read."""
_GAP: Final = 100
"""Positions between two texts of one field, so that no phrase reaches across."""


class Tokenized(NamedTuple):
    """The tokens of a piece of text, where they stand, and how many positions it fills."""

    terms: Sequence[str]
    surfaces: Sequence[str]
    """The folded word behind each term."""
    places: Sequence[int] | None
    """The position of each token; None when the n-th stands at n."""
    width: int


_NOTHING: Final = Tokenized((), (), None, 0)
_TERMS: Final = itemgetter(0)
_SURFACES: Final = itemgetter(1)


def in_sequence(terms: Sequence[str], surfaces: Sequence[str]) -> Tokenized:
    """A reading of words that stand one after the other."""
    return Tokenized(terms, surfaces, None, len(terms))


def grams(run: str) -> Tokenized:
    """Each character and each pair of neighbours, the pair at the place of its first.

    >>> grams("東京都").terms
    ('東', '東京', '京', '京都', '都')
    """
    characters = [one[:LONGEST] for one in apsw.unicode.grapheme_iter(run)]
    terms: list[str] = []
    places: list[int] = []
    for place, (one, following) in enumerate(pairwise(characters)):
        terms += (one, one + following)
        places += (place, place)
    terms.append(characters[-1])
    places.append(len(characters) - 1)
    kept = tuple(terms)
    return Tokenized(kept, kept, tuple(places), len(characters))


def concatenated(tokenized: Sequence[Tokenized]) -> Tokenized:
    """The reading of a text from those of its pieces, each of at least one token."""
    if len(tokenized) == 1 and tokenized[0].places is None:
        return tokenized[0]
    terms = list(chain.from_iterable(map(_TERMS, tokenized)))
    surfaces = list(chain.from_iterable(map(_SURFACES, tokenized)))
    if len(terms) == len(tokenized):
        return in_sequence(terms, surfaces)
    return Tokenized(terms, surfaces, *_placed(tokenized, gap=0))


def _apart(tokenized: Sequence[Tokenized]) -> Tokenized:
    """The reading of a field from those of its texts."""
    if len(tokenized) == 1:
        return tokenized[0]
    terms = list(chain.from_iterable(map(_TERMS, tokenized)))
    surfaces = list(chain.from_iterable(map(_SURFACES, tokenized)))
    return Tokenized(terms, surfaces, *_placed(tokenized, gap=_GAP))


def _placed(tokenized: Iterable[Tokenized], gap: int) -> tuple[list[int], int]:
    """The positions of all tokens, a gap before every reading but the first, and the width."""
    places: list[int] = []
    at = width = 0
    for _, _, offsets, filled in tokenized:
        at += gap if places else 0
        places += range(at, at + filled) if offsets is None else [at + one for one in offsets]
        at += filled
        width += filled
    return places, width


def _places(tokenized: Tokenized) -> Sequence[int]:
    return range(len(tokenized.terms)) if tokenized.places is None else tokenized.places


class TokenAnalyzer(ABC):
    """An analyzer that only has to say how it reads one text: it satisfies `Analyzer`.

    `shaping` names what the output depends on, versions of tables included.
    """

    about: ClassVar[str] = ""
    """How it reads words, in a line for people."""

    def __init__(self, name: str, fields: tuple[str, ...], shaping: Mapping[str, object]) -> None:
        self._name = name
        self._fields = fields
        kind = f"{name}-words"
        described = digest(kind, canonical({"fields": fields, **shaping}))
        self._fingerprint = f"{kind}/1:{described.hex()[:16]}"

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Names the rules and every table that shapes the output."""
        return self._fingerprint

    @property
    def fields(self) -> tuple[str, ...]:
        """The text fields it analyses, in the order `RecordWords` keeps them."""
        return self._fields

    @abstractmethod
    def read(self, text: str) -> Tokenized:
        """The tokens of any text; called from many threads at once."""

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        """The words of a record: for each field its texts (several in a list field, or none)."""
        given = map(texts.get, self._fields)
        fields = [_apart(list(map(self.read, each))) if each else _NOTHING for each in given]
        terms = sorted(set(chain.from_iterable(map(_TERMS, fields))))
        ordinal = {term: nth for nth, term in enumerate(terms)}.__getitem__
        in_order = all(field.places is None for field in fields)
        return RecordWords(
            terms=tuple(terms),
            surfaces=tuple(sorted(set(chain.from_iterable(map(_SURFACES, fields))))),
            lengths=tuple([field.width for field in fields]),
            tokens=tuple([tuple(map(ordinal, field.terms)) for field in fields]),
            positions=None if in_order else tuple([tuple(_places(field)) for field in fields]),
        )

    def terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in the order of their first appearance."""
        return list(dict.fromkeys(self.read(text).terms))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """(term, position) of every token; with `prefix` the last word is not stemmed."""
        tokenized = self.read(text)
        terms = list(tokenized.terms)
        if prefix and terms:
            terms[-1] = tokenized.surfaces[-1]
        return list(zip(terms, _places(tokenized), strict=True))
