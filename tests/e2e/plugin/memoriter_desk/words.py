"""A dialect and an analyzer: every word must be there; a word is what stands between spaces."""

from __future__ import annotations

from memoriter.text.dialects.parts import all_of, leaf
from memoriter.text.dialects.port import Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.tokenized import FIELDS, TokenAnalyzer, Tokenized, in_sequence
from memoriter.text.tree import ParsedQuery


def parse(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """All words of the text."""
    del options
    return ParsedQuery(all_of(leaf(analyzer, word) for word in text.split()))


EVERY = Dialect("every word must be there", parse)


class Spaced(TokenAnalyzer):
    """Words between spaces, in small letters."""

    about = "what stands between spaces"

    def __init__(self) -> None:
        super().__init__("spaced", FIELDS, {"rules": 1})

    def tokenize(self, text: str) -> Tokenized:
        """The words of any text."""
        words = text.lower().split()
        return in_sequence(words, words)
