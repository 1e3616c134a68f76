"""Takes blocks of recalled memories out of a text, so that none of them is captured as news.

A hook puts its block between tags; tags alone, without the line that begins a block, are what
somebody wrote about them. A block without tags, which a program put into a prompt by itself, is
recognised by the line above it and by the heads of its entries (`text.prompt`).
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.text.prompt import HEAD
from memoriter.text.tokens import estimate_tokens

_OPEN: Final = "<memoriter-memories>"
_CLOSE: Final = "</memoriter-memories>"
_CLOSE_INSIDE: Final = "[/memoriter-memories]"
"""What stands for a closing tag in a memory: taken out, its neighbours could form another one."""
_BEGINNING: Final = re.escape(HEAD.split(". ", 1)[0])
_TAGGED: Final = re.compile(
    rf"(?:^[ \t>]+)?{_OPEN}(?:[\s>]|\\[nr])*{_BEGINNING}.*?(?:{_CLOSE}|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""Also one that somebody quoted, or whose line ends are escaped, as in JSON."""
_QUOTED: Final = re.compile(rf"^[ \t]*>.*{_BEGINNING}.*(?:\n[ \t]*>.*)*", re.MULTILINE)
"""A quoted block without tags: all lines of the quotation."""
_LINE_ENDS: Final = re.compile(r"\r\n?")
_ENTRY: Final = re.compile(
    r"\s*\[\d+\] (?:system|learned|external \(untrusted\)), \d{4}-\d\d-\d\d(?:, superseded)?\n"
)
_FENCE: Final = re.compile(r"(`{3,})(?:memory|untrusted)\n")
_GAPS: Final = re.compile(r"\n{3,}")
TAG_TOKENS: Final = estimate_tokens(f"{_OPEN}\n\n{_CLOSE}")
"""What the tags around a block take of its budget."""


def tagged_block(block: str) -> str:
    """The block between tags; nothing inside can close them."""
    return f"{_OPEN}\n{block.replace(_CLOSE, _CLOSE_INSIDE)}\n{_CLOSE}" if block else ""


def without_blocks(text: str) -> str:
    """The text without the blocks of recalled memories in it.

    >>> without_blocks(tagged_block(f"{HEAD} [1] the port is 22") + " And which port for ssh?")
    'And which port for ssh?'
    >>> without_blocks("what does <memoriter-memories> mean?")
    'what does <memoriter-memories> mean?'
    """
    plain = _LINE_ENDS.sub("\n", text)
    if HEAD not in plain and not _TAGGED.search(plain):
        return text
    text = _QUOTED.sub("", _TAGGED.sub("", plain))
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
