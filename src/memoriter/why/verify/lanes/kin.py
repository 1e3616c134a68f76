"""Similar words: the weight of a query word times how near the word is that it met."""

from __future__ import annotations

from typing import Final

from ..numbers import snap
from ..rules import ClaimedLeaf, Comparison, LaneRule, agrees, idf, one_sum

_MOST: Final = 1.0 + 2.0**-10
"""No cosine is more, however the lengths of two vectors are rounded."""


def _met(leaf: ClaimedLeaf) -> list[Comparison]:
    """A word met another: its weight among the words of the query, times their cosine."""
    facts = leaf.facts
    rarity = idf(facts["records"], facts["df"], "positive")
    whole = leaf.root["facts"]["said"]
    weight = facts["norm"] * rarity / whole if whole else 0.0
    word = facts["asked"]
    least = snap(leaf.lane["min_cosine"])
    return [
        *agrees(
            leaf,
            ("records", facts["records"]),
            ("said", whole),
            (f"df/{word}", facts["df"]),
            (f"norm/{word}", facts["norm"]),
        ),
        ("asked", [p["facts"]["asked"] for p in leaf.above["parts"]].count(word), 1),
        ("cosine", facts["cosine"], min(max(facts["cosine"], least), _MOST)),
        ("idf", facts["idf"], rarity),
        ("weight", facts["weight"], weight),
        ("value", leaf.node["value"], snap(weight * facts["cosine"])),
    ]


RULE = LaneRule(leaf=_met, shape=one_sum)
