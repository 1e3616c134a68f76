"""The default analyzer: stems of folded words, identifiers and their parts, character bigrams.

A text is split into *chunks* (`text.chunk`), and each chunk becomes tokens:
    words         one token: the Porter2 stem of the folded word, "sister's" as "sister"
    identifiers   `user_id`, `REQ-12`, `v1.2.3`: the whole, at the position of its first part
    no spaces     Han, kana, Thai, Lao, Khmer, Burmese …: each character, and at the same position
                  the bigram that it begins
    pictographs   the sequence, and at the same position what it is composed of
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

import apsw.unicode
import numpy as np
import Stemmer

from memoriter.core.word_table import WordTable
from memoriter.kernel.split import numbered_words
from memoriter.text.chunk import LONGEST, chunks, is_unspaced
from memoriter.text.placed_table import placed_table
from memoriter.text.tokenized import FIELDS, TokenAnalyzer, Tokenized, concatenated, grams

_RULES: Final = 1
"""Version of the rules here, in `text.chunk`, in `text.tokenized` and in `core.fold`."""
_CACHED: Final = 65_536
"""So many chunks are cached; then the cache is emptied, which is cheaper than an LRU order."""
_CACHED_LONGEST: Final = 64

_PART: Final = "[^!-/:-@\\[-`{-~\u00b7\u2027\u203f\u2040\u2044\u2054\u055f\u060c\u060d\u066c\u07f8]"
# A contraction ("don't", "we'll") is one part, not two.
_PARTS: Final = re.compile(rf"{_PART}++(?:'(?:[stdm]|re|ll|ve)(?!{_PART}|'))?")
# The stemmer is for English; other scripts and long words keep their form.
_STEMMED: Final = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff']{1,64}")

# The zero-width joiner and the skin tones, which compose pictographs.
_COMPOSING: Final = re.compile("[\u200d\U0001f3fb-\U0001f3ff]+")


class _Lexicon(dict[str, Tokenized]):
    """A cache from chunks to their tokens. One per thread: a stemmer must not be shared."""

    def __init__(self) -> None:
        super().__init__()
        self._stem = Stemmer.Stemmer("english", 0).stemWord

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
        return _alone(self._stem(word) if _STEMMED.fullmatch(word) else word, word)


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


class _Local(threading.local):
    """Each thread has its own cache."""

    def __init__(self) -> None:
        self.lexicon = _Lexicon()


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
        self._local = _Local()

    def tokenize(self, text: str) -> Tokenized:
        """The tokens of any text, chunk by chunk."""
        return concatenated(list(map(self._local.lexicon.__getitem__, chunks(text))))

    def word_table(self, records: Sequence[Mapping[str, Sequence[str]]]) -> WordTable:
        """The words of many records at once, as `sketch` gives them: each distinct chunk once."""
        texts: list[str] = []
        cells: list[int] = []
        """Of each text, its record and field as one number."""
        for nth, fields in enumerate(records):
            for cell, field in enumerate(self._fields, nth * len(self._fields)):
                for text in fields.get(field, ()):
                    texts.append(text)
                    cells.append(cell)
        numbered = numbered_words(texts, chunks, linked=True)
        known = list(map(self._local.lexicon.__getitem__, numbered.words))
        shape = len(records), len(self._fields)
        return placed_table(known, numbered, np.array(cells, np.int64), shape)
