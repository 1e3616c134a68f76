"""How many tokens does a text take? An estimate on the safe side, without a model's vocabulary.

Models cut text differently, and none of their tables comes with this package. So every word is
counted as if it were a rare one, three letters to a token, and what is no word at all (digits,
signs, codes, whatever lies beyond ASCII) as if each byte were a token: no table can do worse than
that. docs/context.md has figures.
"""

from __future__ import annotations

import re
from typing import Final

_PIECES: Final = re.compile(
    r"(?P<word>(?<![A-Za-z0-9])(?=[A-Za-z])[A-Z]?[a-z]{0,15}"
    r"(?:[A-Z][a-z]{2,15}){0,3}(?![A-Za-z0-9]))"
    r"|(?P<space> (?=[A-Za-z]))"
    r"|(?P<other>.)",
    re.DOTALL,
)
_LETTERS: Final = 3


def estimate_tokens(text: str) -> int:
    r"""Tokens of a text; lines add up, each line feed being one more.

    >>> (
    ...     estimate_tokens("Prod SSH port is 49222"),
    ...     estimate_tokens("naïve"),
    ...     estimate_tokens("x7Gq"),
    ...     estimate_tokens("a\nb"),
    ... )
    (14, 4, 4, 3)
    """
    return sum(map(_cost, _PIECES.finditer(text)))


def _cost(found: re.Match[str]) -> int:
    match found.lastgroup:
        case "word":
            return -(-len(found[0]) // _LETTERS)
        case "space":
            return 0  # it belongs to the word after it
        case _:
            return len(found[0].encode())
