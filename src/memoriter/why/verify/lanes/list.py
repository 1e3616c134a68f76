"""A list that the caller passes; the query holds its scores."""

from __future__ import annotations

from ..numbers import Column
from ..rules import ClaimedLeaf, Comparison, LaneRule, no_parts
from ..verification import Verification


def _leaf(leaf: ClaimedLeaf) -> list[Comparison]:
    """The value of a hit is its score in the list."""
    return [("value", leaf.node["value"], leaf.receipt.derived[f"{leaf.label}.score"][leaf.at])]


def _listed(s: Verification, label: str) -> None:
    """Check the scores against the query; of an id that occurs twice, the best counts."""
    best: dict[str, float] = {}
    for one, score in s.body["query"].get("lists", {}).get(label, ()):
        best[one] = max(score, best.get(one, score))
    column = s.claimed[f"{label}.score"]
    scores: Column = [
        None if column[at] is None else float(best[one]) for at, one in enumerate(s.ids)
    ]
    s.derive(f"{label}.score", scores)


def _is_passed(s: Verification, label: str) -> bool:
    """A list that the call passes is always used."""
    return label in s.body["query"].get("lists", {})


RULE = LaneRule(leaf=_leaf, shape=no_parts, scores=_listed, must_run=_is_passed)
