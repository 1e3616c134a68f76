"""Text of strangers, for a terminal, a page or a prompt: it may be read, it may not steer."""

from __future__ import annotations

import re
from typing import Final

_STEERING: Final = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
    "\\U000e0000-\\U000e007f]"
)
"""Control characters but tab and line feed, those that turn the direction of reading or break a
line unseen, and tags: letters that a model reads and nobody sees."""
_PICTURES: Final = 0x2400
_PICTURED: Final = 0x20
_DELETE: Final = "\x7f"


def safe(text: str) -> str:
    r"""The text, as long as it was, with every character that steers replaced by a picture of it.

    >>> safe("a\x1b[31mred")
    'a␛[31mred'
    """
    return _STEERING.sub(_picture, text)


def one_line(text: str) -> str:
    """The text as one safe line, white space drawn together."""
    return safe(" ".join(text.split()))


def _picture(found: re.Match[str]) -> str:
    char = found[0]
    if ord(char) < _PICTURED:
        return chr(_PICTURES + ord(char))
    return "␡" if char == _DELETE else "�"
