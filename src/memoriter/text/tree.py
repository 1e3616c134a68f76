"""The query tree: every dialect parses to it, and the `bm25` lane evaluates it. Pure data.

A row satisfies `And` if it satisfies every part, `Or` if it satisfies one, `Without` if it
satisfies `keep` and not `drop`. The score of a row comes from the leaves that it satisfies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from memoriter.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the index: it has been analysed already."""

    term: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase as written; its tokens must be adjacent in a row."""

    text: str
    prefix: bool = False
    """Whether its last word is a prefix."""
    fields: tuple[str, ...] = ()
    """The fields to search; empty means all fields of the lane."""
    boost: float = 1.0
    tokens: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)
    """Its tokens, (term, position), if the dialect has analysed it; else the lane does."""


@dataclass(frozen=True, slots=True)
class NearLeaves:
    """Leaves with at most `distance` other words between the first and the last, in any order.

    If `chained`, each next leaf lies at most `distance` positions from a place of those before it;
    the earlier of the two positions is then their place.
    """

    leaves: tuple[Leaf, ...]
    distance: int = 10
    chained: bool = False


@dataclass(frozen=True, slots=True)
class And:
    """Every part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """`keep` except what satisfies `drop`."""

    keep: Node
    drop: Node


Node: TypeAlias = Term | Leaf | NearLeaves | And | Or | Without


@dataclass(frozen=True, slots=True)
class ReadingStep:
    """A step of reading a query, for plans."""

    name: str
    shows: Mapping[str, object]
    skipped: str | None = None
    """Why there was nothing to do."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a dialect made of a query."""

    tree: Node | None
    """None if the query has no words."""
    expert: bool = False
    """Whether it was parsed as an expression rather than as bare words."""
    note: str | None = None
    """How the parse differs from what was written, for people; None if it does not."""
    malformed: bool = False
    """Whether it looked like an expression but did not parse: its words were taken instead."""
    steps: tuple[ReadingStep, ...] = field(default=(), compare=False)
    """What the dialect did one after the other, if plans should show it."""


def excludes(node: Node | None) -> bool:
    """Whether a tree contains an exclusion."""
    match node:
        case Without():
            return True
        case And() | Or():
            return any(map(excludes, node.parts))
        case _:
            return False


def tree_text(node: Node | None) -> str:
    """The tree in one notation for all dialects, for people and receipts.

    `NEAR/2(a b)` is chained, `NEAR(a b, 2)` is not.

    >>> tree_text(Without(Or((Term("ssh"), Leaf("open port"))), Leaf("po", prefix=True)))
    '(ssh OR "open port") NOT po*'
    """
    match node:
        case None:
            text = ""
        case Term():
            text = node.term
        case Leaf():
            text = _leaf_text(node)
        case NearLeaves():
            inside = " ".join(map(_leaf_text, node.leaves))
            far = node.distance
            text = f"NEAR/{far}({inside})" if node.chained else f"NEAR({inside}, {far})"
        case And():
            text = " AND ".join(map(_operand, node.parts))
        case Or():
            text = " OR ".join(map(_operand, node.parts))
        case Without():
            text = f"{_operand(node.keep)} NOT {_operand(node.drop)}"
    return text


def _operand(node: Node) -> str:
    text = tree_text(node)
    return text if isinstance(node, Term | Leaf | NearLeaves) else f"({text})"


def _leaf_text(leaf: Leaf) -> str:
    text = leaf.text if leaf.text.isalnum() else f'"{leaf.text}"'
    text += "*" if leaf.prefix else ""
    text += f"^{leaf.boost:g}" if leaf.boost != 1.0 else ""
    return f"{','.join(leaf.fields)}:{text}" if leaf.fields else text
