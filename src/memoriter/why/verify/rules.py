"""What the file of a kind declares, and the small rules that several kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .numbers import Column, Data, either, mapped, snap
from .search import Search

Comparison = tuple[str, object, object]
"""What is compared, its value in the receipt, and the value that follows."""


# -- lanes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClaimedLeaf:
    """A leaf of a lane's evidence, and where it hangs."""

    s: Search
    lane: Data
    label: str
    at: int
    root: Data
    above: Data
    node: Data

    @property
    def facts(self) -> Data:
        """What stands beside its value."""
        return self.node.get("facts", {})


def any_shape(above: Data, node: Data) -> bool:
    """Nothing is known of how the tree is built."""
    del above, node
    return True


def no_parts(above: Data, node: Data) -> bool:
    """The score is one leaf."""
    del above, node
    return False


def one_sum(above: Data, node: Data) -> bool:
    """The score is one sum of leaves."""
    return node is above and node["op"] == "sum"


def recipe_ties(lane: Data, ties: Sequence[str]) -> Sequence[str]:
    """Equals stand as the recipe says."""
    del lane
    return ties


def may_be_idle(s: Search, label: str) -> bool:
    """Something outside the receipt may keep it from running."""
    del s, label
    return False


@dataclass(frozen=True)
class LaneRule:
    """What can be derived of a kind of lane."""

    leaf: Callable[[ClaimedLeaf], list[Comparison]] | None = None
    """What a leaf of its evidence follows from; None: leaves are attested."""
    shape: Callable[[Data, Data], bool] = any_shape
    """Whether a node (under the node it hangs on) may stand in its evidence."""
    scores: Callable[[Search, str], None] | None = None
    """Checks the scores of all rows, also of those that are no hits."""
    ties: Callable[[Data, Sequence[str]], Sequence[str]] = recipe_ties
    """How it puts equals in order, given the attributes that the recipe names."""
    must_run: Callable[[Search, str], bool] = may_be_idle
    """Whether nothing can keep it from running."""
    brings: bool = False
    """Whether it brings rows without scoring them."""


def agrees(leaf: ClaimedLeaf, *facts: tuple[str, object]) -> list[Comparison]:
    """What counts for a whole lane, or for one of its words, is the same at every hit."""
    out: list[Comparison] = []
    for name, value in facts:
        first = leaf.s.common.setdefault(f"{leaf.label}/{name}", value)
        out.append((f"{name} of other hits", value, first))
    return out


def idf(records: int, df: int, form: str) -> float:
    """How rare a word is that stands in `df` of the records."""
    odds = (records - df + 0.5) / (df + 0.5)
    if form == "positive":
        return snap(math.log(1.0 + odds))
    return snap(math.log(odds) if odds > 1.0 else 1e-6)


def led(leaf: ClaimedLeaf, facts: Data) -> list[Comparison]:
    """A path leads to the hit, and is as long as its distance."""
    path = facts["path"]
    return [
        ("distance", facts["distance"], len(path) - 1),
        ("path", path[-1].get("id"), leaf.s.ids[leaf.at]),
    ]


# -- boosts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoostColumn:
    """A boost whose values are wanted, and the column that they stand in."""

    s: Search
    label: str
    name: str
    spec: Data

    @property
    def lane_scores(self) -> list[float]:
        """The raw scores of the lane that the boost goes by; 0 for what it did not find."""
        none: Column = [None] * len(self.s.rows)
        scores = self.s.known.get(f"{self.spec['lane']}.score", none)
        return [either(value, 0.0) for value in scores]


def adds(spec: Data) -> str:
    """The value is added to the score."""
    del spec
    return "sum"


def multiplies(spec: Data) -> str:
    """The score is multiplied by the value."""
    del spec
    return "product"


def leans(spec: Data) -> str:
    """Weight · share is added; with `alpha` the score is multiplied."""
    return "sum" if spec["alpha"] is None else "product"


def leaning(spec: Data, shares: Column) -> Column:
    """What shares between 0 and 1 are worth to a boost that adds or leans."""
    if spec["alpha"] is None:
        return mapped(lambda share: snap(spec["weight"] * share), shares)
    return [snap(1.0 + spec["alpha"] * (either(share, 0.5) - 0.5)) for share in shares]


def never_idle(s: Search, spec: Data) -> bool:
    """A boost that is on always has something to go by."""
    del s, spec
    return False


def by_the_question(s: Search, spec: Data) -> bool:
    """Whether it has something to do depends on the words of the question, which are not read."""
    del s, spec
    return True


@dataclass(frozen=True)
class BoostRule:
    """What can be derived of a kind of boost."""

    op: Callable[[Data], str] = adds
    """How it changes a score."""
    values: Callable[[BoostColumn], Column | None] | None = None
    """Its values, where what they follow from is in the receipt; None: they are attested."""
    reads_score: bool = False
    """Whether its values follow from the score so far."""
    may_skip: Callable[[Search, Data], bool] = never_idle
    """Whether it may have nothing to go by although it is on."""


# -- orderings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderingRule:
    """What can be derived of a kind of ordering."""

    kept: Callable[[Search, Data, Data, str], list[int]]
    """(search, spec, move, path of the move) → the places that it keeps, in order."""
