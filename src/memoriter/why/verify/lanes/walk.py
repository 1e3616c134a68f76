"""A walk over links: distance, the best link of the path, further seeds."""

from __future__ import annotations

from ..numbers import Column, snap, total_of
from ..rules import ClaimedLeaf, Comparison, LaneRule, led, one_sum
from ..search import Search


def _walked(leaf: ClaimedLeaf) -> list[Comparison]:
    """By the distance, the most valuable link of the path, and how many seeds lead there."""
    facts, lane, name = leaf.root["facts"], leaf.lane, leaf.node["label"]
    depth = facts["distance"]
    near = max(float(depth), 1.0)
    if name == "graph":
        value = snap(1.0 / near) if depth else 0.0
    elif name == "relation":
        worths = (lane["boosts"].get(hop["kind"], 0.0) for hop in facts["path"][1:])
        value = snap(max(worths, default=0.0) / near)
    else:
        further = min(facts["seed_paths"] - 1.0, lane["support_most"])
        value = snap(further * lane["support"])
    column = leaf.s.columns[f"{leaf.label}.{name}"][leaf.at]
    return [*led(leaf, facts), ("value", leaf.node["value"], value), (name, column, value)]


def _sums(s: Search, label: str) -> None:
    """The score is the sum of its parts."""
    parts = [s.columns[f"{label}.{part}"] for part in ("graph", "relation", "seed_support")]
    sums: Column = [
        None if None in some else total_of(v for v in some if v is not None)
        for some in zip(*parts, strict=True)
    ]
    s.derived(f"{label}.score", sums)


RULE = LaneRule(leaf=_walked, shape=one_sum, scores=_sums)
