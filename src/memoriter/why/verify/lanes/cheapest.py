"""Cheapest path: the score is minus its cost."""

from __future__ import annotations

import math

from ..numbers import snap
from ..rules import ClaimedLeaf, Comparison, LaneRule, no_parts, path_checks


def _reached(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for a path; each link costs its weight, or 1."""
    facts = leaf.facts
    hops = facts["path"][1:]
    by_weight = leaf.lane["cost"] == "weight"
    cost = math.fsum(snap(hop["weight"]) for hop in hops) if by_weight else float(len(hops))
    return [
        *path_checks(leaf, facts),
        ("cost", facts["cost"], cost),
        ("value", leaf.node["value"], 0.0 - cost),
    ]


RULE = LaneRule(leaf=_reached, shape=no_parts)
