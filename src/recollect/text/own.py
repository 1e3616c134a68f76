"""Our own analyzer: stems of folded words, identifiers and their parts, pairs of characters.

A text is cut into *chunks*, a chunk is *read* as tokens:
    words         one token: the Porter2 stem of the folded word, "sister's" as "sister"
    identifiers   `user_id`, `REQ-12`, `v1.2.3`: the whole, stacked on the first of its parts
    no spaces     Han, kana, Thai, Lao, Khmer, Burmese …: each character, and stacked on it the pair
                  that it begins
    pictographs   the sequence; stacked on it what it is composed of
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

import apsw.unicode
import Stemmer

from recollect.core.canonical import canonical, digest
from recollect.core.words import Words
from recollect.text.chunk import LONGEST, chunks, is_unspaced

_FIELDS: Final = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
_RULES: Final = 1
"""Version of the rules here, in `text.chunk` and in `core.fold`."""
_GAP: Final = 100
"""Positions between two texts of one field, so that no phrase reaches across."""
_CACHED: Final = 65_536
_CACHED_LONGEST: Final = 64

_PART: Final = "[^!-/:-@\\[-`{-~\u00b7\u2027\u203f\u2040\u2044\u2054\u055f\u060c\u060d\u066c\u07f8]"
_PARTS: Final = re.compile(rf"{_PART}++(?:'(?:[stdm]|re|ll|ve)(?!{_PART}|'))?")
_STEMMED: Final = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff']{1,64}")

_COMPOSING: Final = re.compile("[\u200d\U0001f3fb-\U0001f3ff]+")


class Reading(NamedTuple):
    """What one chunk is read as: its tokens, where they stand, and how many positions it fills."""

    terms: tuple[str, ...]
    surfaces: tuple[str, ...]
    places: tuple[int, ...]
    width: int


_Field: TypeAlias = tuple[list[str], list[int] | None, int]
"""The terms of a field, the position of each (None when the n-th stands at n), the length."""
_NOTHING: Final[_Field] = ([], None, 0)
_TERMS: Final = itemgetter(0)
_SURFACES: Final = itemgetter(1)


class _Lexicon(dict[str, Reading]):
    """Readings of chunks, remembered; for one thread, as a stemmer is not safe to share."""

    def __init__(self) -> None:
        super().__init__()
        self._stem = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, chunk: str) -> Reading:
        if chunk.isascii() and chunk.isalpha():
            reading = self._word(chunk)
        elif is_unspaced(chunk):
            reading = _grams(chunk)
        elif any(map(str.isalnum, chunk)):
            reading = self._words(chunk)
        else:
            parts = [part for part in _COMPOSING.split(chunk) if part]
            reading = _stacked(chunk, [_alone(part, part) for part in parts])
        if len(chunk) <= _CACHED_LONGEST:
            if len(self) >= _CACHED:
                self.clear()
            self[chunk] = reading
        return reading

    def _words(self, chunk: str) -> Reading:
        whole = chunk.removesuffix("'s")
        parts: list[str] = _PARTS.findall(whole)
        if len(parts) <= 1:
            return self._word(whole)
        return _stacked(whole, [self[part[:LONGEST]] for part in parts])

    def _word(self, word: str) -> Reading:
        word = word[:LONGEST]
        return _alone(self._stem(word) if _STEMMED.fullmatch(word) else word, word)


def _alone(term: str, surface: str) -> Reading:
    # Most readings are such, and the lexicon holds many: equal tuples are shared.
    terms = (term,)
    return Reading(terms, terms if term == surface else (surface,), (0,), 1)


def _stacked(whole: str, parts: Sequence[Reading]) -> Reading:
    """The parts one after the other, each one position wide, and the whole on the first of them."""
    terms = [part.terms[0] for part in parts]
    surfaces = [part.surfaces[0] for part in parts]
    places = list(range(len(parts)))
    if terms != [whole] and len(whole) <= LONGEST:
        terms.insert(0, whole)
        surfaces.insert(0, whole)
        places.insert(0, 0)
    return Reading(tuple(terms), tuple(surfaces), tuple(places), max(1, len(parts)))


def _grams(run: str) -> Reading:
    """Each character and each pair of neighbours, the pair at the place of its first."""
    characters = [one[:LONGEST] for one in apsw.unicode.grapheme_iter(run)]
    terms: list[str] = []
    places: list[int] = []
    for place, (one, following) in enumerate(pairwise(characters)):
        terms += (one, one + following)
        places += (place, place)
    terms.append(characters[-1])
    places.append(len(characters) - 1)
    kept = tuple(terms)
    return Reading(kept, kept, tuple(places), len(characters))


def _places(field: _Field) -> tuple[int, ...]:
    terms, places, _ = field
    return tuple(range(len(terms)) if places is None else places)


def _placed(texts: Iterable[Iterable[Reading]]) -> tuple[list[int], int]:
    """The positions of all tokens of a field, and how many positions they fill."""
    places: list[int] = []
    at = length = 0
    for readings in texts:
        start = at = at + _GAP if places else 0
        for reading in readings:
            places += [at + offset for offset in reading.places]
            at += reading.width
        length += at - start
    return places, length


def _fingerprint() -> str:
    description = {
        "fields": _FIELDS,
        "rules": _RULES,
        "stemmer": f"english {Stemmer.version()}",
        "normal forms": unicodedata.unidata_version,
        "boundaries": apsw.unicode.unicode_version,
    }
    return "recollect-words/1:" + digest("recollect-words", canonical(description)).hex()[:16]


class Own:
    """The analyzer of the library recipes: it satisfies `Analyzer` and is safe to share."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._fingerprint = _fingerprint()

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return "recollect"

    @property
    def fingerprint(self) -> str:
        """Names the rules and every table that shapes the output."""
        return self._fingerprint

    @property
    def fields(self) -> tuple[str, ...]:
        """The text fields it analyses, in the order `Words` keeps them."""
        return _FIELDS

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> Words:
        """The words of a record: for each field its texts (several in a list field, or none)."""
        surfaces: set[str] = set()
        given = map(texts.get, _FIELDS)
        fields = [self._field(found, surfaces) if found else _NOTHING for found in given]
        terms = sorted(set(chain.from_iterable(map(_TERMS, fields))))
        ordinal = {term: nth for nth, term in enumerate(terms)}.__getitem__
        plain = all(places is None for _, places, _ in fields)
        return Words(
            terms=tuple(terms),
            surfaces=tuple(sorted(surfaces)),
            lengths=tuple([length for _, _, length in fields]),
            tokens=tuple([tuple(map(ordinal, found)) for found, _, _ in fields]),
            positions=None if plain else tuple(map(_places, fields)),
        )

    def terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in the order of their first appearance."""
        readings = map(self._lexicon().__getitem__, chunks(text))
        return list(dict.fromkeys(chain.from_iterable(map(_TERMS, readings))))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """(term, position) of every token of a phrase; with `prefix` the last word is not stemmed."""
        readings = list(map(self._lexicon().__getitem__, chunks(text)))
        terms = [list(reading.terms) for reading in readings]
        if prefix and readings:
            terms[-1][-1] = readings[-1].surfaces[-1]
        places, _ = _placed([readings])
        return list(zip(chain.from_iterable(terms), places, strict=True))

    def _field(self, texts: Sequence[str], surfaces: set[str]) -> _Field:
        """The terms of a field, their positions, the length; its surface words go to `surfaces`."""
        read = self._lexicon().__getitem__
        texts_read = [list(map(read, chunks(text))) for text in texts]
        readings = list(chain.from_iterable(texts_read))
        surfaces.update(*map(_SURFACES, readings))
        terms = list(chain.from_iterable(map(_TERMS, readings)))
        if len(texts) == 1 and len(terms) == len(readings):
            return terms, None, len(terms)
        return terms, *_placed(texts_read)

    def _lexicon(self) -> _Lexicon:
        try:
            return self._local.lexicon
        except AttributeError:
            self._local.lexicon = _Lexicon()
            return self._local.lexicon
