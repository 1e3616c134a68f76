"""The answer of a recall: ranked hits, each with its score as a bar; bundles of linked records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text
from rich.tree import Tree

from memoriter.core.explanation import Explanation, contributions
from memoriter.core.shown import counted
from memoriter.doors.render.ink import (
    BAD,
    DIM,
    MATCH,
    STRONG,
    WARN,
    Ink,
    date_text,
    inks_of,
    joined_line,
    superseded_line,
)
from memoriter.doors.render.tree import hit_tree, plan_tree
from memoriter.text.figures import figure
from memoriter.text.safe import one_line
from memoriter.text.spans import Span
from memoriter.why.hit import Hit
from memoriter.why.hit_text import boosts_of, copies_line, moves_of, scale_of
from memoriter.why.result import Result
from memoriter.why.strengths import (
    NO_EVIDENCE,
    NOTHING,
    ONLY_ORDERS,
    WEAK,
    comparable_text,
    relevance_text,
    strength_text,
)

if TYPE_CHECKING:
    from memoriter.why.bundles import Bundle, Bundles

BAR: Final = 24
_REST: Final = "·"
_INDENT: Final = 5
_LEAD: Final = 24
"""How far before the first match a cut text begins at most."""
_NEAR_SHOWN: Final = 5
"""How many words of similar spelling are suggested."""
_TRY: Final = "try other words, names or a wider filter; `memoriter browse` lists what is stored"


def hit_list(result: Result, *, explain: bool = False, every: bool = False) -> RenderableType:
    """The ranked hits; with `explain`, also the score of every hit taken apart, and the plan.

    Hits of strength `none` are only counted, unless `every` is true.
    """
    table = HitTable(result, every=every)
    parts: list[RenderableType] = [table]
    if explain:
        lanes = inks_of(result.plan.recipe)
        for hit in table.listed:
            parts += [Text(), hit_tree(hit, lanes)]
        parts += [Text(), plan_tree(result.plan)]
    return Group(*parts)


class HitTable:
    """A result, three lines to a hit, more where it has copies, was moved or superseded.

    Weak hits are dimmed below the others, whatever their rank.
    """

    def __init__(self, result: Result, *, every: bool = False) -> None:
        self._result = result
        self._first = [hit for hit in result if hit.strength not in ("weak", "none")]
        self._weak = [hit for hit in result if hit.strength == "weak"]
        rest = [hit for hit in result if hit.strength == "none"]
        self._without = rest if every else []
        self.listed = [*self._first, *self._weak, *self._without]
        self._dropped = len(result) - len(self.listed)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        result = self._result
        lanes = inks_of(result.plan.recipe)
        yield _title(result, len(self.listed), lanes)
        for label, reason in result.plan.missing.items():
            yield _skipped(label, reason)
        yield from _notes(result)
        best = _best_scores(result)
        groups = (("", self._first), (WEAK, self._weak), (NO_EVIDENCE, self._without))
        for heading, hits in groups:
            if heading and hits:
                yield Text(f"\n  {heading}", WARN)
            for hit in hits:
                yield Text()
                for line in _hit(hit, best[scale_of(hit.explanation)], lanes, options.max_width):
                    yield _dimmed(line) if heading else line
        yield from self._below()

    def _below(self) -> RenderResult:
        """What was not listed, what to try, and what the numbers mean."""
        result = self._result
        if self._dropped:
            more = f"{self._dropped} more" if self.listed else counted(self._dropped, "candidate")
            yield Text(f"\n  {more} {NO_EVIDENCE}; --all shows them", DIM)
        if result.near:
            near = ", ".join(map(one_line, result.near[:_NEAR_SHOWN]))
            yield Text(f"\n  no memory has these words; did you mean: {near}?", DIM)
        if self.listed:
            yield Text(f"\n  {comparable_text(result.strength)}", DIM)
        elif result.strength is not None:
            yield Text(f"\n  {_TRY}", DIM)


def _skipped(label: str, reason: str) -> Text:
    return Text(f"  {label} did not run: {one_line(reason)}", BAD)


def _notes(result: Result) -> Iterator[Text]:
    """Whether there is nothing, and the remarks."""
    if result.strength == "none":
        yield Text(f"  {NOTHING}.")
    elif not result:
        yield Text("  nothing found", DIM)
    for remark in result.remarks:
        yield Text(f"  {one_line(remark)}", WARN)


def _dimmed(line: Text) -> Text:
    line.stylize(DIM)
    return line


def _title(result: Result, listed: int, lanes: Mapping[str, Ink]) -> Text:
    """How many hits, their strength, the recipe, the status, and the glyph of each lane."""
    count = "1 memory" if listed == 1 else f"{listed} memories"
    if result.total > listed:
        count += f" of {counted(result.total, 'candidate')}"
    recipe = result.plan.recipe
    status = Text(result.status, DIM if result.status == "complete" else BAD)
    labels = [*result.used, *result.plan.boosting]
    labels += ["rerank"] if result.plan.runs("rerank") else []
    key = [Text(f"{lanes[label].glyph} {label}", lanes[label].style) for label in labels]
    name = f"{recipe.name} v{recipe.version}"
    strength = [] if result.strength is None else [strength_text(result.strength)]
    return joined_line([Text(count, STRONG), *strength, name, status, *key])


def _best_scores(result: Result) -> dict[str, float]:
    """The best score on each scale: scores of a reranker are not comparable with the others."""
    best: dict[str, float] = {}
    for hit in result:
        scale = scale_of(hit.explanation)
        best[scale] = max(hit.score, best.get(scale, hit.score))
    return best


def _hit(hit: Hit, best: float, lanes: Mapping[str, Ink], width: int) -> Iterator[Text]:
    """Scores, the text, the record, its copies, and what moved or superseded it."""
    room = width - _INDENT
    yield from _scores(hit, best, lanes, width)
    yield _indented(marked_text(hit, room))
    yield _indented(_record_line(hit, room))
    if hit.copies:
        yield _indented(_cut(Text(copies_line(hit.copies), DIM), room))
    if moves := _moves(hit, room):
        yield _indented(moves)
    if hit.superseded_by:
        yield _indented(superseded_line(hit.superseded_by))


def _scores(hit: Hit, best: float, lanes: Mapping[str, Ink], width: int) -> list[Text]:
    """Rank, score, bar and lane chips: on one line, or on two where the screen is narrow."""
    line = Text().append(f"{hit.rank:>3}  {figure(hit.score):<7}", STRONG)
    line.append_text(bar(hit.explanation, best, lanes))
    chips = joined_line(_chips(hit, lanes), "  ")
    if line.cell_len + chips.cell_len + 2 > width:
        return [line, _indented(chips)]
    return [line.append("  ").append_text(chips)]


def bar(root: Explanation, best: float, inks: Mapping[str, Ink], width: int = BAR) -> Text:
    """A score as a bar, full when it equals the best one: a stretch for each contribution."""
    out = Text()
    reached, drawn = 0.0, 0
    for label, value in contributions(root):
        reached += max(value, 0.0)
        # Rounded on the running sum, not part by part: rounding errors must not add up.
        upto = min(width, round(width * min(reached, root.value) / best)) if best > 0 else 0
        ink = inks.get(label, Ink("▒", "green"))
        # A negative count draws nothing: a part may take back what those before it added.
        out.append(ink.glyph * (upto - drawn), ink.style)
        drawn = max(drawn, upto)
    out.append(_REST * (width - drawn), DIM)
    return out


def _chips(hit: Hit, lanes: Mapping[str, Ink]) -> list[Text]:
    """Its relevance, `words#1 7.21` for each lane that found it, `session +0.120` per boost."""
    relevance = relevance_text(hit.relevance, hit.strength)
    by_lane = [
        Text(f"{label}#{lane.rank} {lane.score:.2f}", lanes[label].style)
        for label, lane in hit.lanes.items()
    ]
    by_boost = [
        Text(f"{label} {change}", lanes[label].style if label in lanes else "")
        for label, change in boosts_of(hit.explanation, hit.lanes)
    ]
    return [*([Text(relevance)] if relevance else []), *by_lane, *by_boost]


def marked_text(hit: Hit, width: int) -> Text:
    """The text on one line, cut to a width around its first match, with every match marked.

    A reflection shows its summary: its text is for programs.
    """
    record = hit.record
    line = one_line(record.essence if record.kind == "reflection" else record.text)
    spans = hit.spans_in(line)  # of the line as shown, whose offsets differ from the text's
    start = _start(line, spans, width)
    out = Text(line)
    for begin, end in spans:
        out.stylize(MATCH, begin, end)
    out = Text("…").append_text(out[start:]) if start else out
    out.truncate(width, overflow="ellipsis")
    return out


def _start(line: str, spans: Sequence[Span], width: int) -> int:
    """Where a line that is too long begins: at its start, or a word shortly before the match."""
    if len(line) <= width or not spans or spans[0][1] < width:
        return 0
    at = max(0, spans[0][0] - _LEAD)
    return line.find(" ", at) + 1 if " " in line[at : spans[0][0]] else at


def _record_line(hit: Hit, width: int) -> Text:
    """Id, date, kind and tags, cut to the width."""
    record = hit.record
    parts = [one_line(record.id), date_text(record.created), one_line(record.kind)]
    parts += [f"#{one_line(tag)}" for tag in record.tags]
    return _cut(Text(" · ".join(parts), DIM), width)


def _moves(hit: Hit, width: int) -> Text:
    """What passes and orderings did with the hit, cut to the width."""
    moves = moves_of(hit)
    return _cut(Text(" · ".join(" ".join(move) for move in moves), DIM), width)


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line


def _indented(line: Text) -> Text:
    """The line below the rank."""
    return Text(" " * _INDENT).append_text(line)


# --- bundles ----------------------------------------------------------------------------------


def bundle_list(bundles: Bundles) -> RenderableType:
    """All bundles of a page: each hit, and below it the records linked to it."""
    noun = "bundle" if bundles.total == 1 else "bundles"
    head = Text(f"{len(bundles)} of {bundles.total} {noun}", STRONG)
    skipped = (_skipped(label, reason) for label, reason in bundles.skipped.items())
    below = [Text(f"\n  {ONLY_ORDERS}", DIM)] if bundles else []
    return Group(head, *skipped, *(_bundle(each) for each in bundles), *below)


def _bundle(bundle: Bundle) -> Tree:
    from memoriter.lanes.graph_lane import path_text  # noqa: PLC0415  # a search has no paths

    seed = bundle.seed
    line = Text(f"#{seed.rank} {figure(seed.score)}  ", STRONG)
    line.append(one_line(seed.record.text)).append(f"  {one_line(seed.id)}", DIM)
    if seed.superseded_by:
        line.append("\n").append_text(superseded_line(seed.superseded_by))
    tree = Tree(line, guide_style=DIM)
    for support in bundle.support:
        linked = Text(one_line(support.record.text))
        linked.append(f"\n{path_text(support.path)}", DIM)
        if support.superseded_by:
            linked.append("\n").append_text(superseded_line(support.superseded_by))
        tree.add(linked)
    return tree
