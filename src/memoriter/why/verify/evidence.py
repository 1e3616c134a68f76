"""Checks the evidence: the trees that explain the lane scores of the hits, and their vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from .kinds import lane_rules
from .numbers import OPS, Data, decoded_vector, unit_of
from .ranking import lanes_run
from .rules import ClaimedLeaf, LaneRule
from .verification import WORDS, Verification, brief

_PER_STEP = 64
"""Characters that are searched in about the time of one step."""
_UNKNOWN = LaneRule()
"""For a kind without a file here: only the arithmetic of the tree is checked."""


def check_evidence(s: Verification) -> None:
    """Check that each lane that found a hit has a tree, and that the tree gives its score."""
    lanes = lanes_run(s)
    for n, at in enumerate(s.standing):
        s.spend(len(lanes) + 1)
        trees = s.body["evidence"][n]
        wanted = [label for label in lanes if s.claimed[f"{label}.score"][at] is not None]
        if not set(wanted) <= set(trees):
            s.wrong(f"evidence/{n}", "the evidence of a lane is missing")
        for label in sorted(set(trees) - set(wanted)):
            s.attested[f"evidence/{n}/{label}"] = None
        for label in [label for label in wanted if label in trees]:
            _tree(s, label, at, f"evidence/{n}/{label}", trees[label])
    s.same("evidence", len(s.body["evidence"]), len(s.standing))


def _tree(s: Verification, label: str, at: int, path: str, root: Data) -> None:
    lane = s.recipe["lanes"][label]
    rule = lane_rules().get(lane["kind"], _UNKNOWN)
    s.same(path, root["value"], s.derived[f"{label}.score"][at])
    for above, node in _nodes(root, root):
        s.spend(1)
        if node["op"] == "leaf":
            leaf = ClaimedLeaf(
                receipt=s, lane=lane, label=label, at=at, root=root, above=above, node=node
            )
            _leaf(rule, leaf, path)
            _matched(s, rule.asked(leaf), path)
            continue
        values = [part["value"] for part in node.get("parts", [])]
        s.same(path, node["value"], OPS[node["op"]](values) if values else 0.0)
        if not rule.shape(above, node):
            s.wrong(f"{path}/{node['label']}", f"a {lane['kind']} score has no such node")


def _leaf(rule: LaneRule, leaf: ClaimedLeaf, path: str) -> None:
    name = f"{path}/{leaf.node['label']}"
    if rule.leaf is None:
        leaf.receipt.attested[name] = None
        return
    for what, value, expected in rule.leaf(leaf):
        leaf.receipt.checked[path] = None
        if value != expected:
            leaf.receipt.wrong(f"{name}/{what}", f"is {brief(value)}, expected {brief(expected)}")


def _matched(s: Verification, asked: Sequence[str], path: str) -> None:
    """Check that matched words stand in the question; one that was derived from it is attested.

    A dialect may add words (aliases, index terms): nothing here can tell how, so they are named.
    """
    for term in asked:
        s.spend(1 + len(term) // _PER_STEP)
        parts = WORDS.findall(term.casefold())
        # A piece of a word begins with ##, as the word table cuts long words: how it cuts one is
        # not known here, so a piece is attested.
        there = not term.startswith("##") and all(p in s.question for p in parts)
        (s.checked if there and parts else s.attested)[f"{path}/term {term!r}"] = None


def _nodes(above: Data, node: Data) -> Iterable[tuple[Data, Data]]:
    """(parent, node) for every node of a tree; the root is its own parent."""
    yield above, node
    for part in node.get("parts", []):
        yield from _nodes(node, part)


# -- vectors ---------------------------------------------------------------------------------------


def check_units(s: Verification) -> None:
    """Check every vector: cosines are computed as dot products, which assumes unit vectors."""
    for path, encoded in _encoded(s):
        if not _is_unit(decoded_vector(encoded)):
            s.wrong(path, "is not a unit vector on the grid")
    passed, vector = s.body["query"].get("vector"), s.body["outcomes"].get("vector")
    if passed is not None and vector is not None:
        s.same("outcomes/vector", decoded_vector(vector), unit_of(passed))


def _encoded(s: Verification) -> Iterator[tuple[str, str]]:
    """(path, encoded vector) of every vector in the receipt."""
    outcomes, vectors = s.body["outcomes"], s.body["vectors"]
    if "vector" in outcomes:
        yield "outcomes/vector", outcomes["vector"]
    for space, vector in outcomes.get("vectors", {}).items():
        yield f"outcomes/vectors/{space}", vector
    for space, rows in vectors.get("best", {}).items():
        yield from ((f"vectors/best/{space}/{row}", vector) for row, vector in rows.items())
    yield from ((f"vectors/units/{row}", v) for row, v in vectors.get("units", {}).items())


def _is_unit(vector: Sequence[float]) -> bool:
    """Whether each element is a multiple of 2^-23 and the length is 1 up to that rounding, or 0."""
    steps = [value * 2.0**23 for value in vector]
    if not all(math.isfinite(step) and step == round(step) for step in steps):
        return False
    length = math.sqrt(math.fsum(value * value for value in vector))
    return length == 0.0 or abs(length - 1.0) <= 2.0**-23 * math.sqrt(len(vector))
