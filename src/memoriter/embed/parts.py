"""Splits long texts into overlapping parts, so that a model with a short input reads them all."""

from __future__ import annotations

import re
from typing import Final

from memoriter.core.errors import InputError

# In scripts without spaces (CJK and above) each character counts as a word; a word of more than 32
# characters counts as several, so that no part can grow without bound.
_WORDS: Final = re.compile(r"[\u2e80-\U0010ffff]|[^\s\u2e80-\U0010ffff]{1,32}")


def split_text(text: str, window: int | None, overlap: int | None = None) -> list[str]:
    """The parts of a text: `window` words each, `overlap` of them shared with the part before.

    The overlap is a quarter of the window by default. A text that fits, or any text if the window
    is None, is returned whole. Raises InputError unless 0 ≤ overlap < window.

    >>> split_text("one two three  four five six seven", window=4)
    ['one two three  four', 'four five six seven']
    """
    if window is None:
        return [text]
    shared = window // 4 if overlap is None else overlap
    if not 0 <= shared < window:
        raise InputError(f"overlap: {shared} is not between 0 and {window - 1}", field="overlap")
    words = [match.span() for match in _WORDS.finditer(text)]
    if len(words) <= window:
        return [text]
    parts: list[str] = []
    for first in range(0, len(words) - shared, window - shared):
        last = min(first + window, len(words)) - 1
        parts.append(text[words[first][0] : words[last][1]])
    return parts


def window_of(embedder: object) -> int | None:
    """The words per part that an embedder wants; None if it declares no window."""
    window = getattr(embedder, "window", None)
    return window if isinstance(window, int) else None
