"""The classes in which the file of a kind declares its rule, and rules that several kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .numbers import Column, Data, either, mapped, snap
from .verification import Verification

Comparison = tuple[str, object, object]
"""(name of what is compared, value in the receipt, expected value)."""


# -- lanes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClaimedLeaf:
    """A leaf of a lane's evidence for one row, as the receipt claims it."""

    receipt: Verification
    lane: Data
    """The lane's part of the recipe."""
    label: str
    """The lane's name in the recipe."""
    at: int
    """The place of the row in the slate."""
    root: Data
    above: Data
    """The parent node; the root is its own parent."""
    node: Data

    @property
    def facts(self) -> Data:
        """The inputs that are recorded with the value."""
        return self.node.get("facts", {})


def any_shape(above: Data, node: Data) -> bool:
    """Any tree is allowed."""
    del above, node
    return True


def no_parts(above: Data, node: Data) -> bool:
    """The score is a single leaf, so no inner node is allowed."""
    del above, node
    return False


def one_sum(above: Data, node: Data) -> bool:
    """The score is one sum of leaves."""
    return node is above and node["op"] == "sum"


def recipe_ties(lane: Data, ties: Sequence[str]) -> Sequence[str]:
    """Ties are broken as the recipe says."""
    del lane
    return ties


def may_be_idle(s: Verification, label: str) -> bool:
    """Something outside the receipt may prevent the lane from running."""
    del s, label
    return False


def no_words(leaf: ClaimedLeaf) -> Sequence[str]:
    """The leaf is not about words of the question."""
    del leaf
    return ()


@dataclass(frozen=True)
class LaneRule:
    """What can be checked of a kind of lane."""

    leaf: Callable[[ClaimedLeaf], list[Comparison]] | None = None
    """The comparisons for a leaf of its evidence; None: leaves are attested."""
    shape: Callable[[Data, Data], bool] = any_shape
    """(parent, inner node) → whether its evidence may contain such a node."""
    asked: Callable[[ClaimedLeaf], Sequence[str]] = no_words
    """The words of the question that a leaf says it matched."""
    scores: Callable[[Verification, str], None] | None = None
    """Checks the scores of all candidates, not only of the hits."""
    ties: Callable[[Data, Sequence[str]], Sequence[str]] = recipe_ties
    """(lane, tie attributes of the recipe) → the attributes that break its ties."""
    must_run: Callable[[Verification, str], bool] = may_be_idle
    """Whether the lane always runs if it is enabled."""
    brings: bool = False
    """Whether it adds rows without scoring them."""
    independent: bool = False
    """Whether the score of a record does not depend on other records."""
    owes: bool = False
    """Whether what it reads of a record may be computed later."""


def same_at_every_hit(leaf: ClaimedLeaf, *facts: tuple[str, object]) -> list[Comparison]:
    """Comparisons of facts that must be equal in the evidence of all hits (N, df, mean length)."""
    out: list[Comparison] = []
    for name, value in facts:
        first = leaf.receipt.common.setdefault(f"{leaf.label}/{name}", value)
        out.append((f"{name} of other hits", value, first))
    return out


def idf(records: int, df: int, form: str) -> float:
    """The inverse document frequency of a word that `df` of the records contain."""
    odds = (records - df + 0.5) / (df + 0.5)
    if form == "positive":
        return snap(math.log(1.0 + odds))
    return snap(math.log(odds) if odds > 1.0 else 1e-6)


def path_checks(leaf: ClaimedLeaf, facts: Data) -> list[Comparison]:
    """Comparisons for a path: it ends at the hit, and its length is the distance."""
    path = facts["path"]
    return [
        ("distance", facts["distance"], len(path) - 1),
        ("path", path[-1].get("id"), leaf.receipt.ids[leaf.at]),
    ]


# -- boosts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoostColumn:
    """A boost whose values are to be computed, and the name of their column."""

    receipt: Verification
    label: str
    name: str
    spec: Data

    @property
    def lane_scores(self) -> list[float]:
        """The raw scores of the lane that the boost depends on; 0 for rows it did not find."""
        none: Column = [None] * len(self.receipt.rows)
        scores = self.receipt.derived.get(f"{self.spec['lane']}.score", none)
        return [either(value, 0.0) for value in scores]


def adds(spec: Data) -> str:
    """The value is added to the score."""
    del spec
    return "sum"


def multiplies(spec: Data) -> str:
    """The score is multiplied by the value."""
    del spec
    return "product"


def adds_or_multiplies(spec: Data) -> str:
    """Weight · share is added to the score; with `alpha` the score is multiplied."""
    return "sum" if spec["alpha"] is None else "product"


def share_values(spec: Data, shares: Column) -> Column:
    """The values of a boost from shares between 0 and 1.

    With `alpha` they are factors around 1, and a row without a share counts as ½, which is 1.
    """
    if spec["alpha"] is None:
        return mapped(lambda share: snap(spec["weight"] * share), shares)
    return [snap(1.0 + spec["alpha"] * (either(share, 0.5) - 0.5)) for share in shares]


def never_idle(s: Verification, spec: Data) -> bool:
    """An enabled boost always runs."""
    del s, spec
    return False


def by_the_question(s: Verification, spec: Data) -> bool:
    """Whether it runs depends on the words of the query, which the verifier does not parse."""
    del s, spec
    return True


@dataclass(frozen=True)
class BoostRule:
    """What can be checked of a kind of boost."""

    op: Callable[[Data], str] = adds
    """The operation that combines its value with the score."""
    values: Callable[[BoostColumn], Column | None] | None = None
    """Computes its values; None, or a result of None: they are attested."""
    reads_score: bool = False
    """Whether its values depend on the score so far, so that it needs a step of its own."""
    may_skip: Callable[[Verification, Data], bool] = never_idle
    """Whether it may be skipped although it is enabled."""


# -- orderings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderingRule:
    """What can be checked of a kind of ordering."""

    kept: Callable[[Verification, Data, Data, str], list[int]]
    """(verification, ordering of the recipe, move, path of the move) → places kept, in order."""
