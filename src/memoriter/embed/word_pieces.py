"""The tokens that the packaged transformer reads: word pieces of the packaged table, and marks."""

from __future__ import annotations

import re
import string
from itertools import chain
from typing import Final

from memoriter.embed.static import Pieces, folded

PIECES: Final = 29_114
"""Entries of the packaged table's vocabulary; the marks are numbered behind them."""
MARKS: Final = f"{string.punctuation}¡¢£¥§©«®°±·»¿×÷‐–—‘’“”„†•′€₹←↑→↓⇒−√∞≈≤≥│●★♥、。"
"""Punctuation and signs that are a token each; others are left out."""
BEGIN: Final = PIECES + len(MARKS)
END: Final = BEGIN + 1
SIZE: Final = END + 1
"""How many different tokens there are."""
_TOKENS: Final = re.compile(r"[^\W_]+|[^\w\s]|_")


class WordPieces:
    """Cuts texts into token numbers; words are cached. Thread-safe."""

    def __init__(self) -> None:
        self._pieces = Pieces()
        self._pieces.update((mark, (number,)) for number, mark in enumerate(MARKS, PIECES))

    def cut(self, text: str, longest: int) -> list[str]:
        """A text in parts of at most so many tokens, without their ends.

        >>> WordPieces().cut("one, two", 2)
        ['one, ', 'two']
        """
        if len(text) <= longest:
            return [text]
        parts, begin, count = list[str](), 0, 0
        for match in _TOKENS.finditer(text):
            size = sum(len(self._pieces[word]) for word in _TOKENS.findall(folded(match.group())))
            if count and count + size > longest:
                parts.append(text[begin : match.start()])
                begin, count = match.start(), 0
            count += size
        return [*parts, text[begin:]]

    def tokens(self, text: str, longest: int) -> list[int]:
        """The tokens of a text between both ends, at most `longest` in all; empty without a word.

        >>> WordPieces().tokens("…?", 8)
        []
        """
        words = _TOKENS.findall(folded(text))
        inner = list(chain.from_iterable(map(self._pieces.__getitem__, words)))
        if not inner or min(inner) >= PIECES:
            return []
        return [BEGIN, *inner[: longest - 2], END]
