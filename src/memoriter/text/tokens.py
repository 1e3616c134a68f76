"""Estimates the tokens of a text from above, without a model's vocabulary.

Tokenizers differ and none comes with this package. So every word is counted as a rare one, three
letters to a token, and everything else (digits, signs, codes, text beyond ASCII) as one token per
byte, the worst case of any byte-level tokenizer. docs/context.md has figures.
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern

_PIECES: Final = lazy_pattern(
    r"(?P<word>(?<![A-Za-z0-9])(?=[A-Za-z])[A-Z]?[a-z]{0,15}"
    r"(?:[A-Z][a-z]{2,15}){0,3}(?![A-Za-z0-9]))"
    r"|(?P<space> (?=[A-Za-z]))"
    r"|(?P<other>.)",
    re.DOTALL,
)
_LETTERS: Final = 3


def estimate_tokens(text: str) -> int:
    r"""The estimated tokens of a text. Additive over lines: a line feed is one token.

    >>> (
    ...     estimate_tokens("Prod SSH port is 49222"),
    ...     estimate_tokens("naïve"),
    ...     estimate_tokens("x7Gq"),
    ...     estimate_tokens("a\nb"),
    ... )
    (14, 4, 4, 3)
    """
    return sum(map(_cost, _PIECES.finditer(text)))


def _cost(piece: re.Match[str]) -> int:
    match piece.lastgroup:
        case "word":
            return -(-len(piece[0]) // _LETTERS)
        case "space":
            return 0  # it belongs to the word after it
        case _:
            return len(piece[0].encode())
