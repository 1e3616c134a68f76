"""The text of a hit: the tree of its score, its boosts and its moves, for terminal and HTML output.

Lines about a kind of lane, boost or ordering come from its own class (`node_text`, `phrases`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, cast

from memoriter.core.explanation import Explanation
from memoriter.lanes.spec import RecipePart
from memoriter.pipeline.orderings.budget import SIZES
from memoriter.pipeline.relevance import PARTS
from memoriter.pipeline.stand_ins import OWED
from memoriter.text.figures import NodeText, figure, node_text, pairs, short
from memoriter.text.safe import one_line
from memoriter.why.explain import KNOTS
from memoriter.why.hit import Hit

_IDLE: Final = {"sum": 0.0, "product": 1.0, "max": -math.inf, "min": math.inf}
"""The neutral element of each operation: a part of that value changes nothing."""
_SIGNS: Final = {"sum": "+", "product": "×", "max": "at least ", "min": "at most "}


# -- the tree of a score ---------------------------------------------------------------------------


class NodeLine(NamedTuple):
    """A node of an explanation with its text, and the lines below it."""

    node: Explanation
    text: NodeText
    below: tuple[NodeLine, ...]
    part: RecipePart | None = None
    """The lane, boost or fusion whose number it is, if that is known."""


_BOOSTED: Final = "boosted"
"""The label of a sum or product of a score and a boost."""
_FUSED: Final = "fuse"
"""The label of what the lanes give together."""


def score_lines(hit: Hit) -> NodeLine:
    """The score of a hit; below the contribution of a lane stands the lane's own evidence."""
    return _score_line(hit, hit.explanation)


def _score_line(hit: Hit, node: Explanation) -> NodeLine:
    if node.label == _BOOSTED and len(node.parts) == 1:
        return _score_line(hit, node.parts[0])  # no boost changed this score
    below = [_score_line(hit, part) for part in node.parts]
    if node.op == "leaf" and node.label in hit.lanes:
        below.append(lane_lines(hit, node.label))
    boost = hit.recipe.boosts.get(node.label)
    if boost is None or node.op != "leaf" or _fused(node):
        fusing = node.op == "leaf" or node.label == _FUSED
        fusion = hit.recipe.passes[0].fuse if fusing else None
        owed = hit.owed.get(node.label, "") if OWED in node.facts else ""
        return NodeLine(node, _plain_text(node, owed), tuple(below), fusion)
    return NodeLine(node, boost.node_text(node), tuple(below), boost)


def relevance_lines(hit: Hit) -> NodeLine | None:
    """The relevance of a hit with what it is made from; None if the recipe has none."""
    node = hit.relevance_explanation
    if node is None:
        return None
    parts = {name: float(cast("float", node.facts[name])) for name in PARTS if name in node.facts}
    below = [
        NodeLine(Explanation(name, value), NodeText("", name, about), ())
        for name, value in parts.items()
        for about in (PARTS[name],)
    ]
    knots = cast("list[list[float]]", node.facts[KNOTS])
    through = " and ".join(f"{short(x)} → {short(y)}" for x, y in knots)
    detail = f"from evidence {short(parts['evidence'])} by the knots {through}"
    return NodeLine(node, NodeText("", node.label, detail), tuple(below))


def lane_lines(hit: Hit, label: str) -> NodeLine:
    """The evidence of a lane for a hit."""
    lane = hit.recipe.lanes[label]

    def line(node: Explanation) -> NodeLine:
        return NodeLine(node, lane.node_text(node), tuple(map(line, node.parts)), lane)

    return line(hit.lanes[label].why)


def plain_lines(node: Explanation) -> NodeLine:
    """An explanation without its hit: the makers of its nodes are not known."""
    return NodeLine(node, _plain_text(node), tuple(map(plain_lines, node.parts)))


def _fused(node: Explanation) -> bool:
    """Whether a node is the contribution of a signal to a weighted fusion."""
    return {"score", "scaled", "weight"} <= node.facts.keys()


def _plain_text(node: Explanation, owed: str = "") -> NodeText:
    """The text of a node; of a fused signal, how its score became a contribution.

    `owed` says what stands for its score, where that is computed later.
    """
    if not owed and not _fused(node):
        return node_text(node)
    facts = node.facts
    score = owed or short(facts["score"])
    scaled, weight = (short(facts[key]) for key in ("scaled", "weight"))
    made = f"{score} → scaled {scaled} × weight {weight}"
    detail = f"rank {facts['rank']} · {made}" if "rank" in facts else made
    return node_text(replace(node, facts={}))._replace(detail=detail)


# -- ranks, boosts and moves -----------------------------------------------------------------------


def scale_of(root: Explanation) -> str:
    """The stage that produced a score; only scores of the same stage can be compared."""
    node = root
    while node.parts and node.parts[0].op != "leaf":
        node = node.parts[0]
    return node.label


def boosts_of(root: Explanation, lanes: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """(label, effect) of each boost or reranker that changed a score: `session +0.120`."""
    if root.op == "leaf":
        return
    for part in root.parts:
        if part.op != "leaf":
            yield from boosts_of(part, lanes)
        elif part.label == root.label:
            yield part.label, figure(part.value)
        elif (part.label not in lanes or root.label == _BOOSTED) and part.value != _IDLE[root.op]:
            sign = "" if root.op == "sum" and part.value < 0 else _SIGNS[root.op]
            sign = f"{OWED} {sign}" if OWED in part.facts else sign
            yield part.label, f"{sign}{figure(part.value)}"


def moves_of(hit: Hit) -> Iterator[tuple[str, str]]:
    """(stage, text) of each stage that moved a hit or has details about it."""
    ranks = [*(cast("int", details["from"]) for details in hit.moves.values()), hit.rank]
    for (stage, details), before, place in zip(hit.moves.items(), ranks, ranks[1:], strict=False):
        phrases = ", ".join(_phrases(hit, stage, details))
        if place != before:
            way = f"#{before} → #{place}"
            yield one_line(stage), f"{way}, {phrases}" if phrases else way
        elif phrases:
            yield one_line(stage), f"#{place}, {phrases}"


def _phrases(hit: Hit, stage: str, details: Mapping[str, object]) -> Iterator[str]:
    """The phrases of a stage: of an ordering by its class, of a pass the scores."""
    own = {key: value for key, value in details.items() if key != "from"}
    if (ordering := hit.recipe.ordering_steps.get(stage)) is not None:
        yield from ordering.phrases(own)
        return
    if "before" in own:
        yield f"score {short(own.pop('before'))} → {short(own.pop('score'))}"
    if rest := {key: value for key, value in own.items() if key not in SIZES}:
        yield one_line(pairs(rest))


def lanes_outside_score(hit: Hit) -> list[str]:
    """The lanes that found a hit but have no part in its final score, as a pass replaced it."""
    inside = set(_labels(hit.explanation))
    return [label for label in hit.lanes if label not in inside]


def _labels(node: Explanation) -> Iterator[str]:
    yield node.label
    for part in node.parts:
        yield from _labels(part)


def copies_line(ids: Sequence[str]) -> str:
    """The copies that a hit stands for; empty if there are none.

    >>> copies_line(["a", "b"]), copies_line(["a"]), copies_line([])
    ('(+2 copies: a, b)', '(+1 copy: a)', '')
    """
    if not ids:
        return ""
    noun = "copy" if len(ids) == 1 else "copies"
    return f"(+{len(ids)} {noun}: {', '.join(map(one_line, ids))})"
