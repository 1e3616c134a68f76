"""Vector: cosines, from the vectors of the hits and of the query."""

from __future__ import annotations

from typing import Final

from ..numbers import Data, decoded_vector, dot_of, snap
from ..rules import ClaimedLeaf, Comparison, LaneRule
from ..verification import Verification

_DIGITS: Final = 5
"""A number of a vector is a little more than five digits in base64."""


def _cosine(leaf: ClaimedLeaf) -> list[Comparison]:
    """Comparisons for the cosine of the best part, or for its weight (`fresh` or `stale`)."""
    if leaf.node["label"] != "cosine":
        known = (leaf.lane["fresh"], leaf.lane["stale"])
        weighs = leaf.above is not leaf.node and leaf.node["value"] in known
        return [("value", weighs, True)]
    body, row = leaf.receipt.body, str(leaf.receipt.rows[leaf.at])
    leaf.receipt.spend(len(body["vectors"]["best"]) + 1)
    spaces = {name: rows[row] for name, rows in body["vectors"]["best"].items() if row in rows}
    space = leaf.above["label"] if leaf.root["op"] == "max" else next(iter(spaces), "")
    query = body["outcomes"].get("vectors", {}).get(space) or body["outcomes"]["vector"]
    leaf.receipt.spend((len(spaces[space]) + len(query)) // _DIGITS)
    cosine = snap(dot_of(decoded_vector(spaces[space]), decoded_vector(query)))
    distance = leaf.facts.get("distance", 1.0 - cosine)
    return [
        ("value", leaf.node["value"], cosine),
        ("distance", distance, 1.0 - cosine),
        ("min_cosine", cosine, max(cosine, snap(leaf.lane["min_cosine"]))),
    ]


def _weighed(above: Data, node: Data) -> bool:
    """A product of cosine and weight; with several spaces, the maximum of such products."""
    if node["op"] == "max":
        return node is above and all(part["op"] == "product" for part in node["parts"])
    labels = [part["label"] for part in node["parts"] if part["op"] == "leaf"]
    return node["op"] == "product" and labels == ["cosine", "freshness"]


def _near_enough(s: Verification, label: str) -> None:
    """Check that no score is below the lane's min_cosine times its smaller weight."""
    lane = s.recipe["lanes"][label]
    least = min(snap(lane[weight] * lane["min_cosine"]) for weight in ("fresh", "stale"))
    if any(value is not None and value < least for value in s.claimed[f"{label}.score"]):
        s.wrong(f"slate/columns/{label}.score", f"has a score below {least!r}")


RULE = LaneRule(leaf=_cosine, shape=_weighed, scores=_near_enough, independent=True, owes=True)
