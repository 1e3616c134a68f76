"""The default analyzer: stems of folded words, identifiers and their parts, character bigrams.

A text is split into *chunks* (`text.chunk`), and each chunk becomes tokens:
    words         one token: the Porter2 stem of the folded word, "sister's" as "sister"
    identifiers   `user_id`, `REQ-12`, `v1.2.3`: the whole, at the position of its first part
    no spaces     Han, kana, Thai, Lao, Khmer, Burmese …: each character, and at the same position
                  the bigram that it begins
    pictographs   the sequence, and at the same position what it is composed of
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final

import apsw.unicode
import numpy as np
import Stemmer
from numpy.typing import NDArray

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.core.runs import runs_at
from memoriter.core.word_table import WordTable, numbered_strings
from memoriter.kernel.split import NumberedWords, numbered_words
from memoriter.text.chunk import LONGEST, chunks, is_unspaced
from memoriter.text.tokenized import FIELDS, GAP, TokenAnalyzer, Tokenized, concatenated, grams

_RULES: Final = 1
"""Version of the rules here, in `text.chunk`, in `text.tokenized` and in `core.fold`."""
_CACHED: Final = 65_536
"""So many chunks are cached; then the cache is emptied, which is cheaper than an LRU order."""
_CACHED_LONGEST: Final = 64

_PART: Final = "[^!-/:-@\\[-`{-~\u00b7\u2027\u203f\u2040\u2044\u2054\u055f\u060c\u060d\u066c\u07f8]"
# A contraction ("don't", "we'll") is one part, not two.
_PARTS: Final = lazy_pattern(rf"{_PART}++(?:'(?:[stdm]|re|ll|ve)(?!{_PART}|'))?")
# The stemmer is for English; other scripts and long words keep their form.
_STEMMED: Final = lazy_pattern(r"[a-z\u00df-\u024f\u1e00-\u1eff']{1,64}")

# The zero-width joiner and the skin tones, which compose pictographs.
_COMPOSING: Final = lazy_pattern("[\u200d\U0001f3fb-\U0001f3ff]+")


class _Stemmers(threading.local):
    """Each thread has its own stemmer: one must not be shared."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english", 0).stemWord


class _Lexicon(dict[str, Tokenized]):
    """A cache from chunks to their tokens, shared by all threads."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmers = _Stemmers()

    def __missing__(self, chunk: str) -> Tokenized:
        if chunk.isascii() and chunk.isalpha():
            tokenized = self._word(chunk)
        elif is_unspaced(chunk):
            tokenized = grams(chunk)
        elif any(map(str.isalnum, chunk)):
            tokenized = self._words(chunk)
        else:
            parts = [part for part in _COMPOSING.split(chunk) if part]
            tokenized = _stacked(chunk, [_alone(part, part) for part in parts])
        if len(chunk) <= _CACHED_LONGEST:  # long chunks rarely repeat
            if len(self) >= _CACHED:
                self.clear()
            self[chunk] = tokenized
        return tokenized

    def _words(self, chunk: str) -> Tokenized:
        whole = chunk.removesuffix("'s")
        parts: list[str] = _PARTS.findall(whole)
        if len(parts) <= 1:
            return self._word(whole)
        return _stacked(whole, [self[part[:LONGEST]] for part in parts])

    def _word(self, word: str) -> Tokenized:
        word = word[:LONGEST]
        return _alone(self._stemmers.stem(word) if _STEMMED.fullmatch(word) else word, word)


def _alone(term: str, surface: str) -> Tokenized:
    # Most chunks end here and the cache holds many: one tuple serves both fields to save memory.
    terms = (term,)
    return Tokenized(terms, terms if term == surface else (surface,), None, 1)


def _stacked(whole: str, parts: Sequence[Tokenized]) -> Tokenized:
    """The parts one after the other, and the whole at the position of the first part."""
    terms = [part.terms[0] for part in parts]
    surfaces = [part.surfaces[0] for part in parts]
    places = list(range(len(parts)))
    # One part that equals the whole needs no second token; an overlong whole is no term.
    if terms != [whole] and len(whole) <= LONGEST:
        terms.insert(0, whole)
        surfaces.insert(0, whole)
        places.insert(0, 0)
    return Tokenized(tuple(terms), tuple(surfaces), tuple(places), max(1, len(parts)))


class DefaultAnalyzer(TokenAnalyzer):
    """The analyzer of the built-in recipes; safe to share between threads."""

    about = "words and stems, scripts without spaces by pairs"

    def __init__(self) -> None:
        shaping = {
            "rules": _RULES,
            "stemmer": f"english {Stemmer.version()}",
            "normal forms": unicodedata.unidata_version,
            "boundaries": apsw.unicode.unicode_version,
        }
        super().__init__("memoriter", FIELDS, shaping)
        self._lexicon = _Lexicon()

    def tokenize(self, text: str) -> Tokenized:
        """The tokens of any text, chunk by chunk."""
        if text.isascii() and text.isalpha():  # one word
            return self._lexicon[text.lower()]
        return concatenated(list(map(self._lexicon.__getitem__, chunks(text))))

    def word_table(self, columns: Mapping[str, Sequence[Sequence[str]]], records: int) -> WordTable:
        """The words of many records at once, as `sketch` gives them: each distinct chunk once.

        `columns` has the texts of a field, record by record; a field without any may be missing.
        """
        texts: list[str] = []
        parts: list[_Whole] = [np.zeros(0, np.int64)]
        first = np.arange(records) * len(self._fields)
        for nth, field in enumerate(self._fields):
            column = columns.get(field)
            if column is not None:
                texts += chain.from_iterable(column)
                sizes = np.fromiter(map(len, column), np.int64, records)
                parts.append(np.repeat(first + nth, sizes))
        # Of each text, its record and field as one number; the texts in the order of these.
        cells = np.concatenate(parts)
        order = np.argsort(cells, kind="stable")
        texts = [texts[n] for n in order.tolist()]
        numbered = numbered_words(texts, chunks, linked=True)
        known = list(map(self._lexicon.__getitem__, numbered.words))
        return placed_table(known, numbered, cells[order], (records, len(self._fields)))


# --- the words of many records as arrays ------------------------------------------------------

_Whole = NDArray[np.int64]


def placed_table(
    known: Sequence[Tokenized], texts: NumberedWords, cells: _Whole, shape: tuple[int, int]
) -> WordTable:
    """The table of texts whose chunks are numbered; `known` has the tokens of each chunk.

    What `text.tokenized` works out for one text after the other, on arrays: the tokens of a text
    are those of its chunks, one behind the other, and the texts of a field follow each other with a
    gap.

    `shape` is (records, fields). A text belongs to a cell: record · fields + field. Cells ascend.
    """
    fields = shape[1]
    every = shape[0] * fields
    of_chunks = list(map(attrgetter("terms"), known))
    sizes = np.fromiter(map(len, of_chunks), np.int64, len(known))
    widths = np.fromiter(map(attrgetter("width"), known), np.int64, len(known))
    terms, of_term = numbered_strings(of_chunks)
    surfaces, of_surface = numbered_strings(map(attrgetter("surfaces"), known))
    ends = np.cumsum(sizes)
    within = np.arange(of_term.size) - np.repeat(ends - sizes, sizes)
    for nth, places in enumerate(map(attrgetter("places"), known)):
        if places is not None:
            within[ends[nth] - len(places) : ends[nth]] = places
    # From here on by chunk of a text, then by token of a chunk.
    each_size, each_width = sizes[texts.numbers], widths[texts.numbers]
    tokens = runs_at((ends - sizes)[texts.numbers], each_size)
    owners = np.repeat(np.arange(texts.counts.size), texts.counts)
    filled = _added(owners, each_width, texts.counts.size)
    counts = _added(owners, each_size, texts.counts.size)
    begins = _begins(cells, filled, counts)
    ahead = np.cumsum(each_width) - each_width
    ahead -= np.repeat(np.cumsum(filled) - filled, texts.counts)
    at = np.repeat(ahead + begins[owners], each_size) + within[tokens]
    return WordTable(
        terms=terms,
        tokens=of_term[tokens],
        places=at.astype(np.uint32),
        counts=_added(cells, counts, every).reshape(shape),
        lengths=_added(cells, filled, every).reshape(shape).astype(np.int32),
        surfaces=surfaces,
        spelled=of_surface[tokens],
        spelled_in=np.repeat(cells // fields, counts),
    )


def _added(owners: _Whole, values: _Whole, size: int) -> _Whole:
    """The sums of values by owner."""
    return np.bincount(owners, weights=values, minlength=size).astype(np.int64)


def _begins(cells: _Whole, filled: _Whole, counts: _Whole) -> _Whole:
    """Where each text begins in its field: behind those before it, and a gap if they have words."""
    fresh = np.diff(cells, prepend=-1) > 0
    first = np.flatnonzero(fresh)
    if first.size == cells.size:  # no field has two texts
        return np.zeros(cells.size, np.int64)
    nth = np.cumsum(fresh) - 1
    before = np.cumsum(counts) - counts
    gaps = np.where(before > before[first][nth], GAP, 0)
    ahead = np.cumsum(filled + gaps) - filled
    return ahead - (ahead - gaps)[first][nth]
