"""Evidence: how lanes came by the scores of the hits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from .lanes import lanes_run
from .numbers import OPS, Data, dot_of, snap, vector_of
from .search import Search

Found = tuple[str, object, object]
"""What is compared, as it is told, and as it follows."""


@dataclass(frozen=True)
class _Leaf:
    """A leaf of a lane's tree, and where it hangs."""

    s: Search
    lane: Data
    label: str
    at: int
    root: Data
    above: Data
    node: Data

    @property
    def facts(self) -> Data:
        """What is told beside it."""
        return self.node.get("facts", {})


def check_evidence(s: Search) -> None:
    """Each lane that found a hit says how, and its tree is right down to the leaves it can show."""
    for n, at in enumerate(s.standing):
        told = s.body["evidence"][n]
        wanted = [label for label in lanes_run(s) if s.told[f"{label}.score"][at] is not None]
        if not set(wanted) <= set(told):
            s.wrong(f"evidence/{n}", "a lane says nothing")
        for label in sorted(set(told) - set(wanted)):
            s.attested[f"evidence/{n}/{label}"] = None
        for label in [label for label in wanted if label in told]:
            _tree(s, label, at, (f"evidence/{n}/{label}", told[label]))
    s.same("evidence", len(s.body["evidence"]), len(s.standing))


def _tree(s: Search, label: str, at: int, told: tuple[str, Data]) -> None:
    path, root = told
    lane = s.recipe["lanes"][label]
    s.same(path, root["value"], s.known[f"{label}.score"][at])
    for above, node in _nodes(root, root):
        parts: list[Data] = node.get("parts", [])
        if node["op"] != "leaf":
            values = [part["value"] for part in parts]
            whole = OPS[node["op"]](values) if values else 0.0
            s.same(path, node["value"], whole)
            if not SHAPES.get(lane["kind"], _any_shape)(above, node):
                s.wrong(f"{path}/{node['label']}", f"a {lane['kind']} score is not made like this")
            continue
        make = LEAVES.get(lane["kind"])
        found = None if make is None else make(_Leaf(s, lane, label, at, root, above, node))
        if found is None:
            s.attested[f"{path}/{node['label']}"] = None
        for what, is_, follows in found or ():
            s.checked[path] = None
            if is_ != follows:
                name = f"{path}/{node['label']}/{what}"
                s.wrong(name, f"is {is_!r}, and follows as {follows!r}")


def _nodes(above: Data, node: Data) -> Iterable[tuple[Data, Data]]:
    """Every node of a tree, and the one it hangs on."""
    yield above, node
    for part in node.get("parts", []):
        yield from _nodes(node, part)


def _agrees(leaf: _Leaf, *told: tuple[str, object]) -> list[Found]:
    """What counts for a whole lane, or for one of its words, is the same at every hit."""
    out: list[Found] = []
    for name, value in told:
        first = leaf.s.common.setdefault(f"{leaf.label}/{name}", value)
        out.append((f"{name} of other hits", value, first))
    return out


def _idf(records: int, df: int, form: str) -> float:
    odds = (records - df + 0.5) / (df + 0.5)
    if form == "positive":
        return snap(math.log(1.0 + odds))
    return snap(math.log(odds) if odds > 1.0 else 1e-6)


def _word(leaf: _Leaf) -> list[Found]:
    """What a word adds, through a field or a whole row, from its counts."""
    facts, lane = leaf.facts, leaf.lane
    if "similarity" in facts:
        return _spelled_alike(leaf)
    field, rare = facts.get("field", ""), 0.0
    out = _agrees(
        leaf,
        ("records", facts["records"]),
        (f"mean/{field}", facts["mean"]),
        (f"df/{facts['term']}", facts["df"]),
    )
    if lane["score"] != "tf":
        rare = _idf(facts["records"], facts["df"], lane["idf"])
        out.append(("idf", facts["idf"], rare))
    weights = _open(lane, facts)
    weight = facts.get("boost", 1.0)
    if "field" in facts:
        out.append(("weight", facts["weight"], weights.get(facts["field"])))
        weight *= facts["weight"]
    else:
        whole = math.fsum(snap(weights.get(name, 0.0) * n) for name, n in facts["fields"].items())
        out.append(("tf", facts["tf"], whole))
    out.append(("mean", facts["mean"], max(facts["mean"], lane["least_mean"])))
    value = facts.get("times", 1) * snap(_measured(lane, facts, weight, rare))
    return [*out, ("value", leaf.node["value"], value)]


def _open(lane: Data, facts: Data) -> dict[str, float]:
    """The fields that count for a word, with their weights."""
    weights: dict[str, float] = {name: w for name, w in lane["fields"].items() if w}
    gate, records = lane["gate"], facts["records"]
    if not gate or records < lane["gate_from"]:
        return weights
    return {n: w for n, w in weights.items() if facts["df"] <= gate.get(n, 1.0) * records}


def _measured(lane: Data, facts: Data, weight: float, rare: float) -> float:
    """Counts as the lane measures them: BM25, tf · idf, or tf."""
    tf, k1, b = float(facts["tf"]), lane["k1"], lane["b"]
    if lane["score"] == "tf":
        return weight * tf
    if lane["score"] == "tf_idf":
        return weight * rare * tf
    norm = k1 * (1.0 - b + b * (facts["length"] / facts["mean"]))
    return weight * rare * (tf * (k1 + 1.0) / (tf + norm))


def _spelled_alike(leaf: _Leaf) -> list[Found]:
    """The share of trigrams that two words have in common."""
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


_MOST: Final = 1.0 + 2.0**-10
"""No cosine is more, however the lengths of two vectors are rounded."""


def _met(leaf: _Leaf) -> list[Found]:
    """A word met another: its weight among the words of the query, times how near they are."""
    facts = leaf.facts
    rare = _idf(facts["records"], facts["df"], "positive")
    said = leaf.root["facts"]["said"]
    weight = facts["norm"] * rare / said if said else 0.0
    asked = facts["asked"]
    return [
        *_agrees(
            leaf,
            ("records", facts["records"]),
            ("said", said),
            (f"df/{asked}", facts["df"]),
            (f"norm/{asked}", facts["norm"]),
        ),
        ("asked", [p["facts"]["asked"] for p in leaf.above["parts"]].count(asked), 1),
        (
            "cosine",
            facts["cosine"],
            min(max(facts["cosine"], snap(leaf.lane["min_cosine"])), _MOST),
        ),
        ("idf", facts["idf"], rare),
        ("weight", facts["weight"], weight),
        ("value", leaf.node["value"], snap(weight * facts["cosine"])),
    ]


def _cosine(leaf: _Leaf) -> list[Found]:
    """The cosine of the best part, or what it counts while vectors are missing."""
    if leaf.node["label"] != "cosine":
        known = (leaf.lane["fresh"], leaf.lane["stale"])
        weighs = leaf.above is not leaf.node and leaf.node["value"] in known
        return [("value", weighs, True)]
    body, row = leaf.s.body, str(leaf.s.rows[leaf.at])
    spaces = {name: rows[row] for name, rows in body["vectors"]["best"].items() if row in rows}
    space = leaf.above["label"] if leaf.root["op"] == "max" else next(iter(spaces), "")
    asked = body["outcomes"].get("vectors", {}).get(space) or body["outcomes"]["vector"]
    cosine = snap(dot_of(vector_of(spaces[space]), vector_of(asked)))
    distance = leaf.facts.get("distance", 1.0 - cosine)
    return [
        ("value", leaf.node["value"], cosine),
        ("distance", distance, 1.0 - cosine),
        ("min_cosine", cosine, max(cosine, snap(leaf.lane["min_cosine"]))),
    ]


def _led(leaf: _Leaf, facts: Data) -> list[Found]:
    """A path leads to the hit, and is as long as it is said to be."""
    path = facts["path"]
    return [
        ("distance", facts["distance"], len(path) - 1),
        ("path", path[-1].get("id"), leaf.s.ids[leaf.at]),
    ]


def _walked(leaf: _Leaf) -> list[Found]:
    """By the distance, the most valuable edge of the path, and how many seeds lead there."""
    facts, lane, name = leaf.root["facts"], leaf.lane, leaf.node["label"]
    depth = facts["distance"]
    near = max(float(depth), 1.0)
    if name == "graph":
        value = snap(1.0 / near) if depth else 0.0
    elif name == "relation":
        worth = max(
            (lane["boosts"].get(hop["kind"], 0.0) for hop in facts["path"][1:]), default=0.0
        )
        value = snap(worth / near)
    else:
        further = min(facts["seed_paths"] - 1.0, lane["support_most"])
        value = snap(further * lane["support"])
    column = leaf.s.told[f"{leaf.label}.{name}"][leaf.at]
    return [
        *_led(leaf, facts),
        ("value", leaf.node["value"], value),
        (name, column, value),
    ]


def _reached(leaf: _Leaf) -> list[Found]:
    """Minus the distance, or minus the cost."""
    facts = leaf.facts
    hops = facts["path"][1:]
    cost = float(len(hops))
    if leaf.lane["kind"] == "cheapest" and leaf.lane["cost"] == "weight":
        cost = math.fsum(snap(hop["weight"]) for hop in hops)
    return [
        *_led(leaf, facts),
        ("cost", facts["cost"], cost),
        ("value", leaf.node["value"], 0.0 - cost),
    ]


def _shared(leaf: _Leaf) -> list[Found]:
    """tanh(½ · how many entities are shared)."""
    count = len(leaf.facts["entities"])
    made = snap(math.tanh(0.5 * count))
    return [("shared", leaf.facts["shared"], count), ("value", leaf.node["value"], made)]


def _given(leaf: _Leaf) -> list[Found]:
    return [("value", leaf.node["value"], leaf.s.known[f"{leaf.label}.score"][leaf.at])]


def _sums(above: Data, node: Data) -> bool:
    return node is above and node["op"] == "sum"


def _sums_or_best(above: Data, node: Data) -> bool:
    del above
    return node["op"] in {"sum", "max"}


def _weighed(above: Data, node: Data) -> bool:
    """A cosine times what it counts; where there are several spaces, the best of these."""
    if node["op"] == "max":
        return node is above and all(part["op"] == "product" for part in node["parts"])
    labels = [part["label"] for part in node["parts"] if part["op"] == "leaf"]
    return node["op"] == "product" and labels == ["cosine", "freshness"]


def _no_parts(above: Data, node: Data) -> bool:
    del above, node
    return False


def _any_shape(above: Data, node: Data) -> bool:
    del above, node
    return True


SHAPES: Final[dict[str, Callable[[Data, Data], bool]]] = {
    "bm25": _sums_or_best, "kin": _sums, "vector": _weighed, "walk": _sums, "hops": _no_parts,
    "cheapest": _no_parts, "entity": _no_parts, "list": _no_parts,
}  # fmt: skip
"""How the trees of lanes are built above their leaves."""
LEAVES: Final[dict[str, Callable[[_Leaf], list[Found]]]] = {
    "bm25": _word, "kin": _met, "vector": _cosine, "walk": _walked, "hops": _reached,
    "cheapest": _reached, "entity": _shared, "list": _given,
}  # fmt: skip
"""Lanes whose scores follow from what the evidence holds."""
