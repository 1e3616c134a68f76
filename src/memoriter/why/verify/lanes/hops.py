"""Few links away: minus the distance."""

from __future__ import annotations

from ..rules import ClaimedLeaf, Comparison, LaneRule, led, no_parts


def _reached(leaf: ClaimedLeaf) -> list[Comparison]:
    """Each link costs 1."""
    facts = leaf.facts
    cost = float(len(facts["path"]) - 1)
    return [
        *led(leaf, facts),
        ("cost", facts["cost"], cost),
        ("value", leaf.node["value"], 0.0 - cost),
    ]


RULE = LaneRule(leaf=_reached, shape=no_parts)
