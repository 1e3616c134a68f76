"""Writes drawings of results, hits, explanations and plans as static HTML.

For files and notebooks: there is no script and no external resource, and every text is escaped.
What is drawn comes from `why.drawing`, as in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NewType

from memoriter.core.explanation import Explanation
from memoriter.core.names import JsonObject
from memoriter.text.figures import pairs
from memoriter.text.safe import one_line, safe
from memoriter.why.drawing import (
    HUES,
    colours_of,
    draw_answer,
    draw_explanation,
    draw_hit,
    summary_of,
)
from memoriter.why.strengths import comparable_text

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan, PlanStep
    from memoriter.why.result import Hit, Result

Html = NewType("Html", str)
"""Markup whose texts are escaped. `_tag` accepts nothing else, so no text is used unescaped."""
_WIDTH: Final = 1000
"""Width of a bar in SVG units."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_FAINT: Final = ("weak", "none")


def result_page(result: Result) -> str:
    """A result as a complete HTML page."""
    title = _tag("title", _text(summary_of(result)))
    policy = Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">')
    head = _tag("head", Html('<meta charset="utf-8">'), policy, title)
    body = _tag("body", Html(result_html(result)), of="rc-page")
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def result_html(result: Result) -> str:
    """A result as an HTML fragment, as notebooks show it."""
    drawing = draw_answer(result)
    legend = _tag(
        "p", *(_chip(key["label"], key["hue"]) for key in drawing["legend"]), of="rc-legend"
    )
    lines = [
        _tag("p", _text(f"{each['label']} did not run: {each['reason']}"), of="rc-bad")
        for each in drawing["missing"]
    ]
    if drawing["verdict"]:
        lines.append(_tag("p", _text(drawing["verdict"])))
    notes = [*drawing["remarks"], drawing["comparable"]]
    lines += [_tag("p", _text(note), of="rc-dim") for note in notes if note]
    title = _tag("p", _text(drawing["title"]), of="rc-title")
    return _tag("div", _style(), title, legend, *lines, *map(_hit, drawing["hits"]), of="rc")


def hit_html(hit: Hit) -> str:
    """One hit as an HTML fragment."""
    note = _tag("p", _text(comparable_text(hit.strength)), of="rc-dim")
    return _tag("div", _style(), _hit(draw_hit(hit)), note, of="rc")


def explanation_html(node: Explanation) -> str:
    """An explanation as an HTML fragment: every number, down to the counts."""
    drawing = draw_explanation(node)
    parts = _sum(drawing), _tag("ul", _node(drawing["tree"]), of="rc-tree")
    return _tag("div", _style(), *parts, of="rc")


def plan_html(plan: Plan) -> str:
    """A plan as an HTML fragment: which steps run, with which options, and which are skipped."""
    recipe = plan.recipe
    colours = colours_of([*recipe.lanes, *recipe.boosts])
    title = f"{recipe.name} v{recipe.version} · {plan.status} · tenant {one_line(plan.tenant)}"
    steps = (_step(step, colours, missed=step.name in plan.missing) for step in plan.steps)
    lines = _tag("ul", *steps, of="rc-tree")
    return _tag("div", _style(), _tag("p", _text(title), of="rc-title"), lines, of="rc")


def _step(step: PlanStep, colours: Mapping[str, int], *, missed: bool) -> Html:
    detail = _tag("small", _text(one_line(pairs(step.shows))))
    if step.skipped is not None:
        style = "rc-bad" if missed else "rc-dim"
        detail = _tag("span", _text(f"skipped: {one_line(step.skipped)}"), of=style)
    rows = [] if step.rows is None else [_text(f" · {step.rows} rows")]
    return _tag("li", _chip(step.name, colours.get(step.name, HUES)), detail, *rows)


def _style() -> Html:
    text = resources.files("memoriter.why").joinpath("card.css").read_text(encoding="utf-8")
    return Html(f"<style>{text}</style>")


# -- a hit -----------------------------------------------------------------------------------------


def _hit(drawing: JsonObject) -> Html:
    numbers = [_tag("b", _text(number)) for number in (str(drawing["rank"]), drawing["score"])]
    if drawing["relevance"]:
        numbers.append(_tag("span", _text(drawing["relevance"]), of="rc-how"))
    chips = [_chip(each["text"], each["hue"]) for each in drawing["chips"]]
    head = _tag("p", *numbers, *chips, of="rc-head")
    parts = [head, score_bar(drawing["bar"]), _sum(drawing), _marked_text(drawing)]
    style = "rc-hit rc-faint" if drawing["strength"] in _FAINT else "rc-hit"
    return _tag("article", *parts, *_attributes(drawing), _reasons(drawing), of=style)


def _chip(text: str, hue: int) -> Html:
    return _tag("span", _text(text), of=f"rc-chip rc-{hue}")


def score_bar(bar: list[Any]) -> Html:
    """A bar with a segment per contribution."""
    drawn: list[Html] = []
    for each in bar:
        x, width = (round(_WIDTH / 100 * each[key], 2) for key in ("x", "width"))
        style = "rc-less" if each["less"] else f"rc-{each['hue']}"
        title = _tag("title", _text(each["text"]))
        attributes = f'class="{style}" x="{x:g}" width="{width:g}" height="10"'
        drawn.append(Html(f"<rect {attributes}>{title}</rect>"))
    box = f'viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none"'
    return Html(f'<svg class="rc-bar" role="img" {box}>{"".join(drawn)}</svg>')


def _sum(drawing: JsonObject) -> Html:
    """The contributions written as a sum, `0.300 words + 0.120 session = 0.420`."""
    parts: list[Html] = []
    for each in drawing["sum"]:
        less = each["text"].startswith("-")
        sign = "−" if less else "+" if parts else ""
        parts.append(_text(f" {sign} " if sign else ""))
        parts.append(_chip(f"{each['text'].lstrip('-')} {each['label']}", each["hue"]))
    return _tag("p", *parts, _text(f" = {drawing['total']}"), of="rc-sum")


def _marked_text(drawing: JsonObject) -> Html:
    """The record's text with its matches marked; for a reflection its essence."""
    title = [_tag("b", _text(each["text"])) for each in drawing["title"]]
    pieces = [
        _tag("mark", _text(each["text"])) if each["mark"] else _text(each["text"])
        for each in drawing["text"]
    ]
    return _tag("p", *title, *([Html("<br>")] if title else []), *pieces, of="rc-text")


def _attributes(drawing: JsonObject) -> list[Html]:
    """What is known of the record, and the ranks of the hit through the stages."""
    lines = [" · ".join(drawing["about"]), drawing["copies"]]
    lines.append(" → ".join(f"{each['stage']} #{each['rank']}" for each in drawing["journey"]))
    lines += [f"{each['stage']}: {each['text']}" for each in drawing["moves"]]
    out = [_tag("p", _text(one_line(line)), of="rc-dim") for line in lines if line]
    if drawing["superseded_by"]:
        ids = ", ".join(map(one_line, drawing["superseded_by"]))
        out.insert(1, _tag("p", _text(f"superseded by {ids}"), of="rc-bad"))
    return out


# -- reasons ---------------------------------------------------------------------------------------


def _reasons(drawing: JsonObject) -> Html:
    """The whole explanation in a collapsed element."""
    nodes = [_node(drawing["tree"])]
    for lane in drawing["before"]:
        chip = _chip(f"{lane['label']} #{lane['rank']}, before", lane["hue"])
        nodes.append(_tag("li", chip, _tag("ul", _node(lane["tree"]))))
    if drawing["why_relevant"] is not None:
        nodes.append(_node(drawing["why_relevant"]))
    summary = _tag("summary", _text("every number"))
    return _tag("details", summary, _tag("ul", *nodes, of="rc-tree"))


def _node(node: JsonObject) -> Html:
    """A number with its text, and those below it."""
    line = [_tag("b", _text(node["value"])), _text(" ")]
    if node["matched"]:
        line += [_tag("mark", _text(node["matched"])), _text(f" {node['label']}")]
    elif node["hue"] is not None:
        line.append(_chip(node["label"], node["hue"]))
    else:
        line.append(_text(node["label"]))
    line += [_text(" "), _tag("small", _text(node["detail"]))] if node["detail"] else []
    below = [_node(part) for part in node["parts"]]
    return _tag("li", *line, *([_tag("ul", *below)] if below else []))


# -- markup ----------------------------------------------------------------------------------------


def _text(text: str) -> Html:
    # `safe` replaces control characters, which `escape` leaves in.
    return Html(escape(safe(text)))


def _tag(name: str, *inside: Html, of: str = "") -> Html:
    klass = f' class="{of}"' if of else ""
    return Html(f"<{name}{klass}>{''.join(inside)}</{name}>")
