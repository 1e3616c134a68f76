"""The tokens of a text, and the base class that makes an analyzer of a tokenizer.

Analyzers differ only in how they tokenize one text. The rest is here: positions, the gap between
two texts of a list field, field lengths, the distinct terms of a record, the fingerprint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import ClassVar, Final, NamedTuple

import apsw.unicode
import numpy as np

from memoriter.core.canonical import canonical, digest
from memoriter.core.words import RecordWords, Sketch
from memoriter.text.chunk import LONGEST

FIELDS: Final = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
"""The fields that most analyzers cover."""
GAP: Final = 100
"""Positions between two texts of one field, so that no phrase matches across them."""


class Tokenized(NamedTuple):
    """The tokens of a text, their positions, and how many positions they fill."""

    terms: Sequence[str]
    surfaces: Sequence[str]
    """The folded word behind each term."""
    places: Sequence[int] | None
    """The position of each token; None if the n-th token is at position n."""
    width: int


_NOTHING: Final = Tokenized((), (), None, 0)
_TERMS: Final = itemgetter(0)
_SURFACES: Final = itemgetter(1)


def in_sequence(terms: Sequence[str], surfaces: Sequence[str]) -> Tokenized:
    """Tokens at the positions 0, 1, 2 and so on."""
    return Tokenized(terms, surfaces, None, len(terms))


def grams(run: str) -> Tokenized:
    """Each character and each bigram, a bigram at the position of its first character.

    >>> grams("東京都").terms
    ('東', '東京', '京', '京都', '都')
    """
    # Graphemes, not code points: a vowel sign stays with its consonant.
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
    """The tokens of a text from those of its pieces, each of at least one token."""
    if len(tokenized) == 1 and tokenized[0].places is None:
        return tokenized[0]
    terms = list(chain.from_iterable(map(_TERMS, tokenized)))
    surfaces = list(chain.from_iterable(map(_SURFACES, tokenized)))
    if len(terms) == len(tokenized):  # one token each: no positions need to be kept
        return in_sequence(terms, surfaces)
    return Tokenized(terms, surfaces, *_placed(tokenized, gap=0))


def _field_of(tokenized: Sequence[Tokenized]) -> Tokenized:
    """The tokens of a field from those of its texts, with gaps between them."""
    if len(tokenized) == 1:
        return tokenized[0]
    terms = list(chain.from_iterable(map(_TERMS, tokenized)))
    surfaces = list(chain.from_iterable(map(_SURFACES, tokenized)))
    return Tokenized(terms, surfaces, *_placed(tokenized, gap=GAP))


def _placed(tokenized: Iterable[Tokenized], gap: int) -> tuple[list[int], int]:
    """The positions of all tokens, with a gap before each text but the first, and the width."""
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
    """Base class: a subclass defines `tokenize` and satisfies the `Analyzer` protocol.

    `shaping` is everything that the output depends on, such as versions of tables and libraries:
    it goes into the fingerprint.
    """

    about: ClassVar[str] = ""
    """One line for people: what it does with words."""

    def __init__(self, name: str, fields: tuple[str, ...], shaping: Mapping[str, object]) -> None:
        self._name = name
        self._fields = fields
        kind = f"{name}-words"
        described = digest(kind, canonical({"fields": fields, **shaping}))
        self._fingerprint = f"{kind}/1:{described.hex()[:16]}"

    @property
    def name(self) -> str:
        """The name that recipes use."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """The name, the format of the words, and a digest of everything that shapes the output."""
        return self._fingerprint

    @property
    def fields(self) -> tuple[str, ...]:
        """The text fields it analyses, in the order `RecordWords` keeps them."""
        return self._fields

    @abstractmethod
    def tokenize(self, text: str) -> Tokenized:
        """The tokens of any text. Must be safe to call from several threads at once."""

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        """The words of a record, from the texts of each field (a list field has several)."""
        in_fields = map(texts.get, self._fields)
        fields = [
            _field_of(list(map(self.tokenize, each))) if each else _NOTHING for each in in_fields
        ]
        terms = sorted(set(chain.from_iterable(map(_TERMS, fields))))
        ordinal = {term: nth for nth, term in enumerate(terms)}.__getitem__
        # Positions are kept only if some token is not simply at its own index: most records save
        # that column.
        in_order = all(field.places is None for field in fields)
        return RecordWords(
            terms=tuple(terms),
            surfaces=tuple(sorted(set(chain.from_iterable(map(_SURFACES, fields))))),
            lengths=tuple([field.width for field in fields]),
            tokens=tuple([tuple(map(ordinal, field.terms)) for field in fields]),
            positions=None if in_order else tuple([tuple(_places(field)) for field in fields]),
        )

    def sketch(self, texts: Mapping[str, Sequence[str]]) -> Sketch:
        """The same words as arrays for the index, without sorting what it sorts anyway."""
        in_fields = map(texts.get, self._fields)
        fields = [
            _field_of(list(map(self.tokenize, each))) if each else _NOTHING for each in in_fields
        ]
        terms = list(chain.from_iterable(map(_TERMS, fields)))
        places = None
        if any(field.places is not None for field in fields):
            places = np.array([place for field in fields for place in _places(field)], np.int64)
        return Sketch(
            terms,
            list(set(chain.from_iterable(map(_SURFACES, fields)))),
            counts=tuple([len(field.terms) for field in fields]),
            lengths=tuple([field.width for field in fields]),
            ordinals=np.arange(len(terms)),
            places=places,
        )

    def terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in the order of their first appearance."""
        return list(dict.fromkeys(self.tokenize(text).terms))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """(term, position) of every token; with `prefix` the last word is not stemmed."""
        tokenized = self.tokenize(text)
        terms = list(tokenized.terms)
        if prefix and terms:
            terms[-1] = tokenized.surfaces[-1]
        return list(zip(terms, _places(tokenized), strict=True))
