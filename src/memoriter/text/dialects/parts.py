"""What dialects share: builders of query trees, the limit on their size, and closed quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from memoriter.text.port import Analyzer
from memoriter.text.tree import And, Leaf, Node, Or, ParsedQuery, Term, Without

_KEPT: Final = 64
"""A leaf of more tokens does not keep them."""
LEAVES: Final = 1_024
"""The most leaves of a tree: of a longer text only the first words are searched for."""

_T = TypeVar("_T")


def any_of(parts: Iterable[Node | None]) -> Node | None:
    """The parts joined by OR; nested ORs are flattened and None is skipped."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, Or):
            flat += part.parts
        elif part is not None:
            flat.append(part)
    return Or(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def all_of(parts: Iterable[Node | None]) -> Node | None:
    """The parts joined by AND; nested ANDs are flattened and None is skipped."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, And):
            flat += part.parts
        elif part is not None:
            flat.append(part)
    return And(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def excluding(keep: Node | None, drops: Sequence[Node]) -> Node | None:
    """A node that matches what `keep` matches and none of `drops` does; None if `keep` is."""
    drop = any_of(drops)
    return keep if keep is None or drop is None else Without(keep, drop)


def leaf(
    analyzer: Analyzer,
    text: str,
    *,
    prefix: bool = False,
    fields: tuple[str, ...] = (),
    boost: float = 1.0,
) -> Leaf | None:
    """The text as one leaf; None if the analyzer finds no word in it."""
    # A leaf without tokens would match nothing and make every AND around it fail.
    tokens = analyzer.tokens(text, prefix=prefix)
    if not tokens:
        return None
    return Leaf(text, prefix, fields, boost, tuple(tokens) if len(tokens) <= _KEPT else ())


def bare_words(analyzer: Analyzer, text: str, note: str | None = None) -> ParsedQuery:
    """The text as words joined by OR. A note says why an expression was not parsed as one."""
    terms, cut = first_leaves(analyzer.terms(text))
    return ParsedQuery(
        any_of(map(Term, terms)), note=join_notes(note, cut), malformed=note is not None
    )


def first_leaves(parts: list[_T]) -> tuple[list[_T], str | None]:
    """(as many parts as a tree may have, a note if there were more)."""
    if len(parts) <= LEAVES:
        return parts, None
    return parts[:LEAVES], f"only the first {LEAVES:,} of {len(parts):,} words are looked for"


def join_notes(*each: str | None) -> str | None:
    """The notes as one, or None if there are none."""
    return "; ".join(one for one in each if one) or None


def has_quotes(text: str) -> bool:
    """Whether the double quotes are balanced and at least one pair is not empty."""
    spans = text.split('"')
    return len(spans) > 1 and len(spans) % 2 == 1 and any(span.strip() for span in spans[1::2])
