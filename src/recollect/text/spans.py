"""Where in a text stand the words that matched? For people: snippets and marked words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from recollect.text.port import Analyzer

_PIECE: Final = re.compile(r"\S+")
_RUN: Final = re.compile(r"\w+")
_EDGE: Final = re.compile(r"^\W+|\W+$")
_LEAD: Final = 0.25
"""Which part of a snippet stands before its first match at most."""
_LONGEST: Final = 100_000
"""Words are looked for in so many characters of a text; snippets are for people."""

Span = tuple[int, int]
"""From a character up to, and not including, another."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Terms of the index, and beginnings of terms."""

    terms: frozenset[str]
    beginnings: tuple[str, ...] = ()

    def meets(self, terms: Collection[str]) -> bool:
        """Whether one of these terms is meant."""
        return not self.terms.isdisjoint(terms) or any(
            term.startswith(self.beginnings) for term in terms if self.beginnings
        )


def spans_of(text: str, matched: Matched, analyzer: Analyzer) -> list[Span]:
    """Where the words stand that share a term with what matched, in order."""
    if not matched.terms and not matched.beginnings:
        return []
    known: dict[str, bool] = {}

    def meets(word: str) -> bool:
        if word not in known:
            known[word] = matched.meets([term for term, _ in analyzer.tokens(word)])
        return known[word]

    out: list[Span] = []
    for piece in _PIECE.finditer(text, 0, _LONGEST):
        if meets(piece[0]):
            at = piece.start()
            out += [(at + a, at + b) for a, b in _inner(piece[0], meets, matched)]
    return out


def _inner(piece: str, meets: Callable[[str], bool], matched: Matched) -> Iterator[Span]:
    """The parts of a piece that match by themselves, else all of it without marks at its ends."""
    found = False
    for run in _RUN.finditer(piece):
        if meets(run[0]):
            found = True
            yield from _characters(run, matched)
    if not found:
        begin = re.match(r"\W*", piece)
        bare = _EDGE.sub("", piece) or piece
        start = begin.end() if begin and bare != piece else 0
        yield start, start + len(bare)


def _characters(run: re.Match[str], matched: Matched) -> Iterator[Span]:
    """A run of a script without spaces is marked where its terms stand, any other as a whole."""
    there = [term for term in matched.terms if term in run[0]]
    inside = sorted({m.span() for term in there for m in re.finditer(re.escape(term), run[0])})
    if run[0].isascii() or not inside:
        yield run.span()
        return
    begin, end = inside[0]
    for a, b in inside[1:]:
        if a <= end:
            end = max(end, b)
        else:
            yield run.start() + begin, run.start() + end
            begin, end = a, b
    yield run.start() + begin, run.start() + end


def snippet(text: str, spans: list[Span], width: int, marks: tuple[str, str]) -> str:
    """About `width` characters of a text around its first match, cut between words, matches marked.

    >>> snippet("the prod ssh port is 49222", [(9, 12)], 12, ("<", ">"))
    '…<ssh> port is…'
    """
    start, end = _window(text, spans, width)
    out: list[str] = ["…"] if start else []
    at = start
    for begin, stop in spans:
        if begin >= start and stop <= end:
            out += [text[at:begin], marks[0], text[begin:stop], marks[1]]
            at = stop
    out.append(text[at:end])
    return "".join((*out, "…" if end < len(text) else ""))


def _window(text: str, spans: list[Span], width: int) -> Span:
    if len(text) <= width:
        return 0, len(text)
    first = spans[0][0] if spans else 0
    start = max(0, min(first - int(width * _LEAD), len(text) - width))
    if start and (space := text.find(" ", start, first)) >= 0:
        start = space + 1
    end = min(len(text), start + width)
    last = max([stop for begin, stop in spans if begin < end and begin >= start], default=start)
    if end < len(text) and (space := text.rfind(" ", max(last, start + 1), end + 1)) > 0:
        end = space
    return start, max(end, last)
