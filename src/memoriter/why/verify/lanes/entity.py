"""Shared entities: the score is tanh(½ · count)."""

from __future__ import annotations

import math

from ..numbers import snap
from ..rules import ClaimedLeaf, Comparison, LaneRule, no_parts


def _shared(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for a score; the evidence lists the entities, so they can be counted."""
    count = len(leaf.facts["entities"])
    value = snap(math.tanh(0.5 * count))
    return [("shared", leaf.facts["shared"], count), ("value", leaf.node["value"], value)]


RULE = LaneRule(leaf=_shared, shape=no_parts)
