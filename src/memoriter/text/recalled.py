"""Takes blocks of recalled memories out of a text, so that none of them is captured as news.

A hook puts its block between tags; tags alone, without the line that begins a block, are what
somebody wrote about them. Whatever stands between both tags of a block goes with them. A block
without tags, which a program put into a prompt by itself, or whose beginning or end was cut off, is
recognised by the line above it and by its entries (`text.prompt`), and only these lines go. They
may be quoted, indented, numbered, marked as a comment or as added lines, or escaped as in JSON,
more than once too. All else is kept: to lose what somebody said is worse than to keep a piece of a
block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoriter.text.prompt import HEAD
from memoriter.text.tokens import estimate_tokens

_OPEN: Final = "<memoriter-memories>"
_CLOSE: Final = "</memoriter-memories>"
_CLOSE_INSIDE: Final = "[/memoriter-memories]"
"""What stands for a closing tag in a memory: taken out, its neighbours could form another one."""
_FIRST: Final = HEAD.split(". ", 1)[0]
_BEGINNING: Final = re.escape(_FIRST)
_LESS: Final = r"(?:<|&lt;|\\{1,8}u003c)"
_MORE: Final = r"(?:>|&gt;|\\{1,8}u003e)"
_ANY_OPEN: Final = rf"{_LESS}memoriter-memories{_MORE}"
_ANY_CLOSE: Final = rf"{_LESS}\\{{0,8}}/memoriter-memories{_MORE}"
_ANY_TAG: Final = re.compile(rf"(?P<open>{_ANY_OPEN})|{_ANY_CLOSE}")
_MARKS: Final = r"[ \t>|#+*;:/→-]*+(?:\d{1,6}(?:(?:[ \t:|→]|\\{1,8}t)++|(?=\n)))?+[ \t>|#+]*+"
"""What may stand before a line: of a quotation, a comment, an added line, a number."""
_BREAK: Final = rf"(?:[ \t]{{0,20}}+\n|(?:\\{{1,8}}r)?\\{{1,8}}n){_MARKS}"
_SPACE: Final = rf"(?:{_BREAK}|[ \t])*+"
_DECORATION: Final = 160
"""At most so many characters are between the opening tag and the line that begins a block."""
_LINES: Final = re.compile(r"\n|\\{1,8}n")
_WORD: Final = re.compile(r"[^\W\d_]{3}")
_DIGITS: Final = re.compile(r"\d+")
_LINE_ENDS: Final = re.compile(r"\r\n?")
_WIDE: Final = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]|\\{1,8}u00a0")
"""Spaces that a program may have made of ours."""
_SIGNS: Final = ("memoriter-memories", "Cite as [n].", "```memory", "```untrusted", "] system, ")
"""A text with a block, cut or not, has one of these."""
_MARKED: Final = re.compile(_MARKS)
_ENTRY: Final = re.compile(
    r"\[\d{1,4}\] (?:(?P<system>system)|learned|external \(untrusted\)), \d{4}-\d\d-\d\d"
    r"(?:, superseded)?(?=[ \t]{0,20}(?:\n|\\{1,8}[nr]|\Z))"
)
"""The head of an entry, which is a line by itself."""
_CUT: Final = r"[^\w[<]{0,12}?"
"""What a program may put where it cut a text."""
_SURE: Final = len("memories>")
"""A shorter end of an opening tag may be a sign of somebody's own, such as that of a quotation."""
_CUT_OPEN: Final = re.compile(
    rf"{_CUT}(?P<tail>{'|'.join(_OPEN[n:] for n in range(1, len(_OPEN)))})(?={_SPACE}{_BEGINNING})"
)
_CUT_HEAD: Final = re.compile(
    rf"{_CUT}(?:{'|'.join(re.escape(HEAD[n:]) for n in range(HEAD.index('Cite as') + 1))})"
    rf"(?={_SPACE}{_ENTRY.pattern})"
)
_HEADED: Final = re.compile(
    rf"(?:{_ANY_OPEN}{_SPACE})?{re.escape(HEAD)}|{_ANY_OPEN}{_SPACE}{_BEGINNING}"
    rf"(?:{'|'.join(re.escape(HEAD[len(_FIRST) : n]) for n in range(len(_FIRST), len(HEAD)))})\Z"
    rf"|{_ENTRY.pattern}"
)
"""What a block without both tags may begin with: the line above it, or an entry."""
_FENCE: Final = re.compile(rf"{_SPACE}(`{{3,}}+)(?:memory|untrusted)(?=[\s\\]|\Z)")
_OTHER_FENCE: Final = re.compile(r"`|[\w+-]{1,20}[ \t]{0,20}(?:\n|\\{1,8}[nr])")
"""What a closing fence has not behind it: more of a fence, or the name of a language."""
_GAP: Final = re.compile(_SPACE)
_CLOSING: Final = re.compile(_SPACE + _ANY_CLOSE)
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
    left = _with_beginning(plain.lstrip())
    for spans in (_tagged, _untagged):
        for start, end in reversed([*spans(left)]):
            left = _without(left, start, end)
    return text if left == plain.lstrip() else _GAPS.sub("\n\n", left).strip()


def _with_beginning(text: str) -> str:
    """The text with the beginning of a block that a program cut off, if it begins inside one."""
    if cut := _CUT_OPEN.match(text):
        return (_OPEN if len(cut["tail"]) >= _SURE else "") + text[cut.end() :]
    cut = _CUT_HEAD.match(text)
    return text if cut is None else HEAD + text[cut.end() :]


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """Where the blocks with both tags are."""
    start, least = None, 0
    for tag in _ANY_TAG.finditer(text):
        if tag["open"] and tag.start() >= least and (head := _head_below(text, tag)) is not None:
            start, least = _line_start(text, tag.start(), head), _block_end(text, head)
        elif not tag["open"] and start is not None:
            yield start, tag.end()
            start, least = None, 0


def _head_below(text: str, tag: re.Match[str]) -> int | None:
    """Where the line that begins a block is, below an opening tag; None if there is none."""
    at = text.find(_FIRST, tag.end(), tag.end() + _DECORATION)
    if at < 0 or _WORD.search(_LINES.split(text[tag.end() : at].replace("<br", ""))[0]):
        return None
    return at


def _line_start(text: str, at: int, head: int) -> int:
    """Where the line of a tag begins, if what is before the tag is before the next line too."""
    line, below = (text.rfind("\n", 0, each) + 1 for each in (at, head))
    marks = (_DIGITS.sub("0", mark) for mark in (text[line:at], text[below:head]))
    return line if line < below and len({*marks}) == 1 else at


def _untagged(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of blocks without tags are, and of blocks with one of them."""
    at = 0
    while begin := _HEADED.search(text, at):
        at = begin.end()
        is_entry = begin[0].startswith("[")
        if is_entry and _fenced_end(text, at) is None:
            continue  # somebody's own line may look like this
        at = _block_end(text, begin.start() if is_entry else at)
        if closing := _CLOSING.match(text, at):
            at = closing.end()
        yield begin.start(), at


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
    """Where the line above the entries, if it is here, and the entries behind it end."""
    at += len(HEAD) if text.startswith(HEAD, at) else 0
    while True:
        gap = _GAP.match(text, at)
        entry = _ENTRY.match(text, gap.end() if gap else at)
        if entry is None:
            return at
        at = entry.end()
        end = _fenced_end(text, at)
        if end is None and entry["system"]:  # it has no fence
            end = _paragraph_end(text, at)
        if end is None:
            return at
        at = end


def _fenced_end(text: str, at: int) -> int | None:
    """Where the fence behind the head of an entry ends; None if there is none."""
    fence = _FENCE.match(text, at)
    if fence is None:
        return None
    at, end = fence.end(), text.find(fence[1], fence.end())
    size = len(fence[1])
    cut = end < 0 or _OTHER_FENCE.match(text, end + size)  # no text in a fence has one like it
    return _paragraph_end(text, at) if cut else end + size


def _paragraph_end(text: str, at: int) -> int:
    """Where a text without a fence, or with one that was cut off, ends at the latest."""
    rest = _PARAGRAPH.match(text, at) or _ESCAPED_PARAGRAPH.match(text, at)
    return rest.end() if rest else at
