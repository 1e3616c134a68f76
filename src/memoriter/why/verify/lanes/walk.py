"""Walk over links: a sum of nearness, the best link of the path, and further seeds."""

from __future__ import annotations

from ..numbers import Column, snap, total_of
from ..rules import ClaimedLeaf, Comparison, LaneRule, one_sum, path_checks
from ..verification import Verification


def _walked(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for one part: `graph` (nearness), `relation` (best link) or `seed_support`."""
    facts, lane, name = leaf.root["facts"], leaf.lane, leaf.node["label"]
    leaf.receipt.spend(len(facts["path"]))
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
    column = leaf.receipt.claimed[f"{leaf.label}.{name}"][leaf.at]
    return [*path_checks(leaf, facts), ("value", leaf.node["value"], value), (name, column, value)]


def _sums(s: Verification, label: str) -> None:
    """Check that the score of every row is the sum of its three parts."""
    parts = [s.claimed[f"{label}.{part}"] for part in ("graph", "relation", "seed_support")]
    sums: Column = [
        None if None in some else total_of(v for v in some if v is not None)
        for some in zip(*parts, strict=True)
    ]
    s.derive(f"{label}.score", sums)


RULE = LaneRule(leaf=_walked, shape=one_sum, scores=_sums)
