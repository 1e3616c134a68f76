"""Renders results, hits, explanations and plans as static HTML for files and notebooks.

There is no script and no external resource, and every text is escaped. The numbers come from the
same explanations as the JSON and the terminal output; the bars add up to the printed scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Final, NewType

from memoriter.core.explanation import Explanation, contributions
from memoriter.core.times import iso
from memoriter.text.figures import figure, pairs
from memoriter.text.safe import one_line, safe
from memoriter.why.hit_text import (
    NodeLine,
    boosts_of,
    copies_line,
    lane_lines,
    lanes_outside_score,
    moves_of,
    plain_lines,
    relevance_lines,
    scale_of,
    score_lines,
)
from memoriter.why.strengths import NOTHING, comparable_text, relevance_text, strength_text

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan, PlanStep
    from memoriter.pipeline.relevance import Strength
    from memoriter.why.result import Hit, Result

Html = NewType("Html", str)
"""Markup whose texts are escaped. `_tag` accepts nothing else, so no text is used unescaped."""
Colours = Mapping[str, int]
"""Label → number of its colour in `card.css`."""
_SHOWN: Final = 1200
"""Characters of a record's text that are shown at most."""
_HUES: Final = 8
"""Colours for lanes and boosts; the number after the last is for reranking and other stages."""
_WIDTH: Final = 1000
"""Width of a bar in SVG units."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def result_page(result: Result) -> str:
    """A result as a complete HTML page."""
    title = _tag("title", _text(_summary(result)))
    policy = Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">')
    head = _tag("head", Html('<meta charset="utf-8">'), policy, title)
    body = _tag("body", Html(result_html(result)), of="rc-page")
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def result_html(result: Result) -> str:
    """A result as an HTML fragment, as notebooks show it."""
    recipe = result.plan.recipe
    colours = _colours([*recipe.lanes, *recipe.boosts])
    labels = [*result.used, *result.plan.boosting]
    labels += ["rerank"] if result.plan.runs("rerank") else []
    legend = _tag("p", *(_key(label, colours) for label in labels), of="rc-legend")
    skipped = [
        _tag("p", _text(f"{label} did not run: {reason}"), of="rc-bad")
        for label, reason in result.plan.missing.items()
    ]
    # Bars are drawn relative to the best hit on the same scale: scores that a second pass gave
    # cannot be compared with those of the first.
    best: dict[str, float] = {}
    for hit in result:
        scale = scale_of(hit.explanation)
        best[scale] = max(_reach(hit.explanation), best.get(scale, 0.0))
    cards = [_hit(hit, best[scale_of(hit.explanation)], colours) for hit in result]
    title = _tag("p", _text(_summary(result)), of="rc-title")
    notes = [_tag("p", _text(remark), of="rc-dim") for remark in result.remarks]
    if result.strength == "none" or not cards:
        nothing = "nothing found" if result.strength is None else f"{NOTHING}."
        notes.insert(0, _tag("p", _text(nothing)))
    if cards:
        notes.append(_comparable(result.strength))
    return _tag("div", _style(), title, legend, *skipped, *notes, *cards, of="rc")


def hit_html(hit: Hit) -> str:
    """One hit as an HTML fragment."""
    labels = [*hit.lanes, *(label for label, _ in contributions(hit.explanation))]
    card = _hit(hit, _reach(hit.explanation), _colours(labels))
    return _tag("div", _style(), card, _comparable(hit.strength), of="rc")


def _comparable(strength: Strength | None) -> Html:
    return _tag("p", _text(comparable_text(strength)), of="rc-dim")


def explanation_html(node: Explanation) -> str:
    """An explanation as an HTML fragment: every number, down to the counts."""
    colours = _colours(label for label, _ in contributions(node))
    parts = _sum(node, colours), _tag("ul", _node(plain_lines(node), colours), of="rc-tree")
    return _tag("div", _style(), *parts, of="rc")


def plan_html(plan: Plan) -> str:
    """A plan as an HTML fragment: which steps run, with which options, and which are skipped."""
    recipe = plan.recipe
    colours = _colours([*recipe.lanes, *recipe.boosts])
    title = f"{recipe.name} v{recipe.version} · {plan.status} · tenant {one_line(plan.tenant)}"
    steps = (_step(step, colours, missed=step.name in plan.missing) for step in plan.steps)
    lines = _tag("ul", *steps, of="rc-tree")
    return _tag("div", _style(), _tag("p", _text(title), of="rc-title"), lines, of="rc")


def _step(step: PlanStep, colours: Colours, *, missed: bool) -> Html:
    detail = _tag("small", _text(one_line(pairs(step.shows))))
    if step.skipped is not None:
        style = "rc-bad" if missed else "rc-dim"
        detail = _tag("span", _text(f"skipped: {one_line(step.skipped)}"), of=style)
    rows = [] if step.rows is None else [_text(f" · {step.rows} rows")]
    return _tag("li", _chip(step.name, step.name, colours), detail, *rows)


def _summary(result: Result) -> str:
    count = "1 memory" if len(result) == 1 else f"{len(result)} memories"
    if result.total > len(result):
        count += f" of {result.total} candidates"
    recipe = result.plan.recipe
    parts = [] if result.strength is None else [strength_text(result.strength)]
    return " · ".join([count, *parts, f"{recipe.name} v{recipe.version}", result.status])


def _colours(labels: Iterable[str]) -> Colours:
    others = [label for label in dict.fromkeys(labels) if label != "rerank"]
    return {**{label: at % _HUES for at, label in enumerate(others)}, "rerank": _HUES}


def _style() -> Html:
    text = resources.files("memoriter.why").joinpath("card.css").read_text(encoding="utf-8")
    return Html(f"<style>{text}</style>")


# -- a hit -----------------------------------------------------------------------------------------


def _hit(hit: Hit, best: float, colours: Colours) -> Html:
    numbers = [_tag("b", _text(number)) for number in (str(hit.rank), figure(hit.score))]
    relevance = relevance_text(hit.relevance, hit.strength)
    numbers += [_tag("span", _text(relevance), of="rc-how")] if relevance else []
    head = _tag("p", *numbers, *_chips(hit, colours), of="rc-head")
    parts = [head, score_bar(hit.explanation, best, colours), _sum(hit.explanation, colours)]
    parts += [_marked_text(hit), _attributes(hit), *_journey(hit)]
    style = "rc-hit rc-faint" if hit.strength in ("weak", "none") else "rc-hit"
    return _tag("article", *parts, _reasons(hit, colours), of=style)


def _chips(hit: Hit, colours: Colours) -> list[Html]:
    """`words #1 7.21` for each lane, `session +0.120` for each boost."""
    chips = [(label, f"#{lane.rank} {figure(lane.score)}") for label, lane in hit.lanes.items()]
    chips += boosts_of(hit.explanation, hit.lanes)
    return [_chip(label, f"{label} {effect}", colours) for label, effect in chips]


def _chip(label: str, text: str, colours: Colours) -> Html:
    return _tag("span", _text(text), of=f"rc-chip rc-{colours.get(label, _HUES)}")


def _key(label: str, colours: Colours) -> Html:
    return _chip(label, label, colours)


def score_bar(root: Explanation, best: float, colours: Colours) -> Html:
    """A bar with a segment per contribution."""
    drawn: list[Html] = []
    at = 0.0
    unit = _WIDTH / best if best > 0 else 0.0
    # Negative contributions come last and are drawn from the right end leftwards over the others,
    # so that the uncovered part has the length of the score.
    for label, value in sorted(contributions(root), key=lambda each: each[1] < 0):
        at += min(value, 0.0)
        x, width = (round(unit * share, 2) for share in (at, abs(value)))
        at += max(value, 0.0)
        title = _tag("title", _text(f"{label} {figure(value)}"))
        style = "rc-less" if value < 0 else f"rc-{colours.get(label, _HUES)}"
        attributes = f'class="{style}" x="{x:g}" width="{width:g}" height="10"'
        drawn.append(Html(f"<rect {attributes}>{title}</rect>"))
    box = f'viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none"'
    return Html(f'<svg class="rc-bar" role="img" {box}>{"".join(drawn)}</svg>')


def _reach(root: Explanation) -> float:
    """The length of a bar before negative contributions: the sum of the positive ones."""
    return sum(value for _, value in contributions(root) if value > 0)


def _sum(root: Explanation, colours: Colours) -> Html:
    """The contributions written as a sum, `0.300 words + 0.120 session = 0.420`."""
    parts: list[Html] = []
    for label, value in contributions(root):
        sign = "−" if value < 0 else "+" if parts else ""
        parts.append(_text(f" {sign} " if sign else ""))
        parts.append(_chip(label, f"{figure(abs(value))} {label}", colours))
    return _tag("p", *parts, _text(f" = {figure(root.value)}"), of="rc-sum")


def _marked_text(hit: Hit) -> Html:
    """The record's text with its matches marked; for a reflection its essence."""
    record = hit.record
    if record.kind == "reflection":
        return _tag("p", _text(record.essence[:_SHOWN]), of="rc-text")
    text = safe(record.text)
    out: list[Html] = []
    at = 0
    for begin, end in hit.spans_in(text):  # of the text as shown, which may be shorter
        if end > _SHOWN:
            break
        out += [_text(text[at:begin]), _tag("mark", _text(text[begin:end]))]
        at = end
    rest = text[at:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    title = [_tag("b", _text(one_line(record.title))), Html("<br>")] if record.title else []
    return _tag("p", *title, *out, _text(rest), of="rc-text")


def _attributes(hit: Hit) -> Html:
    record = hit.record
    parts = [record.id, iso(record.created)[:10], record.kind, *(f"#{tag}" for tag in record.tags)]
    if record.trust != "learned":
        parts.append({"external": "external, untrusted"}.get(record.trust, record.trust))
    line = _tag("p", _text(" · ".join(map(one_line, parts))), of="rc-dim")
    if hit.copies:
        line = Html(line + _tag("p", _text(copies_line(hit.copies)), of="rc-dim"))
    if hit.superseded_by:
        ids = ", ".join(map(one_line, hit.superseded_by))
        line = Html(line + _tag("p", _text(f"superseded by {ids}"), of="rc-bad"))
    return line


def _journey(hit: Hit) -> list[Html]:
    """The rank of the hit at each stage, and what moved it."""
    journey = " → ".join(f"{one_line(stage)} #{rank}" for stage, rank in hit.journey)
    lines = [journey, *(f"{stage}: {move}" for stage, move in moves_of(hit))]
    return [_tag("p", _text(line), of="rc-dim") for line in lines]


# -- reasons ---------------------------------------------------------------------------------------


def _reasons(hit: Hit, colours: Colours) -> Html:
    """The whole explanation in a collapsed element."""
    nodes = [_node(score_lines(hit), colours)]
    for label in lanes_outside_score(hit):
        lane = hit.lanes[label]
        inner = _tag("ul", _node(lane_lines(hit, label), colours))
        nodes.append(_tag("li", _chip(label, f"{label} #{lane.rank}, before", colours), inner))
    if (relevance := relevance_lines(hit)) is not None:
        nodes.append(_node(relevance, colours))
    summary = _tag("summary", _text("every number"))
    return _tag("details", summary, _tag("ul", *nodes, of="rc-tree"))


def _node(shown: NodeLine, colours: Colours) -> Html:
    """A number with its text, and those below it."""
    node, text, parts = shown
    line = [_tag("b", _text(figure(node.value))), _text(" ")]
    if text.matched:
        line += [_tag("mark", _text(text.matched)), _text(f" {text.label}")]
    elif node.label in colours:
        line.append(_chip(node.label, text.label, colours))
    else:
        line.append(_text(text.label))
    line += [_text(" "), _tag("small", _text(text.detail))] if text.detail else []
    below = [_node(part, colours) for part in parts]
    return _tag("li", *line, *([_tag("ul", *below)] if below else []))


# -- markup ----------------------------------------------------------------------------------------


def _text(text: str) -> Html:
    # `safe` replaces control characters, which `escape` leaves in.
    return Html(escape(safe(text)))


def _tag(name: str, *inside: Html, of: str = "") -> Html:
    klass = f' class="{of}"' if of else ""
    return Html(f"<{name}{klass}>{''.join(inside)}</{name}>")
