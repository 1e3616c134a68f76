"""What a drawing of an answer shows, as plain data: every length, colour, number and word.

Here it is decided what is drawn; who draws decides nothing. `drawing.js` beside it makes elements
of it, for the page in the browser, the card of MCP, the saved file and the notebook (`why.card`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from memoriter.core.explanation import Explanation, contributions
from memoriter.core.names import JsonObject
from memoriter.core.times import iso
from memoriter.text.figures import figure, short
from memoriter.text.safe import one_line, safe
from memoriter.why.draw_plan import HUES, Colours, colours_of, draw_funnel, part_about
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
from memoriter.why.strengths import (
    NO_EVIDENCE,
    NOTHING,
    comparable_text,
    relevance_text,
    strength_text,
)

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan
    from memoriter.why.hit import Hit
    from memoriter.why.result import Result

SHOWN: Final = 1200
"""Characters of a record's text that are shown at most."""
_BEFORE: Final = 200
"""Of a longer text, so many characters before its first match."""
_STAGES: Final = {
    "boosted": "the score so far, and what a boost makes of it",
    "again": "the score of the second pass",
    "rerank": "the score that the reranker gave, with that of the search",
}
"""What each stage of a score is that no part of the recipe has words for."""
_WHOLE: Final = 100.0
"""The length of the longest bar."""


# -- an answer -------------------------------------------------------------------------------------


def draw_answer(result: Result) -> JsonObject:
    """A whole answer."""
    recipe = result.plan.recipe
    colours = colours_of([*recipe.lanes, *recipe.boosts])
    # Bars are drawn relative to the best hit on the same scale: scores that a second pass gave
    # cannot be compared with those of the first.
    best: dict[str, float] = {}
    for hit in result:
        scale = scale_of(hit.explanation)
        best[scale] = max(reach_of(hit.explanation), best.get(scale, 0.0))
    hits = [draw_hit(hit, best[scale_of(hit.explanation)], colours) for hit in result]
    return {
        "draws": "answer",
        "title": summary_of(result),
        "recipe": f"{recipe.name} v{recipe.version}",
        "status": result.status,
        "strength": result.strength,
        "verdict": _verdict(result),
        "remarks": list(map(one_line, result.remarks)),
        "apart": NO_EVIDENCE[0].upper() + NO_EVIDENCE[1:],
        "comparable": comparable_text(result.strength) if hits else "",
        "legend": [_legend(result.plan, label, colours) for label in _labels(result)],
        "missing": [
            {"label": label, "reason": one_line(reason)}
            for label, reason in result.plan.missing.items()
        ],
        "funnel": draw_funnel(result.plan, colours, result.timings),
        "hits": hits,
    }


def summary_of(result: Result) -> str:
    """The number of hits, their strength, the recipe and the status, in one line."""
    count = "1 memory" if len(result) == 1 else f"{len(result)} memories"
    if result.total > len(result):
        count += f" of {result.total} candidates"
    recipe = result.plan.recipe
    parts = [] if result.strength is None else [strength_text(result.strength)]
    return " · ".join([count, *parts, f"{recipe.name} v{recipe.version}", result.status])


def _verdict(result: Result) -> str:
    """What an answer without anything relevant says; else empty."""
    if result.strength != "none" and len(result):
        return ""
    return "nothing found" if result.strength is None else f"{NOTHING}."


def _labels(result: Result) -> list[str]:
    labels = [*result.used, *result.plan.boosting]
    return [*labels, "rerank"] if result.plan.runs("rerank") else labels


def _legend(plan: Plan, label: str, colours: Colours) -> JsonObject:
    return {"label": label, "hue": colours.get(label, HUES), "about": part_about(plan, label)}


# -- a hit -----------------------------------------------------------------------------------------


def draw_hit(hit: Hit, best: float | None = None, colours: Colours | None = None) -> JsonObject:
    """One hit; its bar is drawn relative to `best`, by default its own reach."""
    root = hit.explanation
    best = reach_of(root) if best is None else best
    if colours is None:
        colours = colours_of([*hit.lanes, *(label for label, _ in contributions(root))])
    record = hit.record
    relevance = relevance_lines(hit)
    return {
        "id": record.id,
        "rank": hit.rank,
        "score": figure(hit.score),
        "strength": hit.strength,
        "relevance": relevance_text(hit.relevance, hit.strength),
        "chips": _chips(hit, colours),
        "bar": draw_bar(root, best, colours),
        **draw_sum(root, colours),
        **_texts(hit),
        "about": [*_attributes(hit)],
        "copies": copies_line(hit.copies),
        "superseded_by": list(hit.superseded_by),
        "journey": _journey(hit, colours),
        "moves": [{"stage": stage, "text": text} for stage, text in moves_of(hit)],
        "tree": draw_node(score_lines(hit), colours),
        "before": [
            {
                "label": label,
                "rank": hit.lanes[label].rank,
                "hue": colours.get(label, HUES),
                "tree": draw_node(lane_lines(hit, label), colours),
            }
            for label in lanes_outside_score(hit)
        ],
        "why_relevant": None if relevance is None else draw_node(relevance, colours),
    }


def draw_single(hit: Hit) -> JsonObject:
    """A hit by itself, without the answer around it."""
    return {"draws": "hit", **draw_hit(hit), "comparable": comparable_text(hit.strength)}


def _journey(hit: Hit, colours: Colours) -> list[JsonObject]:
    """Its rank in each lane and after each stage; `depth` is 0 for rank 1, and 1 for its worst."""
    worst = max(2, *(rank for _, rank in hit.journey))
    return [
        {
            "stage": stage,
            "rank": rank,
            "depth": round((rank - 1) / (worst - 1), 3),
            "hue": colours.get(stage, HUES),
        }
        for stage, rank in hit.journey
    ]


def _chips(hit: Hit, colours: Colours) -> list[JsonObject]:
    """`words #1 7.21` for each lane, `session +0.120` for each boost."""
    chips = [(label, f"#{lane.rank} {figure(lane.score)}") for label, lane in hit.lanes.items()]
    chips += boosts_of(hit.explanation, hit.lanes)
    return [
        {"label": label, "text": f"{label} {effect}", "hue": colours.get(label, HUES)}
        for label, effect in chips
    ]


def draw_bar(root: Explanation, best: float, colours: Colours) -> list[JsonObject]:
    """A bar with a segment per contribution: where it begins, and how long it is.

    Negative contributions come last and are drawn from the right end leftwards over the others, so
    that the uncovered part has the length of the score.
    """
    drawn: list[JsonObject] = []
    at = 0.0
    unit = _WHOLE / best if best > 0 else 0.0
    for label, value in sorted(contributions(root), key=lambda each: each[1] < 0):
        at += min(value, 0.0)
        x, width = (round(unit * share, 3) for share in (at, abs(value)))
        at += max(value, 0.0)
        hue = colours.get(label, HUES)
        text = f"{label} {figure(value)}"
        drawn.append({"text": text, "hue": hue, "x": x, "width": width, "less": value < 0})
    return drawn


def reach_of(root: Explanation) -> float:
    """The length of a bar before negative contributions: the sum of the positive ones."""
    return sum(value for _, value in contributions(root) if value > 0)


def draw_sum(root: Explanation, colours: Colours) -> JsonObject:
    """The contributions written as a sum, `0.300 words + 0.120 session = 0.420`."""
    parts = contributions(root)
    total = figure(root.value)
    texts = adding_up([value for _, value in parts], total)
    return {
        "total": total,
        "sum": [
            {"label": label, "text": text, "hue": colours.get(label, HUES)}
            for (label, _), text in zip(parts, texts, strict=True)
        ],
    }


def adding_up(values: Sequence[float], total: str) -> list[str]:
    """The values as text, with the decimals of the total, rounded so that they add up to it.

    >>> adding_up([0.2410193, 0.2985798, 0.2662225], "0.806")
    ['0.241', '0.299', '0.266']
    >>> adding_up([0.4, 0.4, 0.4], "1.2"), adding_up([0.25, -0.05], "0.2")
    (['0.4', '0.4', '0.4'], ['0.3', '-0.1'])
    """
    whole = Decimal(total)
    step = Decimal(1).scaleb(min(int(whole.as_tuple().exponent), 0))
    exact = [Decimal(repr(value)) for value in values]
    down = [value.quantize(step, ROUND_FLOOR) for value in exact]
    # By the largest remainder: each text is less than a step away from its value.
    missing = int((whole - sum(down, Decimal())) / step)
    order = sorted(range(len(down)), key=lambda at: (down[at] - exact[at], at))
    for at in order[: max(missing, 0)]:
        down[at] += step
    return [f"{value:f}" for value in down]


def _texts(hit: Hit) -> JsonObject:
    """Title and text in pieces, of which those that matched are marked."""
    record = hit.record
    if record.kind == "reflection":
        text, spans = safe(record.essence), ()
    else:
        text = safe(record.text)
        spans = hit.spans_in(text)  # of the text as shown, which may be shorter
    title = one_line(record.title or "")
    return {"title": _pieces(title, hit.spans_in(title)), "text": _pieces(text, spans)}


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[JsonObject]:
    """The text in pieces; of a long one, the part that begins shortly before the first match."""
    at = _begin(text, spans)
    last = at + SHOWN
    out: list[JsonObject] = [{"text": "…" if at else "", "mark": False}]
    for begin, end in spans:
        if end > last:
            break
        out += [{"text": text[at:begin], "mark": False}, {"text": text[begin:end], "mark": True}]
        at = end
    out.append({"text": text[at:last] + ("…" if len(text) > last else ""), "mark": False})
    return [piece for piece in out if piece["text"]]


def _begin(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """Where the part of a long text that is shown begins."""
    if not spans or spans[0][1] <= SHOWN:
        return 0
    near = max(spans[0][0] - _BEFORE, 0)
    space = text.find(" ", near, spans[0][0])
    return near if space < 0 else space + 1


def _attributes(hit: Hit) -> Iterator[str]:
    record = hit.record
    yield from map(one_line, (record.id, iso(record.created)[:10], record.kind))
    yield from (one_line(f"#{tag}") for tag in record.tags)
    if record.trust != "learned":
        yield {"external": "external, untrusted"}.get(record.trust, record.trust)


# -- the tree of a number --------------------------------------------------------------------------


def draw_explanation(node: Explanation) -> JsonObject:
    """An explanation without its hit."""
    colours = colours_of(label for label, _ in contributions(node))
    tree = draw_node(plain_lines(node), colours)
    return {"draws": "explanation", **draw_sum(node, colours), "tree": tree}


def draw_node(line: NodeLine, colours: Colours, shown: str | None = None) -> JsonObject:
    """A number with its text, what it is made from, and plain words for each fact.

    The parts of a sum are rounded so that they add up as they are shown.
    """
    node, text, below, part = line
    value = figure(node.value) if shown is None else shown
    parts: Sequence[str | None] = [None] * len(below)
    if node.op == "sum" and len(below) == len(node.parts):
        parts = adding_up([each.node.value for each in below], value)
    out: JsonObject = {
        "value": value,
        "exact": repr(node.value),
        "op": node.op,
        "label": text.label,
        "matched": text.matched,
        "detail": text.detail,
        "hue": colours.get(node.label),
        "parts": [
            draw_node(each, colours, shown) for each, shown in zip(below, parts, strict=True)
        ],
    }
    if part is not None:
        facts = _facts(line)
        out |= {"facts": facts, "picture": _readable(part.picture(node))}
        if not facts and (not below or node.op != "leaf"):
            # A number without facts: its own words, or what its maker does.
            out["about"] = part.fact_words.get(node.label, part.about)
    elif node.op != "leaf":
        out["about"] = _STAGES.get(node.label, "")
    return out


def _facts(line: NodeLine) -> list[JsonObject]:
    """The facts of a number that have plain words, each with its value."""
    if line.part is None:
        return []
    words = line.part.fact_words
    return [
        {"name": name, "text": one_line(short(value)), "about": words[name]}
        for name, value in line.node.facts.items()
        if name in words and not _structured(value)
    ]


def _readable(value: object) -> Any:
    """The value with every text in it safe to show."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _readable(each) for key, each in items}
    if isinstance(value, list):
        return [_readable(each) for each in cast("list[object]", value)]
    return value


def _structured(value: object) -> bool:
    """Whether a fact is a list of objects, which a picture shows."""
    first = cast("list[object]", value)[:1] if isinstance(value, list) else []
    return bool(first) and isinstance(first[0], dict)
