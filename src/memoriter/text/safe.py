"""Makes untrusted text safe to print in a terminal, a page or a prompt.

What a reader cannot see is either dropped or shown as a symbol, so a person and a model read the
same text. Dropped: characters that only shape their neighbours or have no width (variation
selectors, joiners, fillers), as most of them stand in honest text. Shown: characters that move the
cursor, end a line, turn the direction of writing or spell hidden letters.
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern

_DROPPED: Final = (
    "\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200d\\u2060-\\u2065"
    "\\u206a-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\U00013430-\\U0001343f"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0080-\\U000e0fff"
)
"""Default-ignorable characters and joiners of hieroglyphs: without width of their own."""
_SHOWN: Final = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
    "\\ufff9-\\ufffb\\U000e0000-\\U000e007f"
)
"""Control characters except tab and line feed, direction marks, line and paragraph separators,
marks of annotations, and the tag block: letters that a model reads and people do not see."""
_UNSEEN: Final = lazy_pattern(f"([{_DROPPED}]+)|[{_SHOWN}]")
_PICTURES: Final = 0x2400
_PICTURED: Final = 0x20
_DELETE: Final = "\x7f"


def safe(text: str) -> str:
    r"""The text without what cannot be seen: dropped, or replaced by a symbol.

    >>> safe("a\x1b[31mred"), safe("pay\u200bpal"), safe("a\u202eb")
    ('a␛[31mred', 'paypal', 'a�b')
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_picture, text)


def one_line(text: str) -> str:
    """The text as one safe line: runs of white space become single spaces."""
    return safe(" ".join(text.split()))


def safe_json(document: str) -> str:
    r"""A JSON document in which escapes stand for characters that cannot be seen.

    >>> safe_json('{"id":"a\u200bb"}')
    '{"id":"a\\u200bb"}'
    """
    return _UNSEEN.sub(_escape, document)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def _picture(match: re.Match[str]) -> str:
    if match[1]:
        return ""
    char = match[0]
    if ord(char) < _PICTURED:
        return chr(_PICTURES + ord(char))
    return "␡" if char == _DELETE else "�"
