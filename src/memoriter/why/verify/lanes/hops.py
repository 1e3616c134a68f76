"""Hops: the score is minus the number of links."""

from __future__ import annotations

from ..rules import ClaimedLeaf, Comparison, LaneRule, no_parts, path_checks


def _reached(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for a path; each link costs 1."""
    facts = leaf.facts
    cost = float(len(facts["path"]) - 1)
    return [
        *path_checks(leaf, facts),
        ("cost", facts["cost"], cost),
        ("value", leaf.node["value"], 0.0 - cost),
    ]


RULE = LaneRule(leaf=_reached, shape=no_parts)
