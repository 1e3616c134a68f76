"""BM25: the contribution of each word from its counts, or the similarity of a misspelt word."""

from __future__ import annotations

import math
import re

from ..numbers import Data, snap
from ..rules import ClaimedLeaf, Comparison, LaneRule, idf, same_at_every_hit


def _word(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for the contribution of a word, per field or over all fields."""
    facts, lane = leaf.facts, leaf.lane
    leaf.receipt.spend(len(lane["fields"]) + 1)
    if "similarity" in facts:
        return _similar(leaf)
    field, rarity = facts.get("field", ""), 0.0
    out = same_at_every_hit(
        leaf,
        ("records", facts["records"]),
        (f"mean/{field}", facts["mean"]),
        (f"df/{facts['term']}", facts["df"]),
    )
    if lane["score"] != "tf":
        rarity = idf(facts["records"], facts["df"], lane["idf"])
        out.append(("idf", facts["idf"], rarity))
    weights = _open_fields(lane, facts)
    weight = facts.get("boost", 1.0)
    if "field" in facts:
        out.append(("weight", facts["weight"], weights.get(facts["field"])))
        weight *= facts["weight"]
    else:
        whole = math.fsum(snap(weights.get(name, 0.0) * n) for name, n in facts["fields"].items())
        out.append(("tf", facts["tf"], whole))
    out.append(("mean", facts["mean"], max(facts["mean"], lane["least_mean"])))
    # A word that the query repeats counts as often; the product with an integer stays on the grid.
    value = facts.get("times", 1) * snap(_measured(lane, facts, weight, rarity))
    return [*out, ("value", leaf.node["value"], value)]


def _open_fields(lane: Data, facts: Data) -> dict[str, float]:
    """The fields that count for a word, with their weights.

    In a large store a field may be closed to words that are too frequent there (`gate`).
    """
    weights: dict[str, float] = {name: w for name, w in lane["fields"].items() if w}
    gate, records = lane["gate"], facts["records"]
    if not gate or records < lane["gate_from"]:
        return weights
    return {n: w for n, w in weights.items() if facts["df"] <= gate.get(n, 1.0) * records}


def _measured(lane: Data, facts: Data, weight: float, rarity: float) -> float:
    """The score of a word by the lane's formula: BM25, tf · idf, or tf."""
    tf, k1, b = float(facts["tf"]), lane["k1"], lane["b"]
    if lane["score"] == "tf":
        return weight * tf
    if lane["score"] == "tf_idf":
        return weight * rarity * tf
    norm = k1 * (1.0 - b + b * (facts["length"] / facts["mean"]))
    return weight * rarity * (tf * (k1 + 1.0) / (tf + norm))


def _similar(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for a fuzzy match: the Jaccard similarity of the trigrams of two words."""
    one, two = _trigrams(leaf.facts["typed"]), _trigrams(leaf.facts["word"])
    both = len(one & two)
    alike = snap(both / (len(one) + len(two) - both)) if both else 0.0
    return [
        ("score", leaf.root["value"], alike),
        ("fuzzy", alike, max(alike, snap(leaf.lane["fuzzy"]))),
        ("similarity", leaf.facts["similarity"], alike),
        ("value", leaf.node["value"], alike),
    ]


def _trigrams(text: str) -> frozenset[str]:
    padded = [f"${word}$" for word in re.findall(r"[^\W_]+", text.lower())]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))


def _sums_or_best(above: Data, node: Data) -> bool:
    """Sums, and the best of alternatives."""
    del above
    return node["op"] in {"sum", "max"}


def _asked(leaf: ClaimedLeaf) -> list[str]:
    """The word or phrase as it was asked; of a misspelt one, as it was typed."""
    return [leaf.facts["typed"] if "similarity" in leaf.facts else leaf.facts["term"]]


RULE = LaneRule(leaf=_word, shape=_sums_or_best, asked=_asked, independent=True)
