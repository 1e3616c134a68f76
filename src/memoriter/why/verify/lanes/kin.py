"""Kin: the weight of a query word times its cosine to the nearest word of the record."""

from __future__ import annotations

from typing import Final

from ..numbers import snap
from ..rules import ClaimedLeaf, Comparison, LaneRule, idf, one_sum, same_at_every_hit

_MOST: Final = 1.0 + 2.0**-10
"""Upper bound of a cosine, with room for rounding."""


def _met(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for a pair of words: the query word's weight, the cosine, their product."""
    facts = leaf.facts
    leaf.receipt.spend(len(leaf.above["parts"]))
    rarity = idf(facts["records"], facts["df"], "positive")
    whole = leaf.root["facts"]["total"]
    weight = facts["norm"] * rarity / whole if whole else 0.0
    word = facts["asked"]
    least = snap(leaf.lane["min_cosine"])
    return [
        *same_at_every_hit(
            leaf,
            ("records", facts["records"]),
            ("total", whole),
            (f"df/{word}", facts["df"]),
            (f"norm/{word}", facts["norm"]),
        ),
        # Each word of the query may match only once.
        ("asked", [p["facts"]["asked"] for p in leaf.above["parts"]].count(word), 1),
        ("cosine", facts["cosine"], min(max(facts["cosine"], least), _MOST)),
        ("idf", facts["idf"], rarity),
        ("weight", facts["weight"], weight),
        ("value", leaf.node["value"], snap(weight * facts["cosine"])),
    ]


def _asked(leaf: ClaimedLeaf) -> list[str]:
    """A word of the question, or a piece of one."""
    return ["##" + leaf.facts["asked"].removeprefix("##")]


RULE = LaneRule(leaf=_met, shape=one_sum, asked=_asked, independent=True)
