"""Where in a text stand the words that matched? For people: snippets and marked words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from memoriter.text.chunk import has_unspaced
from memoriter.text.port import Analyzer

_PIECE: Final = re.compile(r"\S+")
_RUN: Final = re.compile(r"\w+")
_SPACE: Final = re.compile(r"\s")
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
    runs = _runs(piece)
    found = False
    for begin, end in runs:
        if meets(piece[begin:end]):
            found = True
            yield from _characters(piece, begin, end, matched)
    if not found:
        yield (runs[0][0], runs[-1][1]) if runs else (0, len(piece))


def _runs(piece: str) -> list[Span]:
    """Runs of letters, digits, connectors, and the marks that go with them."""
    if piece.isascii():
        return [run.span() for run in _RUN.finditer(piece)]
    out: list[Span] = []
    for at, char in enumerate(piece):
        if char.isalnum() or unicodedata.category(char) in {"Mn", "Mc", "Me", "Pc"}:
            if out and out[-1][1] == at:
                out[-1] = out[-1][0], at + 1
            else:
                out.append((at, at + 1))
    return out


def _characters(piece: str, begin: int, end: int, matched: Matched) -> Iterator[Span]:
    """A run of a script without spaces is marked where its terms stand, any other as a whole."""
    run = piece[begin:end]
    there = [term for term in matched.terms if term in run] if has_unspaced(run) else []
    inside = sorted({m.span() for term in there for m in re.finditer(re.escape(term), run)})
    if not inside:
        yield begin, end
        return
    first, last = inside[0]
    for a, b in inside[1:]:
        if a <= last:
            last = max(last, b)
        else:
            yield begin + first, begin + last
            first, last = a, b
    yield begin + first, begin + last


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
    if start and (space := _SPACE.search(text, start, first)) is not None:
        start = space.end()
    end = min(len(text), start + width)
    last = max([stop for begin, stop in spans if begin < end and begin >= start], default=start)
    spaces = [space.start() for space in _SPACE.finditer(text, max(last, start + 1), end + 1)]
    if end < len(text) and spaces:
        end = spaces[-1]
    return start, max(end, last)
