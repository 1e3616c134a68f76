"""Takes blocks of recalled memories out of a text, so that none of them is captured as news.

A hook puts its block between tags; tags alone, without the line that begins a block, are what
somebody wrote about them. A block without tags, which a program put into a prompt by itself, is
recognised by the line above it and by the heads of its entries (`text.prompt`). Either may be
quoted, indented, numbered, marked as a comment or as added lines, or escaped as in JSON, more than
once too, and programs that cut a text may have taken its beginning. What has no shape of a block
is kept: it is what somebody said.
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
_LESS: Final = r"(?:<|&lt;|\\{1,8}u003c)"
_MORE: Final = r"(?:>|&gt;|\\{1,8}u003e)"
_ANY_CLOSE: Final = rf"{_LESS}\\{{0,8}}/memoriter-memories{_MORE}"
_MARKS: Final = r"[ \t>|#+*;:/→-]*+(?:\d{1,6}(?:(?:[ \t:|→]|\\{1,8}t)++|(?=\n)))?+[ \t>|#+]*+"
"""What may stand before a line: of a quotation, a comment, an added line, a number."""
_BREAK: Final = rf"(?:[ \t]{{0,20}}+\n|(?:\\{{1,8}}r)?\\{{1,8}}n){_MARKS}"
_SPACE: Final = rf"(?:{_BREAK}|[ \t])*+"
_TAGGED: Final = re.compile(
    rf"(?:^{_MARKS})?{_LESS}memoriter-memories{_MORE}{_SPACE}{_BEGINNING}.*?(?:{_ANY_CLOSE}|\Z)",
    re.DOTALL | re.MULTILINE,
)
_ANY_TAG: Final = re.compile(rf"{_ANY_CLOSE}|{_LESS}memoriter-memories{_MORE}")
_LINE_ENDS: Final = re.compile(r"\r\n?")
_WIDE: Final = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]|\\{1,8}u00a0")
"""Spaces that a program may have made of ours."""
_SIGNS: Final = ("memoriter-memories", "Cite as [n].", "```memory", "```untrusted", "] system, ")
"""A text with a block, cut or not, has one of these."""
_MARKED: Final = re.compile(_MARKS)
_ENTRY: Final = re.compile(
    r"\[\d+\] (?:system|learned|external \(untrusted\)), \d{4}-\d\d-\d\d(?:, superseded)?"
    r"(?=[\s\\]|\Z)"
)
_CUT: Final = r"[^\w[<]{0,12}?"
"""What a program may put where it cut a text."""
_CUT_OPEN: Final = re.compile(
    rf"{_CUT}(?:{'|'.join(_OPEN[n:] for n in range(1, len(_OPEN)))})(?={_SPACE}{_BEGINNING})"
)
_CUT_HEAD: Final = re.compile(
    rf"{_CUT}(?:{'|'.join(re.escape(HEAD[n:]) for n in range(len(HEAD) + 1))})"
    rf"(?={_SPACE}{_ENTRY.pattern})"
)
_CUT_ENTRY: Final = re.compile(
    rf"(?:(?!`{{3}}).)*`{{3,}}+(?={_SPACE}(?:{_ANY_CLOSE}|{_ENTRY.pattern}))", re.DOTALL
)
"""The end of an entry whose beginning is missing: behind its fence the block ends or goes on."""
_FENCE: Final = re.compile(rf"{_SPACE}(`{{3,}}+)(?:memory|untrusted)(?=[\s\\]|\Z)")
_GAP: Final = re.compile(_SPACE)
_PARAGRAPH: Final = re.compile(rf"[ \t]*+\n.*?(?={_BREAK}{_BREAK}|\Z)", re.DOTALL)
_ESCAPED_PARAGRAPH: Final = re.compile(
    rf"\\.*?(?={_BREAK}{_BREAK}|\\{{0,8}}[\"']\s?(?:[,}}\])]|$)|$)", re.MULTILINE
)
"""A text without a fence: to the next empty line, or to the end of its string."""
_GAPS: Final = re.compile(r"\n{3,}")
TAG_TOKENS: Final = estimate_tokens(f"{_OPEN}\n\n{_CLOSE}")
"""What the tags around a block take of its budget."""


def tagged_block(block: str) -> str:
    """The block between tags; nothing inside can close them."""
    return f"{_OPEN}\n{re.sub(_ANY_CLOSE, _CLOSE_INSIDE, block)}\n{_CLOSE}" if block else ""


def without_blocks(text: str) -> str:
    """The text without the blocks of recalled memories in it.

    >>> without_blocks(tagged_block(f"{HEAD} [1] the port is 22") + " And which port for ssh?")
    'And which port for ssh?'
    >>> without_blocks("what does <memoriter-memories> mean?")
    'what does <memoriter-memories> mean?'
    """
    plain = _WIDE.sub(" ", _LINE_ENDS.sub("\n", text))
    if not any(sign in plain for sign in _SIGNS):
        return text
    plain = _with_beginning(plain.lstrip())
    entries = _ENTRY.finditer(plain)
    fenced = any(_fenced_end(plain, entry.end()) is not None for entry in entries)
    if HEAD not in plain and not fenced and not _TAGGED.search(plain):
        return text
    text = _TAGGED.sub("", plain)
    while (start := text.find(HEAD)) >= 0:
        text = _without(text, start, _block_end(text, start + len(HEAD)))
    for entry in reversed([*_ENTRY.finditer(text)]):  # behind a text of several paragraphs
        if (end := _fenced_end(text, entry.end())) is not None:
            text = _without(text, entry.start(), end)
    return _GAPS.sub("\n\n", text).strip()


def _with_beginning(text: str) -> str:
    """The text with the beginning of a block that a program cut off, if it begins inside one."""
    if cut := _CUT_OPEN.match(text):
        return _OPEN + text[cut.end() :]
    cut = _CUT_HEAD.match(text) or _CUT_ENTRY.match(text)
    if cut is None:
        return text
    rest = text[cut.end() :]
    tag = _ANY_TAG.search(rest)
    closes = tag is not None and "/" in tag[0]
    return f"{_OPEN}\n{HEAD}{rest}" if closes else HEAD + rest


def _without(text: str, start: int, end: int) -> str:
    """The text without a part, and without the marks before it if its line begins with them."""
    line = text.rfind("\n", 0, start) + 1
    before, after = text[:start], text[end:]
    if _MARKED.fullmatch(before, line):
        before = before[:line]
    if before and not before[-1].isspace() and after and not after[0].isspace():
        return before + after  # inside a string
    return before.rstrip() + "\n\n" + after.lstrip()


def _block_end(text: str, at: int) -> int:
    """Where the entries after the head line end."""
    while True:
        gap = _GAP.match(text, at)
        entry = _ENTRY.match(text, gap.end() if gap else at)
        if entry is None:
            return at
        at = entry.end()
        end = _fenced_end(text, at)
        if end is None:  # an entry of trust `system` has no fence
            rest = _PARAGRAPH.match(text, at) or _ESCAPED_PARAGRAPH.match(text, at)
            end = rest.end() if rest else at
        at = end


def _fenced_end(text: str, at: int) -> int | None:
    """Where the fence behind the head of an entry ends; None if there is none."""
    fence = _FENCE.match(text, at)
    if fence is None:
        return None
    end = text.find(fence[1], fence.end())
    return len(text) if end < 0 else end + len(fence[1])
