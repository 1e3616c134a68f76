"""Long texts become overlapping parts, so that a model with a short sight reads all of them."""

from __future__ import annotations

import re
from typing import Final

from memoriter.core.errors import InputError

# A word of a script without spaces is a character long; an endless word is cut.
_WORDS: Final = re.compile(r"[\u2e80-\U0010ffff]|[^\s\u2e80-\U0010ffff]{1,32}")


def split(text: str, window: int | None, overlap: int | None = None) -> list[str]:
    """The parts of a text: `window` words each, of which `overlap` stand in the part before.

    Without an overlap it is a quarter of the window. A text that fits, and any text when there is
    no window, is one part as it is.

    >>> split("one two three  four five six seven", window=4)
    ['one two three  four', 'four five six seven']
    """
    if window is None:
        return [text]
    shared = window // 4 if overlap is None else overlap
    if not 0 <= shared < window:
        raise InputError(f"overlap: {shared} is not between 0 and {window - 1}", field="overlap")
    words = [found.span() for found in _WORDS.finditer(text)]
    if len(words) <= window:
        return [text]
    parts: list[str] = []
    for first in range(0, len(words) - shared, window - shared):
        last = min(first + window, len(words)) - 1
        parts.append(text[words[first][0] : words[last][1]])
    return parts


def window_of(embedder: object) -> int | None:
    """How many words an embedder reads at a time; None where it does not say: all of them."""
    window = getattr(embedder, "window", None)
    return window if isinstance(window, int) else None
