"""An answer as a static page: no script, nothing from elsewhere, every text escaped.

It says what the JSON and the terminal say, from the same explanations: the bars add up to the
printed scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Final, NewType

from memoriter.core.explanation import Explanation, contributions
from memoriter.core.times import iso
from memoriter.text.safe import one_line, safe
from memoriter.why.figures import beside, boosts_of, figure, moves_of, pairs, said, scale_of

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan, PlanStep
    from memoriter.why.result import Hit, LaneScore, Result

Html = NewType("Html", str)
"""Escaped, ready to stand on a page."""
Colours = Mapping[str, int]
"""The number of the colour of each label."""
_SHOWN: Final = 1200
"""Characters of a text that a card shows at most."""
_HUES: Final = 8
_WIDTH: Final = 1000
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(result: Result) -> str:
    """A whole page, to be saved and opened."""
    title = _tag("title", _text(_summary(result)))
    policy = Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">')
    head = _tag("head", Html('<meta charset="utf-8">'), policy, title)
    body = _tag("body", Html(answer(result)), of="rc-page")
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def answer(result: Result) -> str:
    """All hits as a part of a page, as notebooks show it."""
    recipe = result.plan.recipe
    colours = _colours([*recipe.lanes, *recipe.boosts])
    labels = [*result.used, *result.plan.boosting]
    labels += ["rerank"] if result.plan.runs("rerank") else []
    legend = _tag("p", *(_key(label, colours) for label in labels), of="rc-legend")
    skipped = [
        _tag("p", _text(f"{label} did not run: {reason}"), of="rc-bad")
        for label, reason in result.skipped.items()
    ]
    best: dict[str, float] = {}
    for hit in result:
        scale = scale_of(hit.explanation)
        best[scale] = max(_reach(hit.explanation), best.get(scale, 0.0))
    cards = [_hit(hit, best[scale_of(hit.explanation)], colours) for hit in result]
    title = _tag("p", _text(_summary(result)), of="rc-title")
    nothing = [] if cards else [_tag("p", _text("nothing found"))]
    return _tag("div", _style(), title, legend, *skipped, *nothing, *cards, of="rc")


def card(hit: Hit) -> str:
    """One hit as a part of a page."""
    labels = [*hit.lanes, *(label for label, _ in contributions(hit.explanation))]
    return _tag("div", _style(), _hit(hit, _reach(hit.explanation), _colours(labels)), of="rc")


def tree(node: Explanation) -> str:
    """An explanation as a part of a page: every number, down to the counts."""
    colours = _colours(label for label, _ in contributions(node))
    parts = _sum(node, colours), _tag("ul", _node(node, {}, colours), of="rc-tree")
    return _tag("div", _style(), *parts, of="rc")


def steps(plan: Plan) -> str:
    """A plan as a part of a page: what runs with which numbers, and what does not run."""
    recipe = plan.recipe
    colours = _colours([*recipe.lanes, *recipe.boosts])
    title = f"{recipe.name} v{recipe.version} · {plan.status} · tenant {one_line(plan.tenant)}"
    told = (_step(step, colours, missed=step.name in plan.missing) for step in plan.steps)
    lines = _tag("ul", *told, of="rc-tree")
    return _tag("div", _style(), _tag("p", _text(title), of="rc-title"), lines, of="rc")


def _step(step: PlanStep, colours: Colours, *, missed: bool) -> Html:
    told = _tag("small", _text(one_line(pairs(step.shows))))
    if step.skipped is not None:
        how = "rc-bad" if missed else "rc-dim"
        told = _tag("span", _text(f"skipped: {one_line(step.skipped)}"), of=how)
    rows = [] if step.rows is None else [_text(f" · {step.rows} rows")]
    return _tag("li", _chip(step.name, step.name, colours), told, *rows)


def _summary(result: Result) -> str:
    count = "1 memory" if len(result) == 1 else f"{len(result)} memories"
    if result.total > len(result):
        count += f" of {result.total} candidates"
    recipe = result.plan.recipe
    return f"{count} · {recipe.name} v{recipe.version} · {result.status}"


def _colours(labels: Iterable[str]) -> Colours:
    told = [label for label in dict.fromkeys(labels) if label != "rerank"]
    return {**{label: at % _HUES for at, label in enumerate(told)}, "rerank": _HUES}


def _style() -> Html:
    text = resources.files("memoriter.why").joinpath("card.css").read_text(encoding="utf-8")
    return Html(f"<style>{text}</style>")


# -- a hit -----------------------------------------------------------------------------------------


def _hit(hit: Hit, best: float, colours: Colours) -> Html:
    numbers = [_tag("b", _text(told)) for told in (str(hit.rank), figure(hit.score))]
    head = _tag("p", *numbers, *_chips(hit, colours), of="rc-head")
    parts = [head, _bar(hit.explanation, best, colours), _sum(hit.explanation, colours)]
    parts += [_words(hit), _about(hit), *_way(hit)]
    return _tag("article", *parts, _reasons(hit, colours), of="rc-hit")


def _chips(hit: Hit, colours: Colours) -> list[Html]:
    """`words #1 7.21` for each lane, `session +0.120` for each boost."""
    told = [(label, f"#{lane.rank} {figure(lane.score)}") for label, lane in hit.lanes.items()]
    told += boosts_of(hit.explanation, hit.lanes)
    return [_chip(label, f"{label} {what}", colours) for label, what in told]


def _chip(label: str, text: str, colours: Colours) -> Html:
    return _tag("span", _text(text), of=f"rc-chip rc-{colours.get(label, _HUES)}")


def _key(label: str, colours: Colours) -> Html:
    return _chip(label, label, colours)


def _bar(root: Explanation, best: float, colours: Colours) -> Html:
    """A stretch for each contribution; what takes away covers the end of them again."""
    drawn: list[Html] = []
    at = 0.0
    unit = _WIDTH / best if best > 0 else 0.0
    for label, value in sorted(contributions(root), key=lambda each: each[1] < 0):
        at += min(value, 0.0)
        x, width = (round(unit * share, 2) for share in (at, abs(value)))
        at += max(value, 0.0)
        title = _tag("title", _text(f"{label} {figure(value)}"))
        of = "rc-less" if value < 0 else f"rc-{colours.get(label, _HUES)}"
        where = f'class="{of}" x="{x:g}" width="{width:g}" height="10"'
        drawn.append(Html(f"<rect {where}>{title}</rect>"))
    how = f'viewBox="0 0 {_WIDTH} 10" preserveAspectRatio="none"'
    return Html(f'<svg class="rc-bar" role="img" {how}>{"".join(drawn)}</svg>')


def _reach(root: Explanation) -> float:
    """How far the bar of a score reaches."""
    return sum(value for _, value in contributions(root) if value > 0)


def _sum(root: Explanation, colours: Colours) -> Html:
    """The contributions as a sum that a reader can check."""
    parts: list[Html] = []
    for label, value in contributions(root):
        sign = "−" if value < 0 else "+" if parts else ""
        parts.append(_text(f" {sign} " if sign else ""))
        parts.append(_chip(label, f"{figure(abs(value))} {label}", colours))
    return _tag("p", *parts, _text(f" = {figure(root.value)}"), of="rc-sum")


def _words(hit: Hit) -> Html:
    """The text with its matches marked; of a reflection what it sums up."""
    record = hit.record
    if record.kind == "reflection":
        return _tag("p", _text(record.essence[:_SHOWN]), of="rc-text")
    text = safe(record.text)
    out: list[Html] = []
    at = 0
    for begin, end in hit.spans:
        if end > _SHOWN:
            break
        out += [_text(text[at:begin]), _tag("mark", _text(text[begin:end]))]
        at = end
    rest = text[at:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    title = [_tag("b", _text(one_line(record.title))), Html("<br>")] if record.title else []
    return _tag("p", *title, *out, _text(rest), of="rc-text")


def _about(hit: Hit) -> Html:
    record = hit.record
    told = [record.id, iso(record.created)[:10], record.kind, *(f"#{tag}" for tag in record.tags)]
    if record.trust != "learned":
        told.append({"external": "external, untrusted"}.get(record.trust, record.trust))
    line = _tag("p", _text(" · ".join(map(one_line, told))), of="rc-dim")
    if hit.superseded_by:
        ids = ", ".join(map(one_line, hit.superseded_by))
        line = Html(line + _tag("p", _text(f"superseded by {ids}"), of="rc-bad"))
    return line


def _way(hit: Hit) -> list[Html]:
    """Where the hit stood, stage by stage, and what moved it."""
    journey = " → ".join(f"{one_line(stage)} #{rank}" for stage, rank in hit.journey)
    lines = [journey, *(f"{stage}: {told}" for stage, told in moves_of(hit.moves, hit.rank))]
    return [_tag("p", _text(line), of="rc-dim") for line in lines]


# -- reasons ---------------------------------------------------------------------------------------


def _reasons(hit: Hit, colours: Colours) -> Html:
    """Every number down to the counts, folded away."""
    nodes = [_node(hit.explanation, hit.lanes, colours)]
    for label in beside(hit):
        lane = hit.lanes[label]
        inner = _tag("ul", _node(lane.why, hit.lanes, colours))
        nodes.append(_tag("li", _chip(label, f"{label} #{lane.rank}, before", colours), inner))
    summary = _tag("summary", _text("every number"))
    return _tag("details", summary, _tag("ul", *nodes, of="rc-tree"))


def _node(node: Explanation, lanes: Mapping[str, LaneScore], colours: Colours) -> Html:
    """A number and what it is made of; under the share of a lane stands the lane's own account."""
    told = said(node)
    line = [_tag("b", _text(figure(node.value))), _text(" ")]
    if told.matched:
        line += [_tag("mark", _text(told.matched)), _text(f" {told.label}")]
    elif node.label in colours:
        line.append(_chip(node.label, told.label, colours))
    else:
        line.append(_text(told.label))
    line += [_text(" "), _tag("small", _text(told.detail))] if told.detail else []
    below = [_node(part, lanes, colours) for part in node.parts]
    if node.op == "leaf" and node.label in lanes:
        below.append(_node(lanes[node.label].why, lanes, colours))
    return _tag("li", *line, *([_tag("ul", *below)] if below else []))


# -- markup ----------------------------------------------------------------------------------------


def _text(text: str) -> Html:
    return Html(escape(safe(text)))


def _tag(name: str, *inside: Html, of: str = "") -> Html:
    klass = f' class="{of}"' if of else ""
    return Html(f"<{name}{klass}>{''.join(inside)}</{name}>")
