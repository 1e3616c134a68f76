"""Why a hit stands here, and what a plan will do, as trees of readable lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from recollect.core.explanation import Explanation, Facts
from recollect.core.ranking import Attempt
from recollect.doors.render.bundles import path_line
from recollect.doors.render.ink import (
    DIM,
    MATCH,
    STRONG,
    WARN,
    Ink,
    figure,
    inks,
    joined,
    pairs,
    replaced,
    short,
)
from recollect.pipeline.plan import Plan, PlanStep
from recollect.text.safe import one_line
from recollect.why.result import Hit

_OPS: Final = {
    "sum": "the sum of",
    "product": "the product of",
    "max": "the largest of",
    "min": "the least of",
}
_AFTER: Final = "after "
_NAME: Final = 8
_COUNT: Final = 9


def hit_tree(hit: Hit, lanes: Mapping[str, Ink]) -> RenderableType:
    """The score of a hit, taken apart down to the counts."""
    head = joined([Text(f"why #{hit.rank}", STRONG), one_line(hit.id)])
    journey = " → ".join(f"{stage} #{rank}" for stage, rank in hit.journey)
    head.append(f"\n{journey}", DIM)
    if hit.superseded_by:
        head.append("\n").append_text(replaced(hit.superseded_by))
    tree = Tree(_label(hit.explanation, lanes), guide_style=DIM)
    _grow(tree, hit.explanation, hit, lanes)
    return Group(head, tree)


def _grow(tree: Tree, node: Explanation, hit: Hit, lanes: Mapping[str, Ink]) -> None:
    for part in node.parts:
        branch = tree.add(_label(part, lanes))
        _grow(branch, part, hit, lanes)
        if part.op == "leaf" and part.label in hit.lanes:
            why = hit.lanes[part.label].why
            _grow(branch.add(_label(why, lanes)), why, hit, lanes)


def _label(node: Explanation, lanes: Mapping[str, Ink]) -> Text:
    ink = lanes.get(node.label)
    line = Text().append(f"{figure(node.value)}  ", STRONG)
    if "term" in node.facts:
        return line.append_text(_term(node.facts))
    if "met" in node.facts:
        return line.append_text(_met(node.facts))
    line.append(one_line(node.label), ink.style if ink else "")
    if node.op != "leaf":
        line.append(f", {_OPS[node.op]}", DIM)
    if node.facts:
        line.append(f"  {_facts(node.facts)}", DIM)
    return line


def _term(facts: Facts) -> Text:
    """How often the word stands here, in how many records, and how long the field is."""
    line = Text().append(one_line(str(facts["term"])), MATCH).append(f" in {facts['field']}")
    if facts.get("weight", 1.0) != 1.0:
        line.append(f", weight {short(facts['weight'])}")
    tf, length = facts.get("tf"), facts.get("length")
    words = "word" if length == 1 else "words"
    told = (
        f"\ntf {tf} · df {facts.get('df')} of {facts.get('records')} records"
        f" · idf {short(facts.get('idf'))} · {length} {words}, mean {_mean(facts.get('mean'))}"
    )
    return line.append(told, DIM)


def _met(facts: Facts) -> Text:
    """Which word of the query met which, how near they are, and how much the first one says."""
    line = Text().append(one_line(f"{facts['asked']} ~ {facts['met']}"), MATCH)
    near, weight, norm = (short(facts.get(key)) for key in ("cosine", "weight", "norm"))
    told = (
        f"\ncosine {near} × weight {weight} · norm {norm}"
        f" · df {facts.get('df')} of {facts.get('records')} records · idf {short(facts.get('idf'))}"
    )
    return line.append(told, DIM)


def _mean(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _facts(facts: Facts) -> str:
    """What a lane noted: its rank and score, and how the score became a contribution."""
    if {"score", "scaled", "weight"} <= set(facts):
        score, scaled, weight = (short(facts[key]) for key in ("score", "scaled", "weight"))
        made = f"{score} → scaled {scaled} × weight {weight}"
        return f"rank {facts['rank']} · {made}" if "rank" in facts else made
    if {"window", "windows"} == set(facts):
        return f"window {facts['window']} of {facts['windows']}"
    rest = {key: value for key, value in facts.items() if key != "path"}
    told = [one_line(pairs(rest))] if rest else []
    if "path" in facts:
        told.append(path_line(cast("list[dict[str, object]]", facts["path"])))
    return " · ".join(told)


def plan_tree(plan: Plan) -> RenderableType:
    """What runs with which numbers, what is skipped and why, and how many rows each step left."""
    recipe = plan.recipe
    head = joined(
        [
            Text(f"recipe {recipe.name} v{recipe.version}", STRONG),
            recipe.fingerprint[:12],
            f"tenant {one_line(plan.tenant)}",
            f"view {plan.seq}",
        ]
    )
    tree = Tree(head, guide_style=DIM)
    lanes = inks(recipe.lanes)
    for step in plan.steps:
        tree.add(_step(step, lanes.get(step.name)))
    return tree


def _step(step: PlanStep, ink: Ink | None) -> RenderableType:
    """One line of three columns; what does not fit goes on below its own column."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=_NAME)
    grid.add_column(width=_COUNT, justify="right")
    grid.add_column(overflow="fold")
    count = "" if step.rows is None else f"{step.rows} row{'' if step.rows == 1 else 's'}"
    told = (
        Text(_told(step), DIM)
        if step.skipped is None
        else Text(f"skipped: {one_line(step.skipped)}", WARN)
    )
    cells = [Text(step.name, ink.style if ink else STRONG), Text(count), told]
    grid.add_row(*cells)
    return grid


def _tried(attempt: Attempt) -> str:
    query = "" if attempt.query is None else f" {one_line(attempt.query)!r}"
    return f"then {attempt.name}{query}: {attempt.hits}"


def _told(step: PlanStep) -> str:
    passed = {
        key.removeprefix(_AFTER): n for key, n in step.shows.items() if key.startswith(_AFTER)
    }
    rest = {key: value for key, value in step.shows.items() if not key.startswith(_AFTER)}
    told = [pairs(rest)] if rest else []
    told += [_tried(attempt) for attempt in step.attempts[1:]]
    if passed:
        told.append("rows left: " + " → ".join(f"{key} {count}" for key, count in passed.items()))
    return one_line(" · ".join(told))
