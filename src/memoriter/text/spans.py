"""Where the matched words are in a text: spans for highlighting, and snippets around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import Final

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.chunk import has_unspaced
from memoriter.text.port import Analyzer

_PIECE: Final = lazy_pattern(r"\S+")
_RUN: Final = lazy_pattern(r"\w+")
_SPACE: Final = lazy_pattern(r"\s")
_LEAD: Final = 0.25
"""At most this share of a snippet comes before its first match."""
_LONGEST: Final = 100_000
"""Only so many characters of a text are searched."""

Span = tuple[int, int]
"""(start, end) in characters; the end is exclusive."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What a query matched: index terms, and prefixes of them."""

    terms: frozenset[str]
    prefixes: tuple[str, ...] = ()

    def meets(self, terms: Collection[str]) -> bool:
        """Whether one of the given terms was matched."""
        return not self.terms.isdisjoint(terms) or any(
            term.startswith(self.prefixes) for term in terms if self.prefixes
        )


def spans_of(text: str, matched: Matched, analyzer: Analyzer) -> list[Span]:
    """The spans of the words that have a matched term, in order."""
    if not matched.terms and not matched.prefixes:
        return []
    known: dict[str, bool] = {}  # the analyzer runs once per distinct word

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
    """The parts of a piece that match by themselves, else the piece without outer punctuation."""
    runs = _runs(piece)
    any_part = False
    for begin, end in runs:
        if meets(piece[begin:end]):
            any_part = True
            yield from _characters(piece, begin, end, matched)
    if not any_part:
        yield (runs[0][0], runs[-1][1]) if runs else (0, len(piece))


def _runs(piece: str) -> list[Span]:
    """Runs of letters, digits and connectors, with their combining marks."""
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
    """The spans of the terms in a run of a script without spaces; any other run as a whole."""
    run = piece[begin:end]
    there = [term for term in matched.terms if term in run] if has_unspaced(run) else []
    inside = sorted({m.span() for term in there for m in re.finditer(re.escape(term), run)})
    if not inside:
        yield begin, end
        return
    first, last = inside[0]  # overlapping bigrams merge into one span
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
