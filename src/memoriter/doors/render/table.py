"""The answer of a recall: ranked hits, each with its score as a bar and what every lane said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from memoriter.doors.render.bar import bar
from memoriter.doors.render.ink import (
    BAD,
    DIM,
    STRONG,
    Ink,
    day,
    inks_of,
    joined,
    replaced,
)
from memoriter.doors.render.marks import marked
from memoriter.text.safe import one_line
from memoriter.why.figures import boosts_of, figure, moves_of, scale_of
from memoriter.why.result import Hit, Result

NEAR_SHOWN: Final = 5
"""So many words that were perhaps meant are named."""


class Table:
    """A result, three lines to a hit, more where it was moved or replaced."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result = self._result
        lanes = inks_of(result.plan.recipe)
        yield title(result, lanes)
        for label, reason in result.skipped.items():
            yield Text(f"  {label} did not run: {reason}", BAD)
        best = best_of(result)
        for hit in result:
            yield Text()
            top = best[scale_of(hit.explanation)]
            yield from first_lines(hit, top, lanes, options.max_width)
            yield indented(marked(hit, options.max_width - 5))
            yield indented(about(hit, options.max_width - 5))
            if moved := way(hit, options.max_width - 5):
                yield indented(moved)
            if hit.superseded_by:
                yield indented(replaced(hit.superseded_by))
        if not result:
            yield Text("  nothing found", DIM)
        if result.near:
            told = ", ".join(map(one_line, result.near[:NEAR_SHOWN]))
            yield Text(f"\n  no memory has these words; did you mean: {told}?", DIM)


def title(result: Result, lanes: Mapping[str, Ink]) -> Text:
    """What was found, by which recipe, and which glyph is which lane."""
    shown = "1 memory" if len(result) == 1 else f"{len(result)} memories"
    if result.total > len(result):
        shown += f" of {result.total} candidates"
    recipe = result.plan.recipe
    status = Text(result.status, DIM if result.status == "complete" else BAD)
    labels = [*result.used, *result.plan.boosting]
    labels += ["rerank"] if result.plan.runs("rerank") else []
    key = [Text(f"{lanes[label].glyph} {label}", lanes[label].style) for label in labels]
    named = f"{recipe.name} v{recipe.version}"
    return joined([Text(shown, STRONG), named, status, *key])


def best_of(result: Result) -> dict[str, float]:
    """The best score on each scale: what a reranker scored is not measured against the rest."""
    best: dict[str, float] = {}
    for hit in result:
        scale = scale_of(hit.explanation)
        best[scale] = max(hit.score, best.get(scale, hit.score))
    return best


def first_lines(hit: Hit, best: float, lanes: Mapping[str, Ink], width: int) -> list[Text]:
    """Rank, score, bar and lane chips: on one line, or on two where the screen is narrow."""
    line = Text().append(f"{hit.rank:>3}  {figure(hit.score):<7}", STRONG)
    line.append_text(bar(hit.explanation, best, lanes))
    told = joined(chips(hit, lanes), "  ")
    if line.cell_len + told.cell_len + 2 > width:
        return [line, indented(told)]
    return [line.append("  ").append_text(told)]


def chips(hit: Hit, lanes: Mapping[str, Ink]) -> list[Text]:
    """`words#1 7.21` for each lane that found the hit, `session +0.120` for each boost."""
    found = [
        Text(f"{label}#{lane.rank} {lane.score:.2f}", lanes[label].style)
        for label, lane in hit.lanes.items()
    ]
    lifted = [
        Text(f"{label} {told}", lanes[label].style if label in lanes else "")
        for label, told in boosts_of(hit.explanation, hit.lanes)
    ]
    return [*found, *lifted]


def way(hit: Hit, width: int) -> Text:
    """What passes and orderings did with the hit, cut to the width."""
    line = Text(" · ".join(" ".join(each) for each in moves_of(hit.moves, hit.rank)), DIM)
    line.truncate(width, overflow="ellipsis")
    return line


def about(hit: Hit, width: int) -> Text:
    """Id, date and tags, cut to the width."""
    record = hit.record
    parts = [one_line(record.id), day(record.created), one_line(record.kind)]
    parts += [f"#{one_line(tag)}" for tag in record.tags]
    line = Text(" · ".join(parts), DIM)
    line.truncate(width, overflow="ellipsis")
    return line


def indented(line: Text) -> Text:
    """The line below the rank."""
    return Text("     ").append_text(line)
