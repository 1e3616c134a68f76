"""Small pieces of trees, the same for every dialect: alternatives, leaves, and where they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from memoriter.text.port import Analyzer
from memoriter.text.tree import All, Any, Leaf, Node, ParsedQuery, Term, Without

LEAVES: Final = 1_024
"""No tree has more leaves: of a longer text the first words are looked for."""

_T = TypeVar("_T")


def any_of(parts: Iterable[Node | None]) -> Node | None:
    """One of the parts; alternatives among them are taken apart, what says nothing is left out."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, Any):
            flat += part.parts
        elif part is not None:
            flat.append(part)
    return Any(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def all_of(parts: Iterable[Node | None]) -> Node | None:
    """Every part, in the same way."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, All):
            flat += part.parts
        elif part is not None:
            flat.append(part)
    return All(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def excluding(keep: Node | None, drops: Sequence[Node]) -> Node | None:
    """`keep`, but for what satisfies one of the drops."""
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
    """The text as one leaf; None where the analyzer sees no word in it."""
    if not analyzer.tokens(text, prefix=prefix):
        return None
    return Leaf(text, prefix=prefix, fields=fields, boost=boost)


def bare_words(analyzer: Analyzer, text: str, note: str | None = None) -> ParsedQuery:
    """The text as bare words, any of which will do. The note tells why, if it was not meant so."""
    terms, cut = first_leaves(analyzer.terms(text))
    return ParsedQuery(
        any_of(map(Term, terms)), note=join_notes(note, cut), malformed=note is not None
    )


def first_leaves(parts: list[_T]) -> tuple[list[_T], str | None]:
    """As many as a tree may have, and what to say if there were more."""
    if len(parts) <= LEAVES:
        return parts, None
    return parts[:LEAVES], f"only the first {LEAVES:,} of {len(parts):,} words are looked for"


def join_notes(*each: str | None) -> str | None:
    """All that there is to say, or None."""
    return "; ".join(one for one in each if one) or None
