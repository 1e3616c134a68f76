"""Makes untrusted text safe to print in a terminal, a page or a prompt."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
    "\\U000e0000-\\U000e007f]"
)
"""Control characters except tab and line feed, bidirectional controls, line and paragraph
separators, and the tag block: letters that a model reads and people do not see."""
_PICTURES: Final = 0x2400
_PICTURED: Final = 0x20
_DELETE: Final = "\x7f"


def safe(text: str) -> str:
    r"""The text with every control character replaced by a visible one; the length is the same.

    >>> safe("a\x1b[31mred")
    'a␛[31mred'
    """
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """The text as one safe line: runs of white space become single spaces."""
    return safe(" ".join(text.split()))


def _picture(match: re.Match[str]) -> str:
    char = match[0]
    if ord(char) < _PICTURED:
        return chr(_PICTURES + ord(char))
    return "␡" if char == _DELETE else "�"
