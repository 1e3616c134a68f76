"""Which words of a text matched? Found with the analyzer that found the hit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Final

from rich.text import Text

from recollect.doors.render.ink import MATCH
from recollect.doors.render.safe import one_line

_PIECE: Final = re.compile(r"\S+")
_EDGE: Final = re.compile(r"^\W+|\W+$")
_LEAD: Final = 24
"""How far before the first match a cut text begins at most."""

Terms = Callable[[str], list[str]]


@lru_cache(maxsize=1)
def own_terms() -> Terms:
    """The terms of a text, as our analyzer reads them."""
    from recollect.text.own import Own  # noqa: PLC0415  # loads the stemmer

    return Own().terms


def marked(text: str, matched: Collection[str], width: int, terms: Terms) -> Text:
    """The text on one line, cut to a width around its first match, with every match marked."""
    line = one_line(text)
    spans = _spans(line, matched, terms) if matched else []
    start = _start(line, spans, width)
    out = Text(line)
    for begin, end in spans:
        out.stylize(MATCH, begin, end)
    out = Text("…").append_text(out[start:]) if start else out
    out.truncate(width, overflow="ellipsis")
    return out


def _spans(line: str, matched: Collection[str], terms: Terms) -> list[tuple[int, int]]:
    """Where the words stand that share a term with what matched."""
    wanted = set(matched)
    out: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(line):
        if wanted.isdisjoint(terms(piece[0])):
            continue
        bare = _EDGE.sub("", piece[0]) or piece[0]
        begin = piece.start() + piece[0].index(bare)
        out.append((begin, begin + len(bare)))
    return out


def _start(line: str, spans: list[tuple[int, int]], width: int) -> int:
    if len(line) <= width or not spans or spans[0][1] < width:
        return 0
    at = max(0, spans[0][0] - _LEAD)
    return line.find(" ", at) + 1 if " " in line[at : spans[0][0]] else at
