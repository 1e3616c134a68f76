"""A plain reading of query trees: which rows satisfy one, and its leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from memoriter.core.words import RecordWords
from memoriter.text.tree import (
    And,
    Leaf,
    NearLeaves,
    Node,
    Or,
    Term,
    Without,
)


class Plain:
    """Lower-cased runs of letters, digits, `_` and `-`: no stems, nothing stacked."""

    name = about = fingerprint = "plain"
    fields = ("text", "essence")

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        raise NotImplementedError

    def terms(self, text: str) -> list[str]:
        return list(dict.fromkeys(self.split(text)))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        return [(word, at) for at, word in enumerate(self.split(text))]

    def split(self, text: str) -> list[str]:
        return re.findall(r"[\w-]+", text.lower())


PLAIN = Plain()


Row = Mapping[str, str]


def satisfies(node: Node | None, row: Row) -> bool:
    """Whether a row of fields is what the tree asks for, by its definition."""
    match node:
        case None:
            return False
        case Term(term):
            return any(term in PLAIN.split(text) for text in row.values())
        case Leaf():
            return any(starts(node, row, field) for field in node.fields or row)
        case NearLeaves(leaves, distance):
            return any(stand_near(leaves, distance, row, field) for field in row)
        case And(parts):
            return all(satisfies(part, row) for part in parts)
        case Or(parts):
            return any(satisfies(part, row) for part in parts)
        case Without(keep, drop):
            return satisfies(keep, row) and not satisfies(drop, row)


def starts(leaf: Leaf, row: Row, field: str) -> list[tuple[int, int]]:
    """Where the leaf stands in a field: (start, end) of each occurrence."""
    if leaf.fields and field not in leaf.fields:
        return []
    words, wanted = PLAIN.split(row[field]), PLAIN.split(leaf.text)
    last = len(wanted) - 1

    def fits(at: int) -> bool:
        return all(
            word == want or (leaf.prefix and nth == last and word.startswith(want))
            for nth, (word, want) in enumerate(zip(words[at:], wanted, strict=False))
        )

    return [(at, at + last + 1) for at in range(len(words) - last) if fits(at)]


def stand_near(leaves: Iterable[Leaf], distance: int, row: Row, field: str) -> bool:
    for places in product(*(starts(leaf, row, field) for leaf in leaves)):
        latest = max(start for start, _ in places)
        if all(latest - end <= distance for _, end in places):
            return True
    return False


def leaves(node: Node | None) -> list[str]:
    match node:
        case None:
            return []
        case Term(term):
            return [term]
        case Leaf(text):
            return [text]
        case NearLeaves(inside, _):
            return [leaf.text for leaf in inside]
        case And(parts) | Or(parts):
            return [text for part in parts for text in leaves(part)]
        case Without(keep, drop):
            return leaves(keep) + leaves(drop)
