"""What a query asks for: one tree of words, whatever dialect it was written in. Pure data.

A row satisfies `All` if it satisfies every part, `Any` if it satisfies one, `Without` if it
satisfies `keep` and not `drop`. What scores are the leaves that a row satisfies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the index, as it is: the analyzer has been asked already."""

    term: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase as written; what the analyzer makes of it must stand side by side."""

    text: str
    prefix: bool = False
    """Whether its last word may go on."""
    fields: tuple[str, ...] = ()
    """The only fields to look in; none means all that the lane searches."""
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class NearLeaves:
    """Leaves with at most `distance` other words between the first and the last, in any order."""

    leaves: tuple[Leaf, ...]
    distance: int = 10


@dataclass(frozen=True, slots=True)
class All:
    """Every part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """At least one part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """`keep`, but for what satisfies `drop`."""

    keep: Node
    drop: Node


Node: TypeAlias = Term | Leaf | NearLeaves | All | Any | Without


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as its dialect read it."""

    tree: Node | None
    """None: there is nothing to look for."""
    expert: bool = False
    """Whether it was read as an expression rather than as bare words."""
    note: str | None = None
    """Why it was read otherwise than written; None when it was not."""
    malformed: bool = False
    """Whether an expression could not be read as one, and its words were taken instead."""


def excludes(node: Node | None) -> bool:
    """Whether a tree takes something away."""
    match node:
        case Without():
            return True
        case All() | Any():
            return any(map(excludes, node.parts))
        case _:
            return False


def tree_text(node: Node | None) -> str:
    """The tree in one spelling, whatever dialect it came from; for people.

    >>> tree_text(Without(Any((Term("ssh"), Leaf("open port"))), Leaf("po", prefix=True)))
    '(ssh OR "open port") NOT po*'
    """
    match node:
        case None:
            told = ""
        case Term():
            told = node.term
        case Leaf():
            told = _spelled_leaf(node)
        case NearLeaves():
            told = f"NEAR/{node.distance}({' '.join(map(_spelled_leaf, node.leaves))})"
        case All():
            told = " AND ".join(map(_inner, node.parts))
        case Any():
            told = " OR ".join(map(_inner, node.parts))
        case Without():
            told = f"{_inner(node.keep)} NOT {_inner(node.drop)}"
    return told


def _inner(node: Node) -> str:
    told = tree_text(node)
    return told if isinstance(node, Term | Leaf | NearLeaves) else f"({told})"


def _spelled_leaf(leaf: Leaf) -> str:
    told = leaf.text if leaf.text.isalnum() else f'"{leaf.text}"'
    told += "*" if leaf.prefix else ""
    told += f"^{leaf.boost:g}" if leaf.boost != 1.0 else ""
    return f"{','.join(leaf.fields)}:{told}" if leaf.fields else told
