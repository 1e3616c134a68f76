"""Trees: the score of a hit taken apart, and the steps of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from memoriter.doors.render.ink import (
    DIM,
    MATCH,
    STRONG,
    WARN,
    Ink,
    inks_of,
    joined_line,
    superseded_line,
)
from memoriter.pipeline.plan import Plan
from memoriter.pipeline.steps import PlanStep
from memoriter.text.figures import attempt_text, figure, pairs
from memoriter.text.safe import one_line
from memoriter.why.hit import Hit
from memoriter.why.hit_text import (
    NodeLine,
    copies_line,
    lane_lines,
    lanes_outside_score,
    moves_of,
    relevance_lines,
    score_lines,
)
from memoriter.why.strengths import comparable_text, relevance_text

_AFTER: Final = "after "
_NAME: Final = 8
_COUNT: Final = 9


def explained_hit(hit: Hit, lanes: Mapping[str, Ink]) -> RenderableType:
    """The score of a hit, taken apart, and what may be compared with other questions."""
    return Group(hit_tree(hit, lanes), Text(), Text(comparable_text(hit.strength), DIM))


def hit_tree(hit: Hit, lanes: Mapping[str, Ink]) -> RenderableType:
    """The score of a hit, taken apart down to the counts."""
    head = joined_line([Text(f"why #{hit.rank}", STRONG), one_line(hit.id)])
    journey = " → ".join(f"{stage} #{rank}" for stage, rank in hit.journey)
    head.append(f"\n{journey}", DIM)
    if relevance := relevance_text(hit.relevance, hit.strength):
        head.append(f"\n{relevance}")
    for stage, move in moves_of(hit):
        head.append(f"\n{stage}: {move}", DIM)
    if hit.copies:
        head.append(f"\n{copies_line(hit.copies)}", DIM)
    if hit.superseded_by:
        head.append("\n").append_text(superseded_line(hit.superseded_by))
    score = score_lines(hit)
    tree = Tree(_label(score, lanes), guide_style=DIM)
    _grow(tree, score, lanes)
    earlier = [_earlier_lane(label, hit, lanes) for label in lanes_outside_score(hit)]
    return Group(head, tree, *earlier, *_relevance_trees(hit, lanes))


def _relevance_trees(hit: Hit, lanes: Mapping[str, Ink]) -> list[Tree]:
    """The relevance of the hit, taken apart; none if the recipe has no relevance."""
    relevance = relevance_lines(hit)
    if relevance is None:
        return []
    tree = Tree(_label(relevance, lanes), guide_style=DIM)
    _grow(tree, relevance, lanes)
    return [tree]


def _earlier_lane(label: str, hit: Hit, lanes: Mapping[str, Ink]) -> Tree:
    """A lane that found the hit but adds nothing to its final score."""
    line = Text(f"{label} #{hit.lanes[label].rank}", lanes[label].style if label in lanes else "")
    tree = Tree(line.append(", before", DIM), guide_style=DIM)
    evidence = lane_lines(hit, label)
    _grow(tree.add(_label(evidence, lanes)), evidence, lanes)
    return tree


def _grow(tree: Tree, shown: NodeLine, lanes: Mapping[str, Ink]) -> None:
    for part in shown.below:
        _grow(tree.add(_label(part, lanes)), part, lanes)


def _label(shown: NodeLine, lanes: Mapping[str, Ink]) -> Text:
    node, words = shown.node, shown.text
    ink = lanes.get(node.label)
    line = Text().append(f"{figure(node.value)}  ", STRONG)
    if words.matched:
        line.append(words.matched, MATCH).append(f" {words.label}" if words.label else "")
        return line.append(f"\n{words.detail}", DIM)
    name, comma, made = words.label.partition(", ")
    line.append(name, ink.style if ink else "").append(comma + made, DIM)
    return line.append(f"  {words.detail}", DIM) if words.detail else line


def plan_tree(plan: Plan) -> RenderableType:
    """Which steps run with which numbers, which are skipped and why, how many rows each left."""
    recipe = plan.recipe
    head = joined_line(
        [
            Text(f"recipe {recipe.name} v{recipe.version}", STRONG),
            recipe.fingerprint[:12],
            f"tenant {one_line(plan.tenant)}",
            f"view {plan.seq}",
        ]
    )
    tree = Tree(head, guide_style=DIM)
    colours = inks_of(recipe)
    width = max(_NAME, *(cell_len(step.name) for step in plan.steps))
    for step in plan.steps:
        tree.add(_step(step, colours.get(step.name), width))
    return tree


def _step(step: PlanStep, ink: Ink | None, width: int) -> RenderableType:
    """One line of three columns; what does not fit goes on below its own column."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width)
    grid.add_column(width=_COUNT, justify="right")
    grid.add_column(overflow="fold")
    count = "" if step.rows is None else f"{step.rows} row{'' if step.rows == 1 else 's'}"
    detail = (
        Text(_detail(step), DIM)
        if step.skipped is None
        else Text(f"skipped: {one_line(step.skipped)}", WARN)
    )
    grid.add_row(Text(step.name, ink.style if ink else STRONG), Text(count), detail)
    return grid


def _detail(step: PlanStep) -> str:
    """The numbers of a step, the queries it tried, and how many rows each filter left."""
    left = {key.removeprefix(_AFTER): n for key, n in step.shows.items() if key.startswith(_AFTER)}
    rest = {k: v for k, v in step.shows.items() if not k.startswith(_AFTER) and v not in ([], {})}
    parts = [pairs(rest)] if rest else []
    parts += [attempt_text(attempt) for attempt in step.attempts[1:]]
    if left:
        parts.append("rows left: " + " → ".join(f"{key} {count}" for key, count in left.items()))
    return one_line(" · ".join(parts))
