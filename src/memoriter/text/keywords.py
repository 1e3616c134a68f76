"""Keywords of a group of texts, for reflections: frequent words, and phrases by TF-IDF."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

KEYWORDS: Final = 10
KEYPHRASES: Final = 3
_DIGITS: Final = 4
_SHORTEST: Final = 3
_SIZES: Final = (2, 3)
_APART: Final = re.compile(r"\W+")
_STOP_WORDS: Final = """
    after all also and are back been boy but can come could day did even first for from get give has
    have her here him his how into its just let like look make man most new not now old one only our
    out over put say see she should such than that the them then there they this too two use very
    want was way well were what when who will with work would you your
"""
_STOPS: Final = frozenset(_STOP_WORDS.split())

Phrase = tuple[str, float]
"""A phrase and its weight."""


def words_of(text: str) -> list[str]:
    """The content words of a text in lower case, in order: no stop words, none under 3 letters.

    >>> words_of("The hotel in Berlin is close to the station")
    ['hotel', 'berlin', 'close', 'station']
    """
    parts = _APART.split(text.lower())
    return [word for word in parts if len(word) >= _SHORTEST and word not in _STOPS]


def frequent_words(texts: Iterable[str], most: int = KEYWORDS) -> list[str]:
    """The `most` most frequent content words of some texts; ties go to the one seen first.

    >>> frequent_words(["a flight to Berlin", "Berlin again"])
    ['berlin', 'flight', 'again']
    """
    counts = Counter(word for text in texts for word in words_of(text))
    return [word for word, _ in counts.most_common(most)]


def phrases_of(text: str) -> Iterator[str]:
    """Bigrams and trigrams of the content words of a text."""
    words = words_of(text)
    for size in _SIZES:
        for at in range(len(words) - size + 1):
            yield " ".join(words[at : at + size])


class Phrases:
    """Document frequencies of all phrases in a collection of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._total = len(texts)
        self._spread = Counter(phrase for text in texts for phrase in set(phrases_of(text)))

    def distinctive(self, texts: Iterable[str], most: int = KEYPHRASES) -> list[Phrase]:
        """The phrases that set some of the texts apart from the collection, heaviest first.

        The weight is tf · ln((1 + N) / (1 + df)), rounded to four digits; ties go by the alphabet.

        >>> Phrases(["red cars", "blue cars", "green cars"]).distinctive(["red cars", "blue cars"])
        [('blue cars', 0.6931), ('red cars', 0.6931)]
        """
        counts = Counter(phrase for text in texts for phrase in phrases_of(text))
        weights = {
            phrase: round(tf * math.log((1 + self._total) / (1 + self._spread[phrase])), _DIGITS)
            for phrase, tf in counts.items()
        }
        # Rounded before sorting: the order must not depend on the last bits of a logarithm.
        best = sorted(weights, key=lambda phrase: (-weights[phrase], phrase))
        return [(phrase, weights[phrase]) for phrase in islice(best, most)]
