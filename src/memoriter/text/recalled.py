"""Takes blocks of recalled memories out of a text, so that none of them is captured as news.

A hook puts its block between tags. A block without tags, which a program put into a prompt by
itself, is recognised by the line above it and by the heads of its entries (`text.prompt`).
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.text.prompt import HEAD
from memoriter.text.tokens import estimate_tokens

_OPEN: Final = "<memoriter-memories>"
_CLOSE: Final = "</memoriter-memories>"
_TAGGED: Final = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL)
_ENTRY: Final = re.compile(
    r"\s*\[\d+\] (?:system|learned|external \(untrusted\)), \d{4}-\d\d-\d\d(?:, superseded)?\n"
)
_FENCE: Final = re.compile(r"(`{3,})(?:memory|untrusted)\n")
_GAPS: Final = re.compile(r"\n{3,}")
TAG_TOKENS: Final = estimate_tokens(f"{_OPEN}\n\n{_CLOSE}")
"""What the tags around a block take of its budget."""


def tagged_block(block: str) -> str:
    """The block between tags; nothing inside can close them."""
    return f"{_OPEN}\n{block.replace(_CLOSE, '')}\n{_CLOSE}" if block else ""


def without_blocks(text: str) -> str:
    """The text without the blocks of recalled memories in it.

    >>> without_blocks(tagged_block("[1] the port is 22") + " And which port for ssh?")
    'And which port for ssh?'
    >>> without_blocks("no block here")
    'no block here'
    """
    if _OPEN not in text and HEAD not in text:
        return text
    text = _TAGGED.sub("", text)
    while (start := text.find(HEAD)) >= 0:
        text = text[:start].rstrip() + "\n\n" + text[_block_end(text, start + len(HEAD)) :].lstrip()
    return _GAPS.sub("\n\n", text).strip()


def _block_end(text: str, at: int) -> int:
    """Where the entries after the head line end."""
    while (entry := _ENTRY.match(text, at)) is not None:
        at = entry.end()
        fence = _FENCE.match(text, at)
        if fence is not None:
            end = text.find(f"\n{fence[1]}", fence.end())
            at = len(text) if end < 0 else end + 1 + len(fence[1])
            continue
        # An entry of trust `system` has no fence: it reaches to the next entry or empty line.
        following = re.compile(r"\n\n(?=\[\d+\] )|\n\n|\Z").search(text, at)
        at = following.start() if following else len(text)
    return at
